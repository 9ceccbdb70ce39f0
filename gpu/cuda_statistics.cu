// Statistics: sixteen lanes a row add to dense counts or write to the list of pairs. Always holds:
// only integers are added, so the result does not depend on their order; a place in the list
// belongs to one descriptor of one row, so writing needs no counter, and rows that do not count
// leave a key past all others there, which sorting moves to the end.
#include "gpu/cuda_statistics.cuh"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

#include "gpu/contract.h"
#include "gpu/cuda_sort.cuh"

namespace somatlas::gpu {
namespace {

constexpr unsigned block_threads = 256;
constexpr std::uint32_t row_lanes = 16;

/// Adds to dense counts.
struct CountSink {
  std::uint32_t* counts;
  std::uint32_t* present;

  __device__ void put(std::size_t key, std::uint32_t descriptor, std::uint32_t /*at*/) const {
    atomicAdd(&counts[key], 1);
    // Set once, and read from the cache from then on.
    if (__ldcg(&present[descriptor]) == 0) {
      atomicExch(&present[descriptor], 1);
    }
  }
  __device__ void skip(std::uint32_t /*at*/) const {}
};

/// Writes to the list of pairs.
struct PairSink {
  std::uint64_t* keys;  // of the tile's first descriptor
  std::uint64_t past_all;

  __device__ void put(std::size_t key, std::uint32_t /*descriptor*/, std::uint32_t at) const {
    keys[at] = key;
  }
  __device__ void skip(std::uint32_t at) const { keys[at] = past_all; }
};

template <typename Sink>
__global__ void accumulate_kernel(TileView tile, std::uint32_t neurons, std::uint32_t descriptors,
                                  std::uint32_t* hits, Sink sink) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t row = thread / row_lanes;
  const std::uint32_t part = threadIdx.x % row_lanes;
  if (row >= tile.rows) {
    return;
  }
  const std::uint32_t bmu = tile.bmu[row];
  bool counts = (tile.use[row] & row_use::trains) != 0 && bmu != no_neuron;
  if (counts && bmu >= neurons) {
    atomicOr(tile.fault, tile_fault::bmu_out_of_range);
    counts = false;
  }
  if (counts && part == 0) {
    atomicAdd(&hits[bmu], 1);
  }
  const std::uint32_t end = tile.offsets[row + 1];
  for (std::uint32_t i = tile.offsets[row] + part; i < end; i += row_lanes) {
    const std::uint32_t descriptor = tile.descriptors[i];
    if (counts && descriptor < descriptors) {
      sink.put(std::size_t{descriptor} * neurons + bmu, descriptor, i);
    } else {
      sink.skip(i);
      if (counts) {
        atomicOr(tile.fault, tile_fault::descriptor_out_of_range);
      }
    }
  }
}

__global__ void start_kernel(const std::uint64_t* keys, std::uint64_t pairs, std::uint32_t neurons,
                             std::uint32_t descriptors, std::uint64_t* starts) {
  const std::size_t descriptor = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (descriptor <= descriptors) {
    starts[descriptor] = lower_bound(keys, 0, pairs, descriptor * neurons);
  }
}

[[nodiscard]] std::uint64_t cells(MapShape shape) {
  return std::uint64_t{shape.neurons()} * shape.descriptors;
}

[[nodiscard]] std::size_t dense_bytes(MapShape shape) {
  return (cells(shape) + shape.descriptors) * sizeof(std::uint32_t);
}

[[nodiscard]] std::size_t pair_bytes(MapShape shape, std::uint64_t most) {
  return (2 * most + shape.descriptors + 1) * sizeof(std::uint64_t) + sort_scratch_bytes(most);
}

/// Length of the list of pairs, or 0 for the dense form.
[[nodiscard]] std::uint64_t pairs_to_hold(MapShape shape, std::uint64_t most_descriptors) {
  return most_descriptors != 0 && pair_bytes(shape, most_descriptors) < dense_bytes(shape)
             ? most_descriptors
             : 0;
}

}  // namespace

std::size_t Statistics::bytes(MapShape shape, std::uint64_t most_descriptors) {
  const std::uint64_t pairs = pairs_to_hold(shape, most_descriptors);
  return shape.neurons() * sizeof(std::uint32_t) +
         (pairs != 0 ? pair_bytes(shape, pairs) : dense_bytes(shape));
}

