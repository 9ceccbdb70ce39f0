// Statistics: sixteen lanes a row add to dense counts or write to one of the lists. Always holds:
// only integers are added, so the result does not depend on their order; a place in the list
// belongs to one descriptor of one row, so writing needs no counter, and rows that do not count
// leave a key past all others there, which sorting moves to the end.
#include "gpu/cuda_statistics.cuh"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "gpu/contract.h"
#include "gpu/cuda_sort.cuh"

namespace somatlas::gpu {
namespace {

constexpr unsigned block_threads = 256;
constexpr std::uint32_t row_lanes = 16;
constexpr std::uint32_t rows_at_once = 4;
/// A count up to this is small: it fits a byte.
constexpr std::uint32_t most_small_count = 255;

/// Places that wait to be counted at once, at most: enough for sorting to keep the device busy.
constexpr std::uint64_t most_waiting = std::uint64_t{1} << 25;

/// Adds to dense counts.
struct CountSink {
  std::uint32_t* counts;
  std::uint32_t neurons;

  __device__ void put(std::uint32_t descriptor, std::uint32_t bmu, std::uint32_t /*at*/) const {
    atomicAdd(&counts[std::size_t{descriptor} * neurons + bmu], 1);
  }
  __device__ void skip(std::uint32_t /*at*/) const {}
};

/// Writes to the list of places that wait to be counted.
struct PlaceSink {
  std::uint32_t* places;   // of the tile's first descriptor
  std::uint32_t past_all;  // of the dense counts
  std::uint32_t neurons;

  __device__ void put(std::uint32_t descriptor, std::uint32_t bmu, std::uint32_t at) const {
    places[at] = descriptor * neurons + bmu;
  }
  __device__ void skip(std::uint32_t at) const { places[at] = past_all; }
};

/// Writes to the list of pairs.
struct PairSink {
  std::uint64_t* keys;  // of the tile's first descriptor
  std::uint64_t past_all;
  StripOrder order;

  __device__ void put(std::uint32_t descriptor, std::uint32_t bmu, std::uint32_t at) const {
    keys[at] = std::uint64_t{descriptor} * order.places() + order.place(bmu);
  }
  __device__ void skip(std::uint32_t at) const { keys[at] = past_all; }
};

/// Sixteen lanes take rows_at_once rows, threads apart, so that they wait for memory together.
template <typename Sink>
__global__ void accumulate_kernel(TileView tile, std::uint32_t neurons, std::uint32_t descriptors,
                                  std::uint32_t* hits, Sink sink) {
  const std::uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) / row_lanes;
  const std::uint32_t step = gridDim.x * (blockDim.x / row_lanes);
  const std::uint32_t part = threadIdx.x % row_lanes;
  std::uint32_t at[rows_at_once];
  std::uint32_t end[rows_at_once];
  std::uint32_t bmu[rows_at_once];
  std::uint32_t use[rows_at_once];
#pragma unroll
  for (std::uint32_t k = 0; k < rows_at_once; ++k) {
    const std::uint32_t row = first + k * step;
    const bool given = row < tile.rows;
    at[k] = given ? tile.offsets[row] + part : 0;
    end[k] = given ? tile.offsets[row + 1] : 0;
    bmu[k] = given ? tile.bmu[row] : no_neuron;
    use[k] = given ? tile.use[row] : 0;
  }
  std::uint32_t descriptor[rows_at_once];
#pragma unroll
  for (std::uint32_t k = 0; k < rows_at_once; ++k) {
    descriptor[k] = at[k] < end[k] ? tile.descriptors[at[k]] : 0;
  }
#pragma unroll
  for (std::uint32_t k = 0; k < rows_at_once; ++k) {
    bool counts = (use[k] & row_use::trains) != 0 && bmu[k] != no_neuron;
    if (counts && bmu[k] >= neurons) {
      atomicOr(tile.fault, tile_fault::bmu_out_of_range);
      counts = false;
    }
    if (counts && part == 0) {
      atomicAdd(&hits[bmu[k]], 1);
    }
    for (std::uint32_t i = at[k]; i < end[k];) {
      if (counts && descriptor[k] < descriptors) {
        sink.put(descriptor[k], bmu[k], i);
      } else {
        sink.skip(i);
        if (counts) {
          atomicOr(tile.fault, tile_fault::descriptor_out_of_range);
        }
      }
      i += row_lanes;
      if (i < end[k]) {
        descriptor[k] = tile.descriptors[i];
      }
    }
  }
}

/// The first position in [begin, end) of sorted keys whose key is not below wanted.
[[nodiscard]] __device__ std::uint64_t lower_bound(const std::uint64_t* keys, std::uint64_t begin,
                                                   std::uint64_t end, std::uint64_t wanted) {
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

/// A thread a place of a sorted list: the first of every run adds how long it is.
__global__ void run_kernel(const std::uint32_t* places, std::uint64_t count, std::uint32_t past_all,
                           std::uint32_t* counts) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at >= count) {
    return;
  }
  const std::uint32_t place = places[at];
  if (place == past_all || (at != 0 && places[at - 1] == place)) {
    return;
  }
  std::uint64_t within = at;  // the last known to be in the run
  std::uint64_t step = 1;
  for (; within + step < count && places[within + step] == place; step *= 2) {
    within += step;
  }
  for (; step != 0; step /= 2) {
    if (within + step < count && places[within + step] == place) {
      within += step;
    }
  }
  counts[place] += static_cast<std::uint32_t>(within - at + 1);
}

