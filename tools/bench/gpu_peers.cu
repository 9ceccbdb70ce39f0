// The peers' kernels and what runs them. Always holds: integer peers keep the contract's order, the
// lowest neuron of the lowest score; the float ones take the lowest neuron of their own lowest
// score.
#include "tools/bench/gpu_peers.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <cfloat>
#include <climits>
#include <limits>
#include <stdexcept>
#include <utility>

#include "gpu/contract.h"
#include "gpu/cuda_buffer.cuh"
#include "gpu/cuda_check.cuh"
#include "gpu/cuda_stream.cuh"
#include "gpu/cuda_walk.cuh"
#include "tools/bench/cusparse.cuh"

namespace somatlas::tools::bench {
namespace {

using gpu::check;
using gpu::check_launch;
using gpu::DeviceBuffer;
using gpu::StreamView;

constexpr unsigned block_threads = 256;
constexpr unsigned block_warps = block_threads / 32;
constexpr std::uint32_t all_lanes = 0xFFFF'FFFFU;
/// Of the brute-force kernel: rows a block, neurons a line.
constexpr std::uint32_t search_rows = 128;
constexpr std::uint32_t line_neurons = gpu::line_weights;
/// Products of one SpMM: what the arg-min then reads.
constexpr std::size_t most_product_bytes = std::size_t{4} << 30;

[[nodiscard]] unsigned blocks_of(std::size_t items, std::size_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

// --- ceilings

constexpr std::uint32_t table_rows = 32;  // of 512 bytes, what a warp reads at once: 16 KiB
constexpr std::uint32_t row_words = 32;   // of 16 bytes

/// Every warp reads row after row, so many; volatile, so that each load is made.
__global__ void __launch_bounds__(1024, 1)
    cached_reads_kernel(const uint4* table, int loads, std::uint32_t* sink) {
  const uint4* const own = table + threadIdx.x % row_words;
  std::uint32_t row = threadIdx.x / row_words;
  std::uint32_t x = 0;
#pragma unroll 4
  for (int i = 0; i < loads; ++i) {
    uint4 word;
    asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                 : "l"(own + row * row_words));
    x ^= word.x ^ word.y ^ word.z ^ word.w;
    row = (row + 1) % table_rows;
  }
  if (x == 1) {
    *sink = x;
  }
}

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
__global__ void convert_kernel(const std::uint16_t* planes, std::size_t values, Weight* out) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < values; i += step) {
    out[i] = converted<Weight>(planes[i]);
  }
}

constexpr std::uint32_t square = 32;

/// [descriptor][neuron] to [neuron][descriptor], a square of 32 x 32 at a time.
template <class Weight>
__global__ void transpose_kernel(const std::uint16_t* planes, std::uint32_t descriptors,
                                 std::uint32_t neurons, std::uint32_t squares_across, Weight* out) {
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
__global__ void node_major_kernel(NodeMajorBook book, RowsView rows, unsigned long long* best) {
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
    std::uint32_t all[4] = {};
    std::uint32_t high[4] = {};
    uint4 ids = __ldg(group);
    std::uint32_t left = length;
#pragma unroll 1
    for (; left >= 4; left -= 4) {
      const uint4 next = __ldg(++group);
      add<4>(ids, all, high);
      ids = next;
    }
    switch (left) {
      case 1:
        add<1>(ids, all, high);
        break;
      case 2:
        add<2>(ids, all, high);
        break;
      case 3:
        add<3>(ids, all, high);
        break;
      default:
        break;
    }
    const std::int32_t norms[gpu::walk_width] = {low_norms_.x,  low_norms_.y,  low_norms_.z,
                                                 low_norms_.w,  high_norms_.x, high_norms_.y,
                                                 high_norms_.z, high_norms_.w};
#pragma unroll
    for (int j = 0; j < gpu::walk_width; ++j) {
      const std::uint32_t sum = j % 2 == 0 ? all[j / 2] - (high[j / 2] << 16) : high[j / 2];
      out[j] = norms[j] - static_cast<std::int32_t>(sum << 7);
    }
  }

 private:
  template <int lines>
  __device__ void add(uint4 id, std::uint32_t (&all)[4], std::uint32_t (&high)[4]) const {
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
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      std::uint32_t sum = weights[0][p];
#pragma unroll
      for (int k = 1; k < lines; ++k) {
        sum += weights[k][p];
      }
      all[p] += sum;
      high[p] += sum >> 16;
    }
  }

  const std::uint16_t* weights_;
  std::uint32_t descriptors_;
  int4 low_norms_;
  int4 high_norms_;
};

