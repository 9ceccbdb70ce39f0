// Rows of many tiles that stay between passes, on the device or in host memory, each tile's in a
// slot, so that they are not read again. Always holds: a slot's rows come with the BMUs that were
// last found for them, which is where the next work on them begins; results are those of rows sent
// anew.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gpu/tile.h"

namespace somatlas::gpu {

/// A backend makes it, and it must not outlive that backend. Calls for different slots may come
/// from several threads at a time.
class RowCache {
 public:
  /// Bytes that slots of these capacities take.
  [[nodiscard]] static std::size_t bytes(std::span<const TileCapacity> slots);

  virtual ~RowCache() = default;
  RowCache(const RowCache&) = delete;
  RowCache& operator=(const RowCache&) = delete;

  /// Takes the rows of a filled tile into a slot, whatever it held; from now on until the tile's
  /// clear() its rows are the slot's. The slot holds them once the tile's next work has completed.
  /// Throws std::length_error where they are more than the slot's capacity.
  virtual void keep(std::size_t slot, Tile& tile) = 0;
  /// Shows a slot's rows in the tile, until its clear(). Until the tile's next search has completed
  /// its BMUs are those of the rows' last one, or, where the slot is on a GPU, not known to the
  /// host.
  virtual void lend(std::size_t slot, Tile& tile) = 0;

 protected:
  /// What a slot holds, and where.
  struct Slot {
    TileCapacity capacity;
    RowArrays arrays;
    std::size_t rows = 0;
    std::size_t descriptors = 0;
    std::size_t seconds = 0;
  };

  /// Lays the slots out in a block of bytes(slots).
  RowCache(std::span<const TileCapacity> slots, std::byte* block);
  /// Notes what the tile's rows are; throws as keep() does.
  Slot& enter(std::size_t slot, const Tile& tile);
  [[nodiscard]] const Slot& slot(std::size_t number) const { return slots_[number]; }

 private:
  std::vector<Slot> slots_;
};

}  // namespace somatlas::gpu
