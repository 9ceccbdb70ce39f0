#include "gpu/host_row_cache.h"

#include <algorithm>

namespace somatlas::gpu {

void HostRowCache::keep(std::size_t slot, Tile& tile) {
  const Slot& entry = enter(slot, tile);
  const RowArrays& to = entry.arrays;
  const RowArrays& from = tile.own();
  std::copy_n(from.offsets, entry.rows + 1, to.offsets);
  std::copy_n(from.descriptors, entry.descriptors, to.descriptors);
  std::copy_n(from.bmu, entry.rows, to.bmu);
  std::copy_n(from.use, entry.rows, to.use);
  lend(slot, tile);
}

void HostRowCache::lend(std::size_t slot, Tile& tile) {
  const Slot& entry = this->slot(slot);
  tile.clear();
  tile.show(entry.arrays, entry.rows, entry.seconds);
}

}  // namespace somatlas::gpu
