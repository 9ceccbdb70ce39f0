// The peers' kernels: a codebook's other layouts, node-major searches, and the arg-min of what an
// SpMM leaves. Always holds: integer ones keep the contract's order, the lowest neuron of the
// lowest score; the float ones take the lowest neuron of their own lowest score.
#pragma once

#include <cuda_fp16.h>

#include <cfloat>
#include <climits>
#include <cstddef>
#include <cstdint>

#include "gpu/contract.h"
#include "gpu/cuda_walk.cuh"

namespace somatlas::tools::bench {

inline constexpr unsigned block_threads = 256;
inline constexpr unsigned block_warps = block_threads / 32;
inline constexpr std::uint32_t all_lanes = 0xFFFF'FFFFU;
/// Of the brute-force kernel: rows a block, neurons a line.
inline constexpr std::uint32_t search_rows = 128;
inline constexpr std::uint32_t line_neurons = gpu::line_weights;

// --- layouts

template <class Weight>
[[nodiscard]] __device__ Weight converted(std::uint16_t q) {
  return q;
}
template <>
[[nodiscard]] __device__ float converted<float>(std::uint16_t q) {
  return static_cast<float>(q) / static_cast<float>(gpu::weight_one);
}
template <>
[[nodiscard]] __device__ __half converted<__half>(std::uint16_t q) {
  return __float2half(converted<float>(q));
}

template <class Weight>
static __global__ void convert_kernel(const std::uint16_t* planes, std::size_t values,
                                      Weight* out) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < values; i += step) {
    out[i] = converted<Weight>(planes[i]);
  }
}

constexpr std::uint32_t square = 32;

/// [descriptor][neuron] to [neuron][descriptor], a square of 32 x 32 at a time.
template <class Weight>
static __global__ void transpose_kernel(const std::uint16_t* planes, std::uint32_t descriptors,
                                        std::uint32_t neurons, std::uint32_t squares_across,
                                        Weight* out) {
  __shared__ std::uint16_t held[square][square + 2];
  const std::uint32_t first_descriptor = blockIdx.x / squares_across * square;
  const std::uint32_t first_neuron = blockIdx.x % squares_across * square;
  for (std::uint32_t y = threadIdx.y; y < square; y += blockDim.y) {
    const std::uint32_t descriptor = first_descriptor + y;
    const std::uint32_t neuron = first_neuron + threadIdx.x;
    if (descriptor < descriptors && neuron < neurons) {
      held[y][threadIdx.x] = planes[std::size_t{descriptor} * neurons + neuron];
    }
  }
  __syncthreads();
  for (std::uint32_t y = threadIdx.y; y < square; y += blockDim.y) {
    const std::uint32_t neuron = first_neuron + y;
    const std::uint32_t descriptor = first_descriptor + threadIdx.x;
    if (descriptor < descriptors && neuron < neurons) {
      out[std::size_t{neuron} * descriptors + descriptor] = converted<Weight>(held[threadIdx.x][y]);
    }
  }
}

// --- node-major searches

struct RowsView {
  const std::uint32_t* offsets;
  const std::uint32_t* descriptors;
  std::uint32_t count;
};

/// A weight of every neuron and descriptor, [neuron][descriptor]; norms are padded_norm where a
/// neuron is vacant or beyond the last.
struct NodeMajorBook {
  const std::uint16_t* weights;
  const std::int32_t* norms;
  std::uint32_t descriptors;
  std::uint32_t neurons;
};

