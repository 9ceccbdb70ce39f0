// The CUDA backend's cache: rows on the device alone, and on the host what they are used for.
// Always holds: one block of device memory, counted by the backend's account.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "gpu/cuda_buffer.cuh"
#include "gpu/cuda_tile.cuh"
#include "gpu/row_cache.h"

namespace somatlas::gpu {

class CudaRowCache final : public RowCache {
 public:
  /// Throws std::runtime_error when the account's cap does not hold it.
  CudaRowCache(std::span<const TileCapacity> slots, MemoryAccount& account)
      : CudaRowCache(slots, DeviceBuffer<std::byte>(account, bytes(slots), "the tiles to keep")) {}

  /// These throw std::invalid_argument where the tile is no CudaTile.
  void keep(std::size_t slot, Tile& tile) override;
  void lend(std::size_t slot, Tile& tile) override;

 private:
  CudaRowCache(std::span<const TileCapacity> slots, DeviceBuffer<std::byte> block)
      : RowCache(slots, block.data()), block_(std::move(block)), use_(slots.size()) {}

  DeviceBuffer<std::byte> block_;
  std::vector<std::vector<std::uint8_t>> use_;  // by slot
};

}  // namespace somatlas::gpu
