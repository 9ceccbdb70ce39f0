// The CPU's cache: the rows lie in host memory as in a tile, and tiles point at them. Always holds:
// memory is taken as slots are filled.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "gpu/large_array.h"
#include "gpu/row_cache.h"

namespace somatlas::gpu {

class CpuRowCache final : public RowCache {
 public:
  explicit CpuRowCache(std::span<const TileCapacity> slots)
      : CpuRowCache(slots, LargeArray<std::byte>(bytes(slots))) {}

  void keep(std::size_t slot, Tile& tile) override;
  void lend(std::size_t slot, Tile& tile) override;

 private:
  CpuRowCache(std::span<const TileCapacity> slots, LargeArray<std::byte> block)
      : RowCache(slots, block.data()), block_(std::move(block)) {}

  LargeArray<std::byte> block_;
};

}  // namespace somatlas::gpu
