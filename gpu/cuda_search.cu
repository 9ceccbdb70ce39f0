// Brute-force search with the L1 as the stage. Rows are sorted by likeness, so that the 128 rows of
// a block share descriptors; the block walks them over one chunk of 256 neurons, and the chunk is
// outermost in the grid, so that its lines stay in the L2. A warp takes a row, a lane eight
// neurons. Always holds: four weights of at most 16,383 are added in 16-bit lanes before they are
// widened, so nothing overflows; candidates are compared by (score, neuron).
#include "gpu/cuda_search.cuh"

#include <algorithm>
#include <climits>
#include <stdexcept>
#include <string>

#include "gpu/contract.h"
#include "gpu/cuda_sort.cuh"

namespace somatlas::gpu {
namespace {

constexpr unsigned block_threads = 256;
// A block of the search and the rows it walks. Larger blocks, of up to 1,024 threads and rows, were
// no faster on an H200.
constexpr unsigned search_threads = 256;
constexpr unsigned search_blocks = 1024 / search_threads;  // on a multiprocessor
constexpr unsigned search_warps = search_threads / 32;
constexpr std::uint32_t search_rows = 128;
constexpr std::uint32_t lane_neurons = 8;
constexpr std::uint32_t lane_quads = chunk_neurons / lane_neurons;  // 16-byte words a line
constexpr unsigned long long no_key = ~0ULL;
constexpr int key_bits = 32;

/// The bits of a number below 2^16, each with a zero before it.
[[nodiscard]] __device__ std::uint32_t spread_bits(std::uint32_t x) {
  x &= 0xFFFFU;
  x = (x | (x << 8)) & 0x00FF'00FFU;
  x = (x | (x << 4)) & 0x0F0F'0F0FU;
  x = (x | (x << 2)) & 0x3333'3333U;
  return (x | (x << 1)) & 0x5555'5555U;
}

/// A number that like rows have near one another: the old BMU along a Z-order curve, or the rarest
/// descriptor (ids go by falling frequency). It decides the order of work, never a result.
__global__ void likeness_kernel(TileView tile, CodebookView book, std::uint32_t* keys,
                                std::uint32_t* rows, std::uint32_t* lengths) {
  const std::uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= tile.rows) {
    return;
  }
  const std::uint32_t begin = tile.offsets[row];
  const std::uint32_t end = tile.offsets[row + 1];
  std::uint32_t rarest = 0;
  for (std::uint32_t i = begin; i < end; ++i) {
    rarest = max(rarest, tile.descriptors[i]);
  }
  std::uint32_t fault = 0;
  if (begin != end && rarest >= book.descriptors) {
    fault |= tile_fault::descriptor_out_of_range;
  }
  if (end - begin > max_descriptors) {
    fault |= tile_fault::row_too_long;
  }
  if (fault != 0) {
    atomicOr(tile.fault, fault);
  }
  const std::uint32_t old = tile.bmu[row];
  const bool placed = old < book.neurons;
  keys[row] = placed ? spread_bits(old % book.side) | (spread_bits(old / book.side) << 1) : rarest;
  rows[row] = row;
  lengths[row] = fault != 0 ? UINT32_MAX : end - begin;
}

/// Groups of four that each row needs, in the sorted order.
__global__ void group_kernel(const std::uint32_t* order, const std::uint32_t* lengths,
                             std::uint32_t* groups, std::uint32_t rows) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) {
    const std::uint32_t length = lengths[order[i]];
    groups[i] = length == UINT32_MAX ? 0 : (length + 3) / 4;
  }
}