/// The brute-force kernel of gpu/cuda_search.cu: a block has 128 rows and one line of 256 neurons,
/// the line outermost in the grid; a warp takes a row, a lane eight neurons.
__global__ void __launch_bounds__(block_threads, 4)
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
__global__ void argmin_of_rows_kernel(const Product* products, const float* norms,
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
__global__ void argmin_of_columns_kernel(const Product* products, const float* norms,
                                         std::uint32_t neurons, std::uint32_t rows,
                                         std::uint32_t row_blocks, unsigned long long* best) {
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

// --- what runs them

class CudaPeers final : public GpuPeers {
 public:
  CudaPeers(gpu::MapShape shape, const gpu::Cells& cells, const Articles& rows)
      : shape_(shape),
        account_(free_bytes()),
        offsets_(rows.offsets),
        row_offsets_(account_, rows.offsets.size(), "the rows' offsets"),
        descriptors_(account_, rows.descriptors.size(), "the rows' descriptors"),
        best_(account_, rows.size(), "the rows' best"),
        planes_(account_, shape.descriptors * shape.neurons(), "the planes"),
        norms_(account_, padded_neurons(), "the norms"),
        float_norms_(account_, shape.neurons(), "the norms"),
        cusparse_(load_cusparse(no_cusparse_)) {
    upload(row_offsets_, rows.offsets);
    upload(descriptors_, rows.descriptors);
    group(rows);
    std::vector<std::int32_t> norms(padded_neurons(), gpu::padded_norm);
    std::vector<float> float_norms(shape.neurons(), FLT_MAX);
    for (std::size_t i = 0; i < shape.neurons(); ++i) {
      if (cells.vacant[i] == 0) {
        norms[i] = cells.norm[i];
        float_norms[i] = static_cast<float>(static_cast<double>(cells.square_sum[i]) /
                                            (double{gpu::weight_one} * gpu::weight_one));
      }
    }
    upload(norms_, norms);
    upload(float_norms_, float_norms);
  }

  void put_planes(gpu::DescriptorId first, std::span<const std::uint16_t> planes) override {
    gpu::copy_to_device(planes_.data() + first * shape_.neurons(), planes.data(), planes.size(),
                        stream_.view());
    stream_.view().synchronize();
  }

  [[nodiscard]] std::string why_not(Peer peer) const override {
    return is_exact(peer) || cusparse_ != nullptr ? "" : "cuSPARSE: " + no_cusparse_;
  }

  [[nodiscard]] PeerRun run(Peer peer, std::size_t rows) override {
    best_.fill_bytes(0xFF, stream_.view());
    PeerRun result;
    switch (peer) {
      case Peer::node_major:
        result.seconds = run_node_major(rows);
        break;
      case Peer::brute_force_node_major:
        result.seconds = run_brute_force(rows);
        break;
      case Peer::cusparse_rows_fp32:
        result.seconds = run_cusparse<float>(true, rows);
        break;
      case Peer::cusparse_rows_fp16:
        result.seconds = run_cusparse<__half>(true, rows);
        break;
      case Peer::cusparse_columns_fp32:
        result.seconds = run_cusparse<float>(false, rows);
        break;
      case Peer::cusparse_columns_fp16:
        result.seconds = run_cusparse<__half>(false, rows);
        break;
    }
    std::vector<unsigned long long> keys(rows);
    gpu::copy_to_host(keys.data(), best_.data(), rows, stream_.view());
    stream_.view().synchronize();
    result.bmu.resize(rows);
    std::transform(keys.begin(), keys.end(), result.bmu.begin(),
                   [](unsigned long long key) { return gpu::neuron_of(key); });
    return result;
  }

 private:
  [[nodiscard]] static std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total));
    return free;
  }
  [[nodiscard]] std::size_t padded_neurons() const {
    return (shape_.neurons() + line_neurons - 1) / line_neurons * line_neurons;
  }
  template <class T>
  void upload(const DeviceBuffer<T>& to, const std::vector<T>& from) {
    gpu::copy_to_device(to.data(), from.data(), from.size(), stream_.view());
    stream_.view().synchronize();
  }

  /// Descriptors four by four, as the brute-force kernel takes them; it may fetch one group more.
  void group(const Articles& rows) {
    std::vector<gpu::RowPlace> places(rows.size());
    std::vector<std::uint32_t> ids;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      places[r] = {static_cast<std::uint32_t>(ids.size() / 4),
                   rows.offsets[r + 1] - rows.offsets[r]};
      ids.insert(ids.end(), rows.descriptors.begin() + rows.offsets[r],
                 rows.descriptors.begin() + rows.offsets[r + 1]);
      ids.resize((ids.size() + 3) / 4 * 4);
    }
    ids.resize(ids.size() + 4);
    groups_ = DeviceBuffer<uint4>(account_, ids.size() / 4, "the rows' groups");
    places_ = DeviceBuffer<gpu::RowPlace>(account_, places.size(), "the rows' places");
    check(
        cudaMemcpy(groups_.data(), ids.data(), ids.size() * sizeof ids[0], cudaMemcpyHostToDevice));
    upload(places_, places);
  }

  /// Seconds of the device's time that what is enqueued takes.
  template <class Enqueue>
  [[nodiscard]] double timed(const Enqueue& enqueue) {
    stream_.view().record(begun_.view());
    enqueue();
    stream_.view().record(ended_.view());
    ended_.view().synchronize();
    return ended_.view().seconds_since(begun_.view());
  }

  template <class Weight>
  void lay_out_by_rows(Weight* out) {
    constexpr unsigned blocks = 4096;
    convert_kernel<<<blocks, block_threads, 0, stream_.view().value()>>>(planes_.data(),
                                                                         planes_.size(), out);
    check_launch();
  }
  template <class Weight>
  void lay_out_by_columns(Weight* out) {
    const auto neurons = static_cast<std::uint32_t>(shape_.neurons());
    const unsigned across = blocks_of(neurons, square);
    const unsigned down = blocks_of(shape_.descriptors, square);
    transpose_kernel<<<across * down, dim3(square, 8), 0, stream_.view().value()>>>(
        planes_.data(), shape_.descriptors, neurons, across, out);
    check_launch();
  }

  /// The codebook node-major, whole lines of neurons; those past the last have weight 0.
  [[nodiscard]] DeviceBuffer<std::uint16_t> node_major_weights() {
    DeviceBuffer<std::uint16_t> weights(account_, padded_neurons() * shape_.descriptors,
                                        "a node-major codebook");
    weights.fill_bytes(0, stream_.view());
    lay_out_by_columns(weights.data());
    return weights;
  }
  [[nodiscard]] NodeMajorBook node_major_book(const DeviceBuffer<std::uint16_t>& weights) const {
    return {weights.data(), norms_.data(), shape_.descriptors,
            static_cast<std::uint32_t>(shape_.neurons())};
  }

  [[nodiscard]] double run_node_major(std::size_t rows) {
    const auto weights = node_major_weights();
    const auto launch = [&](std::size_t count) {
      node_major_kernel<<<blocks_of(count, block_warps), block_threads, 0,
                          stream_.view().value()>>>(
          node_major_book(weights),
          {row_offsets_.data(), descriptors_.data(), static_cast<std::uint32_t>(count)},
          best_.data());
      check_launch();
    };
    launch(std::min(rows, warm_rows));
    return timed([&] { launch(rows); });
  }

  [[nodiscard]] double run_brute_force(std::size_t rows) {
    const auto weights = node_major_weights();
    check(cudaFuncSetAttribute(brute_node_major_kernel,
                               cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxL1));
    const auto launch = [&](std::size_t count) {
      const std::uint32_t row_blocks = blocks_of(count, search_rows);
      const auto lines = static_cast<std::uint32_t>(padded_neurons() / line_neurons);
      if (std::size_t{row_blocks} * lines > INT_MAX) {
        throw std::runtime_error("there are more rows than one launch takes; take fewer");
      }
      brute_node_major_kernel<<<row_blocks * lines, block_threads, 0, stream_.view().value()>>>(
          node_major_book(weights), places_.data(), groups_.data(),
          static_cast<std::uint32_t>(count), row_blocks, best_.data());
      check_launch();
    };
    launch(std::min(rows, warm_rows));
    best_.fill_bytes(0xFF, stream_.view());
    return timed([&] { launch(rows); });
  }

  /// Rows whose products fit, as a matrix of their own.
  struct Batch {
    std::size_t first_row;
    std::size_t first_offset;
    std::size_t first_column;
    SparseRows rows;
  };

  template <class Weight>
  [[nodiscard]] double run_cusparse(bool by_rows, std::size_t count) {
    const std::size_t neurons = shape_.neurons();
    const DeviceBuffer<Weight> weights(account_, planes_.size(), "a codebook for cuSPARSE");
    by_rows ? lay_out_by_rows(weights.data()) : lay_out_by_columns(weights.data());
    const std::size_t room = std::min(most_product_bytes, account_.left_bytes() / 2);
    const std::size_t most = std::clamp<std::size_t>(room / (neurons * sizeof(Weight)), 1, count);
    const DeviceBuffer<Weight> products(account_, most * neurons, "cuSPARSE's products");

    // Each batch's arrays begin on a boundary of 16 bytes.
    const auto padded = [](std::size_t values) { return (values + 3) / 4 * 4; };
    std::vector<std::uint32_t> offsets;
    std::vector<Batch> batches;
    std::uint32_t most_nonzeros = 0;
    std::size_t nonzeros = 0;
    for (std::size_t first = 0; first < count; first += most) {
      const std::size_t end = std::min(count, first + most);
      const std::uint32_t base = offsets_[first];
      batches.push_back({.first_row = first,
                         .first_offset = offsets.size(),
                         .first_column = nonzeros,
                         .rows = {.rows = static_cast<std::uint32_t>(end - first),
                                  .nonzeros = offsets_[end] - base}});
      for (std::size_t r = first; r <= end; ++r) {
        offsets.push_back(offsets_[r] - base);
      }
      offsets.resize(padded(offsets.size()));
      nonzeros = padded(nonzeros + batches.back().rows.nonzeros);
      most_nonzeros = std::max(most_nonzeros, batches.back().rows.nonzeros);
    }
    const DeviceBuffer<std::uint32_t> all_offsets(account_, offsets.size(), "the batches' offsets");
    upload(all_offsets, offsets);
    const DeviceBuffer<std::uint32_t> all_columns(account_, nonzeros, "the batches' columns");
    const DeviceBuffer<Weight> ones(account_, most_nonzeros, "cuSPARSE's ones");
    upload(ones, std::vector<Weight>(most_nonzeros, Weight(1.0F)));
    for (Batch& batch : batches) {
      batch.rows.offsets = all_offsets.data() + batch.first_offset;
      batch.rows.columns = all_columns.data() + batch.first_column;
      batch.rows.ones = ones.data();
      check(cudaMemcpyAsync(batch.rows.columns, descriptors_.data() + offsets_[batch.first_row],
                            batch.rows.nonzeros * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice,
                            stream_.view().value()));
    }

    const DenseCodebook book{.descriptors = shape_.descriptors,
                             .neurons = static_cast<std::uint32_t>(neurons),
                             .by_rows = by_rows,
                             .half = sizeof(Weight) == sizeof(__half),
                             .weights = weights.data(),
                             .products = products.data()};
    const int algorithm = quickest(batches.front().rows, book);
    std::size_t scratch_bytes = 1;
    for (const Batch& batch : batches) {
      scratch_bytes =
          std::max(scratch_bytes, cusparse_->scratch_bytes(batch.rows, book, algorithm));
    }
    const DeviceBuffer<std::byte> scratch(account_, scratch_bytes, "cuSPARSE's scratch");
    return timed([&] {
      for (const Batch& batch : batches) {
        cusparse_->multiply(batch.rows, book, algorithm, scratch.data(), stream_.view());
        find_least(products.data(), batch, by_rows);
      }
    });
  }

  /// Of cuSPARSE's algorithms the one that takes the least time for a batch.
  [[nodiscard]] int quickest(const SparseRows& rows, const DenseCodebook& book) {
    int best = -1;
    double least = std::numeric_limits<double>::infinity();
    std::string refusal;
    for (int algorithm = 0; algorithm < Cusparse::algorithms; ++algorithm) {
      try {
        const DeviceBuffer<std::byte> scratch(
            account_, std::max<std::size_t>(1, cusparse_->scratch_bytes(rows, book, algorithm)),
            "cuSPARSE's scratch");
        const auto multiply = [&] {
          cusparse_->multiply(rows, book, algorithm, scratch.data(), stream_.view());
        };
        multiply();
        if (const double seconds = timed(multiply); seconds < least) {
          least = seconds;
          best = algorithm;
        }
      } catch (const gpu::CudaError&) {
        throw;
      } catch (const std::runtime_error& error) {
        refusal = error.what();
      }
    }
    if (best < 0) {
      throw std::runtime_error(refusal);
    }
    return best;
  }

  template <class Weight>
  void find_least(const Weight* products, const Batch& batch, bool by_rows) {
    const auto neurons = static_cast<std::uint32_t>(shape_.neurons());
    const cudaStream_t stream = stream_.view().value();
    unsigned long long* const best = best_.data() + batch.first_row;
    constexpr int width = 16 / sizeof(Weight);
    if (!by_rows) {
      const std::uint32_t row_blocks = blocks_of(batch.rows.rows, block_threads);
      argmin_of_columns_kernel<<<row_blocks * blocks_of(neurons, column_neurons), block_threads, 0,
                                 stream>>>(products, float_norms_.data(), neurons, batch.rows.rows,
                                           row_blocks, best);
    } else if (neurons % width == 0) {
      argmin_of_rows_kernel<Weight, width><<<batch.rows.rows, block_threads, 0, stream>>>(
          products, float_norms_.data(), neurons, best);
    } else {
      argmin_of_rows_kernel<Weight, 1><<<batch.rows.rows, block_threads, 0, stream>>>(
          products, float_norms_.data(), neurons, best);
    }
    check_launch();
  }

  static constexpr std::size_t warm_rows = 4096;

  gpu::MapShape shape_;
  gpu::MemoryAccount account_;
  gpu::Stream stream_;
  gpu::Event begun_{gpu::Event::Kind::timing};
  gpu::Event ended_{gpu::Event::Kind::timing};
  std::vector<std::uint32_t> offsets_;
  DeviceBuffer<std::uint32_t> row_offsets_;
  DeviceBuffer<std::uint32_t> descriptors_;
  DeviceBuffer<unsigned long long> best_;
  DeviceBuffer<std::uint16_t> planes_;  // [descriptor][neuron]
  DeviceBuffer<std::int32_t> norms_;    // of whole lines
  DeviceBuffer<float> float_norms_;
  DeviceBuffer<uint4> groups_;
  DeviceBuffer<gpu::RowPlace> places_;
  std::string no_cusparse_;
  std::unique_ptr<Cusparse> cusparse_;
};