/// A thread a strip of every descriptor, and one for the end.
__global__ void start_kernel(const std::uint64_t* keys, std::uint64_t pairs,
                             std::uint32_t strip_places, std::size_t strips,
                             std::uint64_t* starts) {
  const std::size_t strip = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (strip <= strips) {
    starts[strip] = lower_bound(keys, 0, pairs, strip * strip_places);
  }
}

/// A thread a descriptor.
__global__ void total_kernel(const std::uint64_t* starts, std::uint32_t strips,
                             std::uint32_t descriptors, PlaneSummary* summaries) {
  const std::size_t descriptor = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (descriptor < descriptors) {
    summaries[descriptor] = {starts[(descriptor + 1) * strips] - starts[descriptor * strips], 0};
  }
}

/// A thread a key: a count passes 255 where the key occurs once more so many places on. Those past
/// all others belong to no descriptor.
__global__ void large_kernel(const std::uint64_t* keys, std::uint64_t pairs, std::uint32_t places,
                             std::uint64_t past_all, PlaneSummary* summaries) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at + most_small_count < pairs && keys[at] != past_all &&
      keys[at] == keys[at + most_small_count]) {
    summaries[keys[at] / places].large = 1;
  }
}

/// A block a descriptor.
__global__ void summary_kernel(const std::uint32_t* counts, std::uint32_t neurons,
                               PlaneSummary* summaries) {
  __shared__ unsigned long long total;
  if (threadIdx.x == 0) {
    total = 0;
  }
  __syncthreads();
  const std::uint32_t* const plane = counts + std::size_t{blockIdx.x} * neurons;
  std::uint64_t sum = 0;
  std::uint32_t most = 0;
  for (std::uint32_t i = threadIdx.x; i < neurons; i += blockDim.x) {
    sum += plane[i];
    most = max(most, plane[i]);
  }
  if (sum != 0) {
    atomicAdd(&total, static_cast<unsigned long long>(sum));
  }
  const int large = __syncthreads_or(most > most_small_count ? 1 : 0);
  if (threadIdx.x == 0) {
    summaries[blockIdx.x] = {total, static_cast<std::uint32_t>(large)};
  }
}

[[nodiscard]] std::size_t all_strips(MapShape shape) {
  return std::size_t{StripOrder{shape.side}.strips()} * shape.descriptors;
}

/// A key past all that occur.
[[nodiscard]] std::uint64_t past_all(MapShape shape) {
  return std::uint64_t{StripOrder{shape.side}.places()} * shape.descriptors;
}

[[nodiscard]] std::uint64_t cells(MapShape shape) {
  return std::uint64_t{shape.neurons()} * shape.descriptors;
}

[[nodiscard]] std::size_t dense_bytes(MapShape shape) {
  return cells(shape) * sizeof(std::uint32_t);
}