/// Eight lanes a row: copies its descriptors to its groups, and lists it if its second BMU is
/// wanted.
__global__ void gather_kernel(TileView tile, const std::uint32_t* order,
                              const std::uint32_t* lengths, const std::uint32_t* first_groups,
                              RowPlace* places, std::uint32_t* groups, unsigned long long* best,
                              unsigned long long* second_best, std::uint32_t* seconds,
                              std::uint32_t* second_count) {
  const std::uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
  const std::uint32_t part = threadIdx.x % 8;
  bool wants_second = false;
  if (i < tile.rows) {
    const std::uint32_t row = order[i];
    const std::uint32_t length = lengths[row];
    const std::uint32_t begin = tile.offsets[row];
    const std::uint32_t first = first_groups[i];
    if (length != UINT32_MAX) {
      for (std::uint32_t k = part; k < (length + 3) / 4 * 4; k += 8) {
        groups[std::size_t{first} * 4 + k] = k < length ? tile.descriptors[begin + k] : 0;
      }
    }
    if (part == 0) {
      places[i] = {first, length};
      best[i] = no_key;
      second_best[i] = no_key;
      wants_second = length != UINT32_MAX && (tile.use[row] & row_use::second) != 0;
    }
  }
  const std::uint32_t wanting = __ballot_sync(0xFFFF'FFFFU, wants_second);
  std::uint32_t slot = 0;
  if (threadIdx.x % 32 == 0 && wanting != 0) {
    slot = atomicAdd(second_count, __popc(wanting));
  }
  slot = __shfl_sync(0xFFFF'FFFFU, slot, 0);
  if (wants_second) {
    seconds[slot + __popc(wanting & ((1U << (threadIdx.x % 32)) - 1))] = i;
  }
}

/// Adds up to four lines of 16-bit weights to the sums of eight neurons. all[p] sums both halves of
/// a pair as one 32-bit number, wrapping; high[p] sums the upper halves alone; the lower sum is
/// their difference.
template <int lines>
__device__ void add_lines(const uint4* line, uint4 id, std::uint32_t (&all)[4],
                          std::uint32_t (&high)[4]) {
  const std::uint32_t ids[4] = {id.x, id.y, id.z, id.w};
  uint4 weights[lines];
#pragma unroll
  for (int k = 0; k < lines; ++k) {
    weights[k] = __ldg(line + std::size_t{ids[k]} * lane_quads);
  }
  std::uint32_t sum[4] = {weights[0].x, weights[0].y, weights[0].z, weights[0].w};
#pragma unroll
  for (int k = 1; k < lines; ++k) {
    sum[0] += weights[k].x;
    sum[1] += weights[k].y;
    sum[2] += weights[k].z;
    sum[3] += weights[k].w;
  }
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    all[p] += sum[p];
    high[p] += sum[p] >> 16;
  }
}

struct SearchRows {
  const RowPlace* places;
  const uint4* groups;
  const std::uint32_t* listed;        // the rows to search, or null for all
  const unsigned long long* exclude;  // the key whose neuron is left out, or null
  unsigned long long* best;
  std::uint32_t count;
};

template <bool second>
__global__ void __launch_bounds__(search_threads, search_blocks)
    search_kernel(CodebookView book, SearchRows rows, std::uint32_t row_blocks,
                  std::uint32_t first_chunk) {
  const std::uint32_t chunk = first_chunk + blockIdx.x / row_blocks;
  const std::uint32_t begin = (blockIdx.x % row_blocks) * search_rows;
  const std::uint32_t end = min(begin + search_rows, rows.count);
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t first_neuron = chunk * chunk_neurons + lane * lane_neurons;
  const uint4* const line = reinterpret_cast<const uint4*>(book.weights) +
                            std::size_t{chunk} * book.descriptors * lane_quads + lane;

  std::int32_t norms[lane_neurons];
  bool any_unusable = false;
#pragma unroll
  for (int j = 0; j < int{lane_neurons}; ++j) {
    norms[j] = book.norms[first_neuron + j];
    any_unusable = any_unusable || norms[j] == padded_norm;
  }
  any_unusable = __any_sync(0xFFFF'FFFFU, any_unusable);

  // A row's place is fetched while the row before it is searched.
  const auto row_at = [&](std::uint32_t i) { return second ? rows.listed[i] : i; };
  const std::uint32_t start = begin + threadIdx.x / 32;
  RowPlace upcoming{};
  if (start < end) {
    upcoming = rows.places[row_at(start)];
  }
  for (std::uint32_t i = start; i < end; i += search_warps) {
    const std::uint32_t at = row_at(i);
    const RowPlace place = upcoming;
    if (i + search_warps < end) {
      upcoming = rows.places[row_at(i + search_warps)];
    }
    if (place.length == UINT32_MAX) {
      continue;
    }
    std::uint32_t all[4] = {};
    std::uint32_t high[4] = {};
    // Four descriptors are fetched while the four before them are added; the last fetch of a row
    // may be the next row's, or the spare group behind the last.
    const uint4* group = rows.groups + place.first_group;
    uint4 ids = __ldg(group);
    std::uint32_t left = place.length;
#pragma unroll 1
    for (; left >= 4; left -= 4) {
      const uint4 next = __ldg(++group);
      add_lines<4>(line, ids, all, high);
      ids = next;
    }
    switch (left) {
      case 1:
        add_lines<1>(line, ids, all, high);
        break;
      case 2:
        add_lines<2>(line, ids, all, high);
        break;
      case 3:
        add_lines<3>(line, ids, all, high);
        break;
      default:
        break;
    }
    std::int32_t scores[lane_neurons];
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      scores[2 * p] = norms[2 * p] - static_cast<std::int32_t>((all[p] - (high[p] << 16)) << 7);
      scores[2 * p + 1] = norms[2 * p + 1] - static_cast<std::int32_t>(high[p] << 7);
    }
    if (any_unusable) {
#pragma unroll
      for (int j = 0; j < int{lane_neurons}; ++j) {
        scores[j] = norms[j] == padded_norm ? INT_MAX : scores[j];
      }
    }
    if constexpr (second) {
      const std::uint32_t left_out = neuron_of(rows.exclude[at]) - first_neuron;
#pragma unroll
      for (int j = 0; j < int{lane_neurons}; ++j) {
        scores[j] = left_out == static_cast<std::uint32_t>(j) ? INT_MAX : scores[j];
      }
    }
    std::int32_t lowest = scores[0];
#pragma unroll
    for (int j = 1; j < int{lane_neurons}; ++j) {
      lowest = min(lowest, scores[j]);
    }
    const std::int32_t best = __reduce_min_sync(0xFFFF'FFFFU, lowest);
    const std::uint32_t holders = __ballot_sync(0xFFFF'FFFFU, lowest == best);
    if (best != INT_MAX && lane == static_cast<std::uint32_t>(__ffs(holders)) - 1) {
      std::uint32_t neuron = first_neuron;
#pragma unroll
      for (int j = int{lane_neurons} - 1; j > 0; --j) {
        neuron = scores[j] == best ? first_neuron + j : neuron;
      }
      neuron = scores[0] == best ? first_neuron : neuron;
      const unsigned long long key = rank_key(best, neuron);
      // The best so far only falls, so an old value read here costs an atomic at most.
      if (key < __ldcg(&rows.best[at])) {
        atomicMin(&rows.best[at], key);
      }
    }
  }
}

__global__ void place_kernel(TileView tile, const std::uint32_t* order,
                             const unsigned long long* best,
                             const unsigned long long* second_best) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < tile.rows) {
    const std::uint32_t row = order[i];
    tile.bmu[row] = neuron_of(best[i]);
    tile.score[row] = score_of(best[i]);
    tile.second[row] = neuron_of(second_best[i]);
  }
}

// What no row was written to reads as the contract of Backend::submit says.
static_assert(neuron_of(no_key) == no_neuron && score_of(no_key) == INT32_MAX);

[[nodiscard]] unsigned blocks_of(std::size_t items, std::size_t per_block = block_threads) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

template <bool second>
void launch_search(CodebookView book, SearchRows rows, StreamView stream) {
  // No shared memory: all of it as L1.
  check(cudaFuncSetAttribute(search_kernel<second>, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxL1));
  const std::uint32_t row_blocks = blocks_of(rows.count, search_rows);
  // A grid has fewer than 2^31 blocks; past that the chunks are taken in several launches.
  const std::uint32_t step = std::max<std::uint32_t>(1, std::uint32_t{INT_MAX} / row_blocks);
  for (std::uint32_t chunk = 0; chunk < book.chunks; chunk += step) {
    const std::uint32_t blocks = std::min(step, book.chunks - chunk) * row_blocks;
    search_kernel<second>
        <<<blocks, search_threads, 0, stream.value()>>>(book, rows, row_blocks, chunk);
    check_launch();
  }
}

constexpr std::size_t max_rows = std::size_t{1} << 28;  // eight threads a row, in 32 bits
constexpr std::size_t word_arrays = 7;

[[nodiscard]] std::size_t most_groups(TileCapacity capacity) {
  return (capacity.descriptors + 3 * capacity.rows) / 4 + 1;
}

}  // namespace

