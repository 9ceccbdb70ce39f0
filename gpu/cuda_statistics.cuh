// Statistics on the device: hits of every neuron, and for every descriptor how many of those hits
// have it, either as dense counts or as a sorted list of (descriptor, neuron) pairs, whichever is
// smaller. Always holds: they are sums of integers, so neither the form nor the order of tiles,
// rows and threads matters; a descriptor that no row had is known without reading its counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
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

/// The first position in [begin, end) of sorted keys whose key is not below wanted.
[[nodiscard]] __device__ inline std::uint64_t lower_bound(const std::uint64_t* keys,
                                                          std::uint64_t begin, std::uint64_t end,
                                                          std::uint64_t wanted) {
  while (begin < end) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    if (keys[middle] < wanted) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// One key descriptor * M + neuron for every descriptor of every row, sorted; those of a descriptor
/// are at [starts[descriptor], starts[descriptor + 1]).
struct PairCounts {
  const std::uint64_t* keys;
  const std::uint64_t* starts;
  std::uint32_t side;

  /// As DenseCounts::load_row.
  [[nodiscard]] __device__ bool load_row(std::uint32_t descriptor, std::uint32_t y,
                                         std::uint64_t* line) const {
    const std::uint64_t first_key = (std::uint64_t{descriptor} * side + y) * side;
    const std::uint64_t plane_end = starts[descriptor + 1];
    const std::uint64_t begin = lower_bound(keys, starts[descriptor], plane_end, first_key);
    const std::uint64_t end = lower_bound(keys, begin, plane_end, first_key + side);
    if (begin == end) {
      return false;
    }
    const std::uint32_t lane = threadIdx.x % 32;
    for (std::uint32_t x = lane; x < side; x += 32) {
      line[x] = 0;
    }
    __syncwarp();
    for (std::uint64_t i = begin + lane; i < end; i += 32) {
      atomicAdd(reinterpret_cast<unsigned long long*>(&line[keys[i] - first_key]), 1ULL);
    }
    return true;
  }
};

class Statistics {
 public:
  /// Bytes on the device. most_descriptors: the most that all rows put in between two clears can
  /// have together; 0 where that is not known, which leaves the dense form.
  [[nodiscard]] static std::size_t bytes(MapShape shape, std::uint64_t most_descriptors);
  /// All zero.
  Statistics(MapShape shape, std::uint64_t most_descriptors, MemoryAccount& account,
             StreamView stream);

  void clear(StreamView stream);
  /// Enqueues: rows that train enter the hits and counts at their BMUs. Rows without a BMU do not;
  /// rows that name a neuron or a descriptor that does not exist are marked as faults.
  /// descriptors: of all the tile's rows. Throws std::runtime_error when they pass
  /// most_descriptors.
  void accumulate(TileView tile, std::size_t descriptors, StreamView stream);

  /// Puts the counts in order for reading, and returns the descriptors that some row had,
  /// ascending. Synchronous.
  [[nodiscard]] std::vector<DescriptorId> settle(StreamView stream);
  /// The counts as they were settled.
  [[nodiscard]] std::variant<DenseCounts, PairCounts> counts() const;
  [[nodiscard]] const std::uint32_t* hits() const { return hits_.data(); }
  /// Hits on the host, M values. Synchronous.
  [[nodiscard]] std::vector<std::uint32_t> read_hits(StreamView stream) const;

 private:
  [[nodiscard]] std::vector<DescriptorId> settle_pairs(StreamView stream);

  MapShape shape_;
  std::uint64_t most_pairs_;  // 0: the dense form
  std::uint64_t pairs_ = 0;   // of the list that are in use
  DeviceBuffer<std::uint32_t> hits_;
  // The dense form: counts, and for each descriptor whether it has any.
  DeviceBuffer<std::uint32_t> counts_;
  DeviceBuffer<std::uint32_t> present_;
  // The list: keys and as much room for sorting, where each descriptor starts, scratch.
  DeviceBuffer<std::uint64_t> keys_;
  DeviceBuffer<std::uint64_t> sorted_room_;
  DeviceBuffer<std::uint64_t> starts_;
  DeviceBuffer<std::byte> sorting_;
};

}  // namespace somatlas::gpu