[[nodiscard]] std::size_t pair_bytes(MapShape shape, std::uint64_t most) {
  return (2 * most + all_strips(shape) + 1) * sizeof(std::uint64_t) + sort_scratch_bytes(most);
}

/// Length of the list of pairs, or 0 for the dense form.
[[nodiscard]] std::uint64_t pairs_to_hold(MapShape shape, std::uint64_t most_descriptors) {
  return most_descriptors != 0 && pair_bytes(shape, most_descriptors) < dense_bytes(shape)
             ? most_descriptors
             : 0;
}

/// Length of the list of places that wait; 0 where they are not numbered in 32 bits.
[[nodiscard]] std::size_t places_to_hold(MapShape shape, std::uint64_t most_descriptors) {
  return cells(shape) < UINT32_MAX ? std::min(most_descriptors, most_waiting) : 0;
}

[[nodiscard]] std::size_t waiting_bytes(std::size_t places) {
  return places == 0 ? 0 : 2 * places * sizeof(std::uint32_t) + sort_scratch_bytes(places);
}

}  // namespace

std::size_t Statistics::bytes(MapShape shape, std::uint64_t most_descriptors) {
  const std::uint64_t pairs = pairs_to_hold(shape, most_descriptors);
  return shape.neurons() * sizeof(std::uint32_t) + shape.descriptors * sizeof(PlaneSummary) +
         (pairs != 0 ? pair_bytes(shape, pairs)
                     : dense_bytes(shape) + waiting_bytes(places_to_hold(shape, most_descriptors)));
}

Statistics::Statistics(MapShape shape, std::uint64_t most_descriptors, MemoryAccount& account,
                       StreamView stream)
    : shape_(shape),
      most_pairs_(pairs_to_hold(shape, most_descriptors)),
      hits_(account, shape.neurons(), "the hits"),
      summaries_(account, shape.descriptors, "the descriptors' totals") {
  if (most_pairs_ == 0) {
    counts_ = {account, cells(shape), "the counts"};
    if (const std::size_t places = places_to_hold(shape, most_descriptors); places != 0) {
      waiting_ = {account, places, "the list of what is to be counted"};
      waiting_room_ = {account, places, "room to sort what is to be counted"};
      sorting_ = {account, sort_scratch_bytes(places), "the sort's scratch"};
    }
  } else {
    keys_ = {account, most_pairs_, "the list of counts"};
    sorted_room_ = {account, most_pairs_, "room to sort the counts"};
    starts_ = {account, all_strips(shape) + 1, "the descriptors' starts"};
    sorting_ = {account, sort_scratch_bytes(most_pairs_), "the sort's scratch"};
  }
  clear(stream);
}

void Statistics::clear(StreamView stream) {
  hits_.fill_bytes(0, stream);
  counts_.fill_bytes(0, stream);
  waiting_count_ = 0;
  pairs_ = 0;
  rows_ = 0;
}

void Statistics::accumulate(TileView tile, std::size_t descriptors, StreamView stream) {
  if (tile.rows == 0) {
    return;
  }
  if (tile.rows > std::numeric_limits<std::uint32_t>::max() - rows_) {
    throw std::runtime_error("the statistics count up to " +
                             std::to_string(std::numeric_limits<std::uint32_t>::max()) +
                             " rows, and more came; train on fewer articles");
  }
  rows_ += tile.rows;
  constexpr std::size_t block_rows = block_threads / row_lanes * rows_at_once;
  const auto blocks = static_cast<unsigned>((tile.rows + block_rows - 1) / block_rows);
  const auto neurons = static_cast<std::uint32_t>(shape_.neurons());
  const auto launch = [&](const auto& sink) {
    accumulate_kernel<<<blocks, block_threads, 0, stream.value()>>>(
        tile, neurons, shape_.descriptors, hits_.data(), sink);
  };
  if (most_pairs_ == 0) {
    if (descriptors > waiting_.size()) {
      launch(CountSink{counts_.data(), neurons});
    } else {
      if (descriptors > waiting_.size() - waiting_count_) {
        count_waiting(stream);
      }
      launch(PlaceSink{waiting_.data() + waiting_count_, static_cast<std::uint32_t>(cells(shape_)),
                       neurons});
      waiting_count_ += descriptors;
    }
  } else {
    if (descriptors > most_pairs_ - pairs_) {
      throw std::runtime_error("the statistics were made for " + std::to_string(most_pairs_) +
                               " descriptors of all rows together, and " + std::to_string(pairs_) +
                               " and " + std::to_string(descriptors) +
                               " came; say how many there are when making the backend");
    }
    launch(PairSink{keys_.data() + pairs_, past_all(shape_), {shape_.side}});
    pairs_ += descriptors;
  }
  check_launch();
}

