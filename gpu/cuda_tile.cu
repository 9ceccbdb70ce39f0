// The CUDA backend's tile: its arrays on the device and the copies there and back. Always holds:
// every copy is enqueued on the stream given and none waits.
#include "gpu/cuda_tile.cuh"

#include <stdexcept>
#include <string>

namespace somatlas::gpu {

std::size_t CudaTile::device_bytes(TileCapacity capacity) {
  return RowArrays::bytes(capacity) + (2 * capacity.rows + 1) * sizeof(std::uint32_t);
}

CudaTile::CudaTile(TileCapacity capacity, MemoryAccount& account)
    : Tile(capacity, pinned_block(Tile::bytes(capacity))),
      own_on_device_(account, RowArrays::bytes(capacity), "a tile's rows"),
      on_device_(RowArrays::in(own_on_device_.data(), capacity)),
      score_on_device_(account, capacity.rows, "a tile's scores"),
      second_on_device_(account, capacity.rows, "a tile's second BMUs"),
      fault_on_device_(account, 1, "a tile's fault word"),
      fault_(pinned_block(sizeof(std::uint32_t))) {}

void CudaTile::clear() {
  Tile::clear();
  on_device_ = RowArrays::in(own_on_device_.data(), capacity());
  sent_rows_ = none;
  in_slot_ = false;
}

void CudaTile::send_to(const RowArrays& slot) {
  on_device_ = slot;
  sent_rows_ = none;
}

void CudaTile::use_those_in(const RowArrays& slot, std::size_t descriptors) {
  on_device_ = slot;
  sent_rows_ = rows();
  in_slot_ = true;
  slot_descriptors_ = descriptors;
}

TileView CudaTile::view() const {
  return {on_device_.offsets,      on_device_.descriptors,
          on_device_.use,          on_device_.bmu,
          score_on_device_.data(), second_on_device_.data(),
          fault_on_device_.data(), static_cast<std::uint32_t>(rows())};
}

void CudaTile::upload(StreamView stream) {
  fault_on_device_.fill_bytes(0, stream);
  if (in_slot_) {
    return;
  }
  if (sent_rows_ != rows()) {
    copy_to_device(on_device_.offsets, offsets().data(), offsets().size(), stream);
    copy_to_device(on_device_.descriptors, descriptors().data(), descriptors().size(), stream);
    copy_to_device(on_device_.use, use().data(), rows(), stream);
    sent_rows_ = rows();
  }
  copy_to_device(on_device_.bmu, bmu().data(), rows(), stream);
}

void CudaTile::download(bool places, StreamView stream) {
  if (places) {
    copy_to_host(bmu().data(), on_device_.bmu, rows(), stream);
    copy_to_host(score().data(), score_on_device_.data(), rows(), stream);
    if (seconds() != 0) {
      copy_to_host(second().data(), second_on_device_.data(), rows(), stream);
    }
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