/// A warp takes a row, a lane every 32nd neuron.
static __global__ void node_major_kernel(NodeMajorBook book, RowsView rows,
                                         unsigned long long* best) {
  const std::uint32_t row = blockIdx.x * block_warps + threadIdx.x / 32;
  if (row >= rows.count) {
    return;
  }
  const std::uint32_t begin = rows.offsets[row];
  const std::uint32_t end = rows.offsets[row + 1];
  std::int32_t least = INT_MAX;
  std::uint32_t least_neuron = gpu::no_neuron;
  for (std::uint32_t i = threadIdx.x % 32; i < book.neurons; i += 32) {
    const std::uint16_t* const weights = book.weights + std::size_t{i} * book.descriptors;
    std::uint32_t sum = 0;
#pragma unroll 4
    for (std::uint32_t k = begin; k < end; ++k) {
      sum += __ldg(weights + __ldg(rows.descriptors + k));
    }
    const std::int32_t score = book.norms[i] - static_cast<std::int32_t>(sum << 7);
    if (score < least) {
      least = score;
      least_neuron = i;
    }
  }
  const std::int32_t lowest = __reduce_min_sync(all_lanes, least);
  const std::uint32_t neuron =
      __reduce_min_sync(all_lanes, least == lowest ? least_neuron : gpu::no_neuron);
  if (threadIdx.x % 32 == 0) {
    best[row] = gpu::rank_key(lowest, neuron);
  }
}

/// What gpu::LineWalk is to its table, to a node-major codebook: the same additions of the same
/// eight neurons a lane, fetched one by one.
class NodeMajorWalk {
 public:
  __device__ NodeMajorWalk(const NodeMajorBook& book, std::uint32_t run)
      : weights_(book.weights + std::size_t{run} * gpu::walk_width * book.descriptors),
        descriptors_(book.descriptors),
        low_norms_(__ldg(reinterpret_cast<const int4*>(book.norms) + std::size_t{run} * 2)),
        high_norms_(__ldg(reinterpret_cast<const int4*>(book.norms) + std::size_t{run} * 2 + 1)) {}

  __device__ void scores(const uint4* group, std::uint32_t length,
                         std::int32_t (&out)[gpu::walk_width]) const {
    gpu::PairSums sums;
    uint4 ids = __ldg(group);
    std::uint32_t left = length;
#pragma unroll 1
    for (; left >= 4; left -= 4) {
      const uint4 next = __ldg(++group);
      add<4>(ids, sums);
      ids = next;
    }
    switch (left) {
      case 1:
        add<1>(ids, sums);
        break;
      case 2:
        add<2>(ids, sums);
        break;
      case 3:
        add<3>(ids, sums);
        break;
      default:
        break;
    }
    const std::int32_t norms[gpu::walk_width] = {low_norms_.x,  low_norms_.y,  low_norms_.z,
                                                 low_norms_.w,  high_norms_.x, high_norms_.y,
                                                 high_norms_.z, high_norms_.w};
#pragma unroll
    for (int j = 0; j < gpu::walk_width; ++j) {
      out[j] = norms[j] - static_cast<std::int32_t>(sums.of(j) << 7);
    }
  }

 private:
  template <int lines>
  __device__ void add(uint4 id, gpu::PairSums& sums) const {
    const std::uint32_t ids[4] = {id.x, id.y, id.z, id.w};
    std::uint32_t weights[lines][4];
#pragma unroll
    for (int k = 0; k < lines; ++k) {
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        const std::uint16_t* const pair =
            weights_ + std::size_t{2} * static_cast<std::size_t>(p) * descriptors_ + ids[k];
        weights[k][p] = __ldg(pair) | static_cast<std::uint32_t>(__ldg(pair + descriptors_)) << 16;
      }
    }
    sums.add(weights);
  }

  const std::uint16_t* weights_;
  std::uint32_t descriptors_;
  int4 low_norms_;
  int4 high_norms_;
};

