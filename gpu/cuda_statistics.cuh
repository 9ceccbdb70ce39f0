// Statistics on the device: hits of every neuron, and for every descriptor how many of those hits
// have it, either as dense counts or as a sorted list of (descriptor, neuron) pairs, whichever is
// smaller. Dense counts are added to from a list too, which is sorted when it is full: that is
// twice as fast as scattered atomic additions. Always holds: they are sums of integers, so neither
// the form nor the order of tiles, rows and threads matters; no count passes 32 bits, which the
// number of rows is checked for.
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

/// The order of a plane's places in the list of pairs: strips of 16 columns, row by row in each, so
/// that a strip, and in it a square of 16 x 16, is one run.
struct StripOrder {
  static constexpr std::uint32_t width = 16;
  std::uint32_t side;

  [[nodiscard]] __host__ __device__ constexpr std::uint32_t strips() const {
    return (side + width - 1) / width;
  }
  [[nodiscard]] __host__ __device__ constexpr std::uint32_t strip_places() const {
    return side * width;
  }
  [[nodiscard]] __host__ __device__ constexpr std::uint32_t places() const {
    return strips() * strip_places();
  }
  [[nodiscard]] __host__ __device__ constexpr std::uint32_t place(std::uint32_t neuron) const {
    const std::uint32_t x = neuron % side;
    return (x / width * side + neuron / side) * width + x % width;
  }
};

/// Adds one to a cell in shared memory, which has room for it.
__device__ inline void add_to_cell(std::uint32_t* cells, std::uint32_t at) {
  atomicAdd(&cells[at], 1U);
}
__device__ inline void add_to_cell(std::uint8_t* cells, std::uint32_t at) {
  atomicAdd(reinterpret_cast<std::uint32_t*>(cells) + at / 4, 1U << (at % 4 * 8));
}

/// Dense counts, [descriptors][neurons] row-major.
struct DenseCounts {
  const std::uint32_t* counts;
  std::uint32_t side;

  /// One warp: puts so many columns of a descriptor's plane, from first on, into cells, which are
  /// 0: [side][columns]. Returns whether any is not 0. columns: a power of two up to 32.
  template <typename Cell>
  [[nodiscard]] __device__ bool load_columns(std::uint32_t descriptor, std::uint32_t first,
                                             std::uint32_t columns, Cell* cells) const {
    const std::uint32_t x = threadIdx.x % columns;
    const std::uint32_t* from = counts + std::size_t{descriptor} * side * side + first + x;
    const std::uint32_t step = 32 / columns;
    std::uint32_t any = 0;
    constexpr std::uint32_t at_once = 8;  // so many loads in flight
    for (std::uint32_t y = threadIdx.x / columns; y < side && first + x < side;
         y += at_once * step) {
      std::uint32_t count[at_once];
#pragma unroll
      for (std::uint32_t i = 0; i < at_once; ++i) {
        count[i] = y + i * step < side ? from[std::size_t{y + i * step} * side] : 0;
      }
#pragma unroll
      for (std::uint32_t i = 0; i < at_once; ++i) {
        if (y + i * step < side) {
          cells[(y + i * step) * columns + x] = static_cast<Cell>(count[i]);
        }
        any |= count[i];
      }
    }
    return __any_sync(0xFFFF'FFFFU, any != 0);
  }
};

/// A sorted key descriptor * places + place for every descriptor of every row; those of a strip are
/// at [starts[g], starts[g + 1]), g = descriptor * strips + strip.
struct PairCounts {
  const std::uint64_t* keys;
  const std::uint64_t* starts;
  StripOrder order;

  /// As DenseCounts::load_columns; no column's strip begins left of first.
  template <typename Cell>
  [[nodiscard]] __device__ bool load_columns(std::uint32_t descriptor, std::uint32_t first,
                                             std::uint32_t columns, Cell* cells) const {
    const std::uint32_t strip = first / order.width;
    const std::uint32_t end_strip =
        min((first + columns + order.width - 1) / order.width, order.strips());
    const std::uint64_t* const strip_starts = starts + std::size_t{descriptor} * order.strips();
    const std::uint64_t end = strip_starts[end_strip];
    const std::uint64_t first_key =
        std::uint64_t{descriptor} * order.places() + std::uint64_t{strip} * order.strip_places();
    bool any = false;
    constexpr std::uint32_t at_once = 4;  // so many loads in flight
    for (std::uint64_t i = strip_starts[strip] + threadIdx.x % 32; i < end; i += at_once * 32) {
      std::uint64_t key[at_once];
#pragma unroll
      for (std::uint32_t k = 0; k < at_once; ++k) {
        key[k] = i + k * 32 < end ? keys[i + k * 32] : first_key;
      }
#pragma unroll
      for (std::uint32_t k = 0; k < at_once; ++k) {
        auto place = static_cast<std::uint32_t>(key[k] - first_key);
        std::uint32_t x = 0;
        if (place >= order.strip_places()) {
          place -= order.strip_places();
          x = order.width;
        }
        x += strip * order.width + place % order.width - first;
        if (i + k * 32 < end && x < columns) {
          add_to_cell(cells, place / order.width * columns + x);
          any = true;
        }
      }
    }
    return __any_sync(0xFFFF'FFFFU, any);
  }
};

/// What the update plans by.
struct PlaneSummary {
  std::uint64_t total;  // of the plane's counts
  std::uint32_t large;  // not 0 where one of them passes 255
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
  /// most_descriptors, or when the rows since the last clear() pass what a count holds.
  void accumulate(TileView tile, std::size_t descriptors, StreamView stream);

  /// Puts the counts in order for reading, and returns what each descriptor's come to. Synchronous.
  [[nodiscard]] std::vector<PlaneSummary> settle(StreamView stream);
  /// The counts as they were settled.
  [[nodiscard]] std::variant<DenseCounts, PairCounts> counts() const;
  [[nodiscard]] const std::uint32_t* hits() const { return hits_.data(); }
  /// Hits on the host, M values. Synchronous.
  [[nodiscard]] std::vector<std::uint32_t> read_hits(StreamView stream) const;

 private:
  void sort_pairs(StreamView stream);
  void count_waiting(StreamView stream);

  MapShape shape_;
  std::uint64_t most_pairs_;  // 0: the dense form
  std::uint64_t pairs_ = 0;   // of the list that are in use
  std::uint64_t rows_ = 0;    // that came since the last clear: no count passes it
  DeviceBuffer<std::uint32_t> hits_;
  DeviceBuffer<PlaneSummary> summaries_;
  // The dense form, and places in it that are still to be counted.
  DeviceBuffer<std::uint32_t> counts_;
  DeviceBuffer<std::uint32_t> waiting_;
  DeviceBuffer<std::uint32_t> waiting_room_;  // to sort them
  std::size_t waiting_count_ = 0;
  // The list: keys and as much room for sorting, where each strip starts.
  DeviceBuffer<std::uint64_t> keys_;
  DeviceBuffer<std::uint64_t> sorted_room_;
  DeviceBuffer<std::uint64_t> starts_;
  DeviceBuffer<std::byte> sorting_;  // scratch
};

}  // namespace somatlas::gpu
