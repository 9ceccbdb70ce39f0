#include "gpu/cuda_row_cache.cuh"

#include <stdexcept>

namespace somatlas::gpu {
namespace {

[[nodiscard]] CudaTile& cuda_tile(Tile& tile) {
  auto* const mine = dynamic_cast<CudaTile*>(&tile);
  if (mine == nullptr) {
    throw std::invalid_argument("a tile that no GPU made was given to a GPU's cache");
  }
  return *mine;
}

}  // namespace

// The rows go straight to the slot when the tile is submitted; the host still has them.
void CudaRowCache::keep(std::size_t slot, Tile& tile) {
  CudaTile& mine = cuda_tile(tile);
  const Slot& entry = enter(slot, mine);
  use_[slot].assign(mine.use().begin(), mine.use().end());
  mine.show(mine.own(), entry.rows, entry.seconds);
  mine.send_to(entry.arrays);
}

void CudaRowCache::lend(std::size_t slot, Tile& tile) {
  CudaTile& mine = cuda_tile(tile);
  const Slot& entry = this->slot(slot);
  mine.clear();
  mine.show({.bmu = mine.own().bmu, .use = use_[slot].data()}, entry.rows, entry.seconds);
  mine.use_those_in(entry.arrays, entry.descriptors);
}

}  // namespace somatlas::gpu