Statistics::Statistics(MapShape shape, std::uint64_t most_descriptors, MemoryAccount& account,
                       StreamView stream)
    : shape_(shape),
      most_pairs_(pairs_to_hold(shape, most_descriptors)),
      hits_(account, shape.neurons(), "the hits") {
  if (most_pairs_ == 0) {
    counts_ = {account, cells(shape), "the counts"};
    present_ = {account, shape.descriptors, "the descriptors' flags"};
  } else {
    keys_ = {account, most_pairs_, "the list of counts"};
    sorted_room_ = {account, most_pairs_, "room to sort the counts"};
    starts_ = {account, std::size_t{shape.descriptors} + 1, "the descriptors' starts"};
    sorting_ = {account, sort_scratch_bytes(most_pairs_), "the sort's scratch"};
  }
  clear(stream);
}

void Statistics::clear(StreamView stream) {
  hits_.fill_bytes(0, stream);
  counts_.fill_bytes(0, stream);
  present_.fill_bytes(0, stream);
  pairs_ = 0;
}

void Statistics::accumulate(TileView tile, std::size_t descriptors, StreamView stream) {
  if (tile.rows == 0) {
    return;
  }
  const std::size_t threads = std::size_t{tile.rows} * row_lanes;
  const auto blocks = static_cast<unsigned>((threads + block_threads - 1) / block_threads);
  const auto neurons = static_cast<std::uint32_t>(shape_.neurons());
  if (most_pairs_ == 0) {
    accumulate_kernel<<<blocks, block_threads, 0, stream.value()>>>(
        tile, neurons, shape_.descriptors, hits_.data(),
        CountSink{counts_.data(), present_.data()});
  } else {
    if (descriptors > most_pairs_ - pairs_) {
      throw std::runtime_error("the statistics were made for " + std::to_string(most_pairs_) +
                               " descriptors of all rows together, and " + std::to_string(pairs_) +
                               " and " + std::to_string(descriptors) +
                               " came; say how many there are when making the backend");
    }
    accumulate_kernel<<<blocks, block_threads, 0, stream.value()>>>(
        tile, neurons, shape_.descriptors, hits_.data(),
        PairSink{keys_.data() + pairs_, cells(shape_)});
    pairs_ += descriptors;
  }
  check_launch();
}

std::vector<DescriptorId> Statistics::settle(StreamView stream) {
  if (most_pairs_ != 0) {
    return settle_pairs(stream);
  }
  std::vector<std::uint32_t> present(present_.size());
  copy_to_host(present.data(), present_.data(), present.size(), stream);
  stream.synchronize();
  std::vector<DescriptorId> counted;
  for (DescriptorId descriptor = 0; descriptor < present.size(); ++descriptor) {
    if (present[descriptor] != 0) {
      counted.push_back(descriptor);
    }
  }
  return counted;
}

std::vector<DescriptorId> Statistics::settle_pairs(StreamView stream) {
  SortRoom<std::uint64_t> keys{keys_.data(), sorted_room_.data()};
  sort_keys(keys, pairs_, std::bit_width(cells(shape_)), {sorting_.data(), sorting_.size()},
            stream);
  if (keys.data != keys_.data()) {
    std::swap(keys_, sorted_room_);
  }
  start_kernel<<<shape_.descriptors / block_threads + 1, block_threads, 0, stream.value()>>>(
      keys_.data(), pairs_, static_cast<std::uint32_t>(shape_.neurons()), shape_.descriptors,
      starts_.data());
  check_launch();
  std::vector<std::uint64_t> starts(starts_.size());
  copy_to_host(starts.data(), starts_.data(), starts.size(), stream);
  stream.synchronize();
  // What counts stands first; the places that rows left empty can be taken again.
  pairs_ = starts.back();
  std::vector<DescriptorId> counted;
  for (DescriptorId descriptor = 0; descriptor < shape_.descriptors; ++descriptor) {
    if (starts[descriptor] != starts[descriptor + 1]) {
      counted.push_back(descriptor);
    }
  }
  return counted;
}

std::variant<DenseCounts, PairCounts> Statistics::counts() const {
  if (most_pairs_ == 0) {
    return DenseCounts{counts_.data(), shape_.side};
  }
  return PairCounts{keys_.data(), starts_.data(), shape_.side};
}

std::vector<std::uint32_t> Statistics::read_hits(StreamView stream) const {
  std::vector<std::uint32_t> hits(hits_.size());
  copy_to_host(hits.data(), hits_.data(), hits.size(), stream);
  stream.synchronize();
  return hits;
}

}  // namespace somatlas::gpu
