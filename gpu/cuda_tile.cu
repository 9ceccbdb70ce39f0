// The CUDA backend's tile: its arrays on the device and the copies there and back. Always holds:
// every copy is enqueued on the stream given and none waits.
#include "gpu/cuda_tile.cuh"

#include <stdexcept>
#include <string>

namespace somatlas::gpu {

std::size_t CudaTile::device_bytes(TileCapacity capacity) {
  return ((capacity.rows + 1) + capacity.descriptors + 3 * capacity.rows + 1) *
             sizeof(std::uint32_t) +
         capacity.rows;
}

CudaTile::CudaTile(TileCapacity capacity, MemoryAccount& account)
    : Tile(capacity, pinned_block(Tile::bytes(capacity))),
      offsets_on_device_(account, capacity.rows + 1, "a tile's offsets"),
      descriptors_on_device_(account, capacity.descriptors, "a tile's descriptors"),
      use_on_device_(account, capacity.rows, "a tile's flags"),
      bmu_on_device_(account, capacity.rows, "a tile's BMUs"),
      score_on_device_(account, capacity.rows, "a tile's scores"),
      second_on_device_(account, capacity.rows, "a tile's second BMUs"),
      fault_on_device_(account, 1, "a tile's fault word"),
      fault_(pinned_block(sizeof(std::uint32_t))) {}

TileView CudaTile::view() const {
  return {offsets_on_device_.data(), descriptors_on_device_.data(),     use_on_device_.data(),
          bmu_on_device_.data(),     score_on_device_.data(),           second_on_device_.data(),
          fault_on_device_.data(),   static_cast<std::uint32_t>(rows())};
}

void CudaTile::upload(StreamView stream) {
  fault_on_device_.fill_bytes(0, stream);
  copy_to_device(offsets_on_device_.data(), offsets().data(), offsets().size(), stream);
  copy_to_device(descriptors_on_device_.data(), descriptors().data(), descriptors().size(), stream);
  copy_to_device(use_on_device_.data(), use().data(), use().size(), stream);
  copy_to_device(bmu_on_device_.data(), bmu().data(), bmu().size(), stream);
}

void CudaTile::download(bool places, StreamView stream) {
  if (places) {
    copy_to_host(bmu().data(), bmu_on_device_.data(), bmu().size(), stream);
    copy_to_host(score().data(), score_on_device_.data(), score().size(), stream);
    copy_to_host(second().data(), second_on_device_.data(), second().size(), stream);
  }
  copy_to_host(reinterpret_cast<std::uint32_t*>(fault_.get()), fault_on_device_.data(), 1, stream);
}

void CudaTile::check_fault() const {
  const std::uint32_t fault = *reinterpret_cast<const std::uint32_t*>(fault_.get());
  if ((fault & tile_fault::descriptor_out_of_range) != 0) {
    throw std::out_of_range("a row of the tile names a descriptor that the map does not have");
  }
  if ((fault & tile_fault::row_too_long) != 0) {
    throw std::out_of_range("a row of the tile has more descriptors than a score can hold");
  }
  if ((fault & tile_fault::bmu_out_of_range) != 0) {
    throw std::out_of_range("a row of the tile names a BMU that is not on the map");
  }
}

}  // namespace somatlas::gpu