std::size_t SearchScratch::bytes(TileCapacity capacity) {
  return (word_arrays * capacity.rows + 1) * sizeof(std::uint32_t) +
         most_groups(capacity) * sizeof(uint4) +
         capacity.rows * (sizeof(RowPlace) + 2 * sizeof(unsigned long long)) +
         sort_scratch_bytes(capacity.rows);
}

SearchScratch::SearchScratch(TileCapacity capacity, MemoryAccount& account)
    : words_(account, word_arrays * capacity.rows + 1, "the rows' order"),
      groups_(account, most_groups(capacity), "the rows' sorted descriptors"),
      places_(account, capacity.rows, "the rows' places"),
      best_(account, 2 * capacity.rows, "the rows' best"),
      sorting_(account, sort_scratch_bytes(capacity.rows), "the sort's scratch"),
      rows_(capacity.rows) {
  if (capacity.rows > max_rows) {
    throw std::length_error("a tile of " + std::to_string(capacity.rows) +
                            " rows is past the GPU's limit of " + std::to_string(max_rows) +
                            "; make smaller tiles");
  }
}

void SearchScratch::search(CodebookView book, TileView tile, std::size_t seconds,
                           StreamView stream) {
  if (tile.rows == 0) {
    return;
  }
  SortRoom<std::uint32_t> keys{words_.data(), words_.data() + rows_};
  SortRoom<std::uint32_t> order{words_.data() + 2 * rows_, words_.data() + 3 * rows_};
  std::uint32_t* const lengths = words_.data() + 4 * rows_;
  std::uint32_t* const first_groups = words_.data() + 5 * rows_;
  std::uint32_t* const listed = words_.data() + 6 * rows_;
  std::uint32_t* const second_count = words_.data() + 7 * rows_;
  unsigned long long* const best = best_.data();
  unsigned long long* const second_best = best_.data() + rows_;
  const std::span<std::byte> scratch(sorting_.data(), sorting_.size());
  const unsigned blocks = blocks_of(tile.rows);

  likeness_kernel<<<blocks, block_threads, 0, stream.value()>>>(tile, book, keys.data, order.data,
                                                                lengths);
  check_launch();
  sort_pairs(keys, order, tile.rows, key_bits, scratch, stream);
  group_kernel<<<blocks, block_threads, 0, stream.value()>>>(order.data, lengths, first_groups,
                                                             tile.rows);
  check_launch();
  exclusive_sum(first_groups, tile.rows, scratch, stream);
  check(cudaMemsetAsync(second_count, 0, sizeof(std::uint32_t), stream.value()));
  gather_kernel<<<blocks_of(std::size_t{tile.rows} * 8), block_threads, 0, stream.value()>>>(
      tile, order.data, lengths, first_groups, places_.data(),
      reinterpret_cast<std::uint32_t*>(groups_.data()), best, second_best, listed, second_count);
  check_launch();

  launch_search<false>(book, {places_.data(), groups_.data(), nullptr, nullptr, best, tile.rows},
                       stream);
  if (seconds != 0) {
    launch_search<true>(book,
                        {places_.data(), groups_.data(), listed, best, second_best,
                         static_cast<std::uint32_t>(seconds)},
                        stream);
  }
  place_kernel<<<blocks, block_threads, 0, stream.value()>>>(tile, order.data, best, second_best);
  check_launch();
}

}  // namespace somatlas::gpu