void require_gpu() {
  if (gpu::cuda_devices().empty()) {
    throw std::runtime_error("there is no GPU to measure: " + gpu::cuda_unavailable_reason());
  }
  check(cudaSetDevice(0));
}

}  // namespace

GpuCeilings measure_gpu_ceilings() {
  require_gpu();
  constexpr int loads = 20'000;
  constexpr int copies = 8;
  constexpr int repeats = 5;
  constexpr unsigned threads = 1024;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes));
  const std::size_t copied = std::min(std::size_t{2} << 30, free_bytes / 4);
  gpu::MemoryAccount account(free_bytes);
  const gpu::Stream stream;
  const gpu::Event begun(gpu::Event::Kind::timing);
  const gpu::Event ended(gpu::Event::Kind::timing);
  const DeviceBuffer<uint4> table(account, table_rows * row_words, "the cached table");
  const DeviceBuffer<std::uint32_t> sink(account, 1, "a sink");
  const DeviceBuffer<std::byte> from(account, copied, "what is copied");
  const DeviceBuffer<std::byte> to(account, copied, "the copy");
  table.fill_bytes(0, stream.view());
  from.fill_bytes(1, stream.view());
  check(cudaFuncSetAttribute(cached_reads_kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxL1));
  const auto seconds_of = [&](const auto& enqueue) {
    enqueue();  // warm
    std::vector<double> seconds;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      stream.view().record(begun.view());
      enqueue();
      stream.view().record(ended.view());
      ended.view().synchronize();
      seconds.push_back(ended.view().seconds_since(begun.view()));
    }
    return *std::min_element(seconds.begin(), seconds.end());  // a ceiling is the best there is
  };
  const auto blocks = static_cast<unsigned>(properties.multiProcessorCount);
  const double reading = seconds_of([&] {
    cached_reads_kernel<<<blocks, threads, 0, stream.view().value()>>>(table.data(), loads,
                                                                       sink.data());
    check_launch();
  });
  const double copying = seconds_of([&] {
    for (int i = 0; i < copies; ++i) {
      check(cudaMemcpyAsync(to.data(), from.data(), copied, cudaMemcpyDeviceToDevice,
                            stream.view().value()));
    }
  });
  const double read_bytes =
      static_cast<double>(blocks) * threads * loads * static_cast<double>(sizeof(uint4));
  return {.cached_weights_a_second = read_bytes / 2 / reading,
          .copied_bytes_a_second = 2.0 * copies * static_cast<double>(copied) / copying};
}

std::unique_ptr<GpuPeers> make_gpu_peers(gpu::MapShape shape, const gpu::Cells& cells,
                                         const Articles& rows) {
  require_gpu();
  return std::make_unique<CudaPeers>(shape, cells, rows);
}

}  // namespace somatlas::tools::bench