std::vector<PlaneSummary> Statistics::settle(StreamView stream) {
  std::vector<PlaneSummary> summaries(summaries_.size());
  if (summaries.empty()) {
    return summaries;
  }
  if (most_pairs_ != 0) {
    sort_pairs(stream);
  } else {
    count_waiting(stream);
    summary_kernel<<<shape_.descriptors, block_threads, 0, stream.value()>>>(
        counts_.data(), static_cast<std::uint32_t>(shape_.neurons()), summaries_.data());
    check_launch();
  }
  copy_to_host(summaries.data(), summaries_.data(), summaries.size(), stream);
  stream.synchronize();
  if (most_pairs_ != 0) {
    // What counts stands first; the places that rows left empty can be taken again.
    pairs_ = 0;
    for (const PlaneSummary& summary : summaries) {
      pairs_ += summary.total;
    }
  }
  return summaries;
}

/// Adds what waits to the dense counts.
void Statistics::count_waiting(StreamView stream) {
  if (waiting_count_ == 0) {
    return;
  }
  const auto past_all = static_cast<std::uint32_t>(cells(shape_));
  SortRoom<std::uint32_t> places{waiting_.data(), waiting_room_.data()};
  sort_keys(places, waiting_count_, std::bit_width(past_all), {sorting_.data(), sorting_.size()},
            stream);
  const std::uint64_t blocks = (waiting_count_ + block_threads - 1) / block_threads;
  run_kernel<<<static_cast<unsigned>(blocks), block_threads, 0, stream.value()>>>(
      places.data, waiting_count_, past_all, counts_.data());
  check_launch();
  waiting_count_ = 0;
}

void Statistics::sort_pairs(StreamView stream) {
  SortRoom<std::uint64_t> keys{keys_.data(), sorted_room_.data()};
  sort_keys(keys, pairs_, std::bit_width(past_all(shape_)), {sorting_.data(), sorting_.size()},
            stream);
  if (keys.data != keys_.data()) {
    std::swap(keys_, sorted_room_);
  }
  const StripOrder order{shape_.side};
  const std::size_t strips = all_strips(shape_);
  const auto blocks = [](std::uint64_t threads) {
    return static_cast<unsigned>((threads + block_threads - 1) / block_threads);
  };
  start_kernel<<<blocks(strips + 1), block_threads, 0, stream.value()>>>(
      keys_.data(), pairs_, order.strip_places(), strips, starts_.data());
  check_launch();
  total_kernel<<<blocks(shape_.descriptors), block_threads, 0, stream.value()>>>(
      starts_.data(), order.strips(), shape_.descriptors, summaries_.data());
  check_launch();
  if (pairs_ != 0) {
    large_kernel<<<blocks(pairs_), block_threads, 0, stream.value()>>>(
        keys_.data(), pairs_, order.places(), past_all(shape_), summaries_.data());
    check_launch();
  }
}

std::variant<DenseCounts, PairCounts> Statistics::counts() const {
  if (most_pairs_ == 0) {
    return DenseCounts{counts_.data(), shape_.side};
  }
  return PairCounts{keys_.data(), starts_.data(), {shape_.side}};
}

std::vector<std::uint32_t> Statistics::read_hits(StreamView stream) const {
  std::vector<std::uint32_t> hits(hits_.size());
  copy_to_host(hits.data(), hits_.data(), hits.size(), stream);
  stream.synchronize();
  return hits;
}

}  // namespace somatlas::gpu
