// Statistics on the device: hits of every neuron, and for every descriptor how many of those hits
// have it. Always holds: they are sums of integers, so the order of tiles, rows and threads does
// not matter; a descriptor that no row had is known without reading its counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/backend.h"
#include "gpu/cuda_buffer.cuh"
#include "gpu/cuda_stream.cuh"
#include "gpu/cuda_tile.cuh"

namespace somatlas::gpu {

/// Dense counts, [descriptors][neurons] row-major.
struct DenseCounts {
  const std::uint32_t* counts;
  std::uint32_t side;

  /// One warp: writes row y of a descriptor's plane, side values, to line. True where any is not 0.
  [[nodiscard]] __device__ bool load_row(std::uint32_t descriptor, std::uint32_t y,
                                         std::uint64_t* line) const {
    const std::uint32_t* row = counts + (std::size_t{descriptor} * side + y) * side;
    std::uint32_t any = 0;
    for (std::uint32_t x = threadIdx.x % 32; x < side; x += 32) {
      const std::uint32_t count = row[x];
      line[x] = count;
      any |= count;
    }
    return __any_sync(0xFFFF'FFFFU, any != 0);
  }
};

class Statistics {
 public:
  /// Bytes on the device.
  [[nodiscard]] static std::size_t bytes(MapShape shape);
  /// All zero.
  Statistics(MapShape shape, MemoryAccount& account, StreamView stream);

  void clear(StreamView stream);
  /// Enqueues: rows that train enter the hits and counts at their BMUs. Rows without a BMU do not;
  /// rows that name a neuron or a descriptor that does not exist are marked as faults.
  void accumulate(TileView tile, StreamView stream);

  [[nodiscard]] const std::uint32_t* hits() const { return hits_.data(); }
  [[nodiscard]] DenseCounts counts() const { return {counts_.data(), shape_.side}; }
  /// The descriptors that some row had, ascending. Synchronous.
  [[nodiscard]] std::vector<DescriptorId> counted(StreamView stream) const;
  /// Hits on the host, M values. Synchronous.
  [[nodiscard]] std::vector<std::uint32_t> read_hits(StreamView stream) const;

 private:
  MapShape shape_;
  DeviceBuffer<std::uint32_t> hits_;
  DeviceBuffer<std::uint32_t> present_;
  DeviceBuffer<std::uint32_t> counts_;
};

}  // namespace somatlas::gpu
