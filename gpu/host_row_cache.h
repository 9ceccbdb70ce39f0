// The cache in host memory: the rows lie there as in a tile, and tiles point at them. A GPU reads
// them from there, and leaves what it found there.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "gpu/row_cache.h"

namespace somatlas::gpu {

class HostRowCache final : public RowCache {
 public:
  /// block: at least bytes(slots); pinned where a GPU's tiles are to show what it holds.
  HostRowCache(std::span<const TileCapacity> slots, HostBlock block)
      : RowCache(slots, block.get()), block_(std::move(block)) {}

  void keep(std::size_t slot, Tile& tile) override;
  void lend(std::size_t slot, Tile& tile) override;

 private:
  HostBlock block_;
};

}  // namespace somatlas::gpu