/// The brute-force kernel of gpu/cuda_search.cu: a block has 128 rows and one line of 256 neurons,
/// the line outermost in the grid; a warp takes a row, a lane eight neurons.
static __global__ void __launch_bounds__(block_threads, 4)
    brute_node_major_kernel(NodeMajorBook book, const gpu::RowPlace* places, const uint4* groups,
                            std::uint32_t count, std::uint32_t row_blocks,
                            unsigned long long* best_keys) {
  const std::uint32_t line = blockIdx.x / row_blocks;
  const std::uint32_t begin = blockIdx.x % row_blocks * search_rows;
  const std::uint32_t end = min(begin + search_rows, count);
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t run = line * 32 + lane;
  const NodeMajorWalk walk(book, run);
  const std::uint32_t start = begin + threadIdx.x / 32;
  gpu::RowPlace upcoming{};
  if (start < end) {
    upcoming = places[start];
  }
  for (std::uint32_t i = start; i < end; i += block_warps) {
    const gpu::RowPlace place = upcoming;
    if (i + block_warps < end) {
      upcoming = places[i + block_warps];
    }
    std::int32_t scores[gpu::walk_width];
    walk.scores(groups + place.first_group, place.length, scores);
    const std::int32_t least = gpu::least_of(scores);
    const std::int32_t lowest = __reduce_min_sync(all_lanes, least);
    if (lowest == INT_MAX || lowest > gpu::score_of(__ldcg(&best_keys[i]))) {
      continue;
    }
    std::uint32_t neuron = gpu::no_neuron;
    if (least == lowest) {
#pragma unroll
      for (int j = gpu::walk_width - 1; j >= 0; --j) {
        neuron =
            scores[j] == lowest ? run * gpu::walk_width + static_cast<std::uint32_t>(j) : neuron;
      }
    }
    neuron = __reduce_min_sync(all_lanes, neuron);
    if (lane == 0) {
      atomicMin(&best_keys[i], gpu::rank_key(lowest, neuron));
    }
  }
}

// --- arg-min of products

/// A float's bits in the order of its value, above the neuron.
[[nodiscard]] __device__ unsigned long long float_key(float score, std::uint32_t neuron) {
  const std::uint32_t bits = __float_as_uint(score);
  const std::uint32_t ordered = (bits & 0x8000'0000U) != 0 ? ~bits : bits | 0x8000'0000U;
  return static_cast<unsigned long long>(ordered) << 32 | neuron;
}

[[nodiscard]] __device__ float as_float(float value) {
  return value;
}
[[nodiscard]] __device__ float as_float(__half value) {
  return __half2float(value);
}

/// So many products that one load brings them.
template <class Product, int width>
struct alignas(sizeof(Product) * width) Load {
  Product value[width];
};

/// products [row][neuron]: a block takes a row.
template <class Product, int width>
static __global__ void argmin_of_rows_kernel(const Product* products, const float* norms,
                                             std::uint32_t neurons, unsigned long long* best) {
  __shared__ unsigned long long of_warp[block_warps];
  const Product* const row = products + std::size_t{blockIdx.x} * neurons;
  float least = FLT_MAX;
  std::uint32_t neuron = gpu::no_neuron;
  for (std::uint32_t i = threadIdx.x * width; i < neurons; i += block_threads * width) {
    const auto load = *reinterpret_cast<const Load<Product, width>*>(row + i);
#pragma unroll
    for (int j = 0; j < width; ++j) {
      const float score = norms[i + j] - 2 * as_float(load.value[j]);
      if (score < least) {
        least = score;
        neuron = i + j;
      }
    }
  }
  unsigned long long key = float_key(least, neuron);
  for (int step = 16; step > 0; step /= 2) {
    key = min(key, __shfl_xor_sync(all_lanes, key, step));
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = key;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned warp = 1; warp < block_warps; ++warp) {
      key = min(key, of_warp[warp]);
    }
    best[blockIdx.x] = key;
  }
}

constexpr std::uint32_t column_neurons = 256;

/// products [neuron][row]: a block takes 256 rows and as many neurons.
template <class Product>
static __global__ void argmin_of_columns_kernel(const Product* products, const float* norms,
                                                std::uint32_t neurons, std::uint32_t rows,
                                                std::uint32_t row_blocks,
                                                unsigned long long* best) {
  const std::uint32_t row = blockIdx.x % row_blocks * block_threads + threadIdx.x;
  const std::uint32_t begin = blockIdx.x / row_blocks * column_neurons;
  const std::uint32_t end = min(neurons, begin + column_neurons);
  if (row >= rows) {
    return;
  }
  float least = FLT_MAX;
  std::uint32_t neuron = gpu::no_neuron;
#pragma unroll 8
  for (std::uint32_t i = begin; i < end; ++i) {
    const float score = norms[i] - 2 * as_float(products[std::size_t{i} * rows + row]);
    if (score < least) {
      least = score;
      neuron = i;
    }
  }
  atomicMin(&best[row], float_key(least, neuron));
}

}  // namespace somatlas::tools::bench
