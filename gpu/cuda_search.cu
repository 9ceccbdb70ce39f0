// The search of a tile on the device: the rows in the order of likeness, then down the tree or by
// brute force. Brute force has the L1 as its stage: the 256 rows of a block share descriptors; the
// block walks them over one line of 256 neurons, and the line is outermost in the grid, so that its
// weights stay in the L2. A warp takes a row, a lane eight neurons.
#include "gpu/cuda_search.cuh"

#include <algorithm>
#include <bit>
#include <climits>
#include <stdexcept>
#include <string>

#include "gpu/contract.h"
#include "gpu/cuda_sort.cuh"
#include "gpu/cuda_walk.cuh"

namespace somatlas::gpu {
namespace {

constexpr unsigned block_threads = 256;
// A block of the search and the rows it walks. Larger blocks, of up to 1,024 threads and rows, were
// no faster on an H200.
constexpr unsigned search_threads = 256;
constexpr unsigned search_blocks = 1024 / search_threads;  // on a multiprocessor
constexpr unsigned search_warps = search_threads / 32;
constexpr std::uint32_t search_rows = 256;
constexpr unsigned long long no_key = ~0ULL;

/// A number that like rows have near one another: the old BMU's place in the tree, or, behind all
/// places, the rarest descriptor (ids go by falling frequency). It decides the order of work, never
/// a result.
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
  const std::uint32_t places = book.super_count * line_weights;
  keys[row] = old < book.neuron_count
                  ? static_cast<std::uint32_t>(tree_place(book.side, old))
                  : static_cast<std::uint32_t>(
                        min(std::uint64_t{places} + rarest, std::uint64_t{UINT32_MAX}));
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

/// Eight lanes a row: copies its descriptors to its groups, with the units of their bounds, and
/// lists it if its second BMU is wanted.
__global__ void gather_kernel(TileView tile, const std::uint8_t* units_of,
                              const std::uint32_t* order, const std::uint32_t* lengths,
                              const std::uint32_t* first_groups, RowPlace* places,
                              std::uint32_t* groups, std::uint8_t* units, unsigned long long* best,
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
        const std::uint32_t descriptor = k < length ? tile.descriptors[begin + k] : 0;
        groups[std::size_t{first} * 4 + k] = descriptor;
        units[std::size_t{first} * 4 + k] = k < length ? units_of[descriptor] : 0;
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

/// A row of more descriptors is searched with all of them.
constexpr std::uint32_t most_chosen = 32;

/// What a warp fetches of a row before it takes it, each part while the row before is searched: the
/// place, by it the descriptors, by these the bits of a super.
struct Upcoming {
  RowPlace place{0, UINT32_MAX};
  std::uint32_t descriptor = 0;  // the lane's
  uint2 bits{};                  // of its descriptor; none where it has none
  std::int32_t best = INT_MAX;   // the row's score so far
};

/// Of a row's descriptors those that have a weight in a super: their lines of words, and behind
/// these, from the next group on, the ones that are there in bytes.
struct Chosen {
  std::uint32_t words;
  std::uint32_t bytes;
  [[nodiscard]] __device__ std::uint32_t word_groups() const { return (words + 3) / 4; }
};

/// Chooses of a descriptor a lane. The others need not be fetched, and they are the rare ones,
/// which no L1 holds. bits: the super's. Looking for each block of the super instead fetches a
/// third less and was no quicker.
[[nodiscard]] __device__ Chosen choose(uint4* chosen, std::uint32_t descriptor, uint2 bits) {
  const bool in_bytes = (bits.y >> descriptor % 32 & 1) != 0;
  const bool kept = (bits.x >> descriptor % 32 & 1) != 0;
  const std::uint32_t words = __ballot_sync(0xFFFF'FFFFU, kept && !in_bytes);
  const std::uint32_t bytes = __ballot_sync(0xFFFF'FFFFU, in_bytes);
  const Chosen result{static_cast<std::uint32_t>(__popc(words)),
                      static_cast<std::uint32_t>(__popc(bytes))};
  const std::uint32_t below = (1U << threadIdx.x % 32) - 1;
  __syncwarp();  // the row before has been read
  if (kept) {
    const std::uint32_t at =
        in_bytes ? result.word_groups() * 4 + __popc(bytes & below) : __popc(words & below);
    reinterpret_cast<std::uint32_t*>(chosen)[at] = descriptor;
  }
  __syncwarp();
  return result;
}

/// A pointer into shared memory whose address stays in a register: the compiler would make it anew
/// for every row.
[[nodiscard]] __device__ uint4* kept_address(uint4* pointer) {
  std::uint32_t address;
  asm("mov.b32 %0, %1;"
      : "=r"(address)
      : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer))));
  return static_cast<uint4*>(__cvta_shared_to_generic(address));
}

template <bool second>
__global__ void __launch_bounds__(search_threads, search_blocks)
    search_kernel(CodebookView book, SearchRows rows, std::uint32_t row_blocks,
                  std::uint32_t first_line) {
  // Words and bytes may each leave a group half empty, and one is read ahead.
  __shared__ uint4 chosen[search_warps][most_chosen / 4 + 2];
  const std::uint32_t line = first_line + blockIdx.x / row_blocks;
  const std::uint32_t begin = (blockIdx.x % row_blocks) * search_rows;
  const std::uint32_t end = min(begin + search_rows, rows.count);
  const std::uint32_t lane = threadIdx.x % 32;
  const LineWalk walk = LineWalk(book.neurons, book.descriptors, line * 32 + lane).for_many();
  const uint2* const present = kept(book.present + std::size_t{line} * book.present_words());
  const uint2* const bytes = kept(reinterpret_cast<const uint2*>(book.byte_lines) +
                                  std::size_t{line} * book.descriptors * 32 + lane);
  const std::uint32_t* const lane_groups =
      reinterpret_cast<const std::uint32_t*>(rows.groups) + lane;
  uint4* const own = kept_address(chosen[threadIdx.x / 32]);

  const auto row_at = [&](std::uint32_t i) { return second ? rows.listed[i] : i; };
  const auto fetch_place = [&](std::uint32_t i, Upcoming& row) {
    row.place = i < end ? rows.places[row_at(i)] : RowPlace{0, UINT32_MAX};
  };
  const auto fetch_descriptor = [&](Upcoming& row) {
    const bool given = row.place.length <= most_chosen && lane < row.place.length;
    row.descriptor = given ? fetch_at<4>(lane_groups, row.place.first_group) : 0;
  };
  const auto fetch_rest = [&](std::uint32_t i, Upcoming& row) {
    const bool given = row.place.length <= most_chosen && lane < row.place.length;
    row.bits = given ? fetch_at<1>(present, row.descriptor / 32) : make_uint2(0, 0);
    // The best so far only falls, so an old value costs an atomic at most.
    row.best = i < end ? score_of(__ldcg(&rows.best[row_at(i)])) : INT_MAX;
  };
  const std::uint32_t start = begin + threadIdx.x / 32;
  Upcoming first;
  Upcoming next;
  Upcoming last;
  fetch_place(start, first);
  fetch_place(start + search_warps, next);
  fetch_place(start + 2 * search_warps, last);
  fetch_descriptor(first);
  fetch_descriptor(next);
  fetch_rest(start, first);
  for (std::uint32_t i = start; i < end; i += search_warps) {
    const std::uint32_t at = row_at(i);
    const Upcoming row = first;
    first = next;
    next = last;
    fetch_place(i + 3 * search_warps, last);
    fetch_descriptor(next);
    fetch_rest(i + search_warps, first);
    const std::uint32_t length = row.place.length;
    if (length == UINT32_MAX) {
      continue;
    }
    std::int32_t scores[walk_width];
    if (length <= most_chosen) {
      const Chosen kept = choose(own, row.descriptor, row.bits);
      walk.scores(own, kept.words, bytes, own + kept.word_groups(), kept.bytes, scores);
    } else {
      walk.scores(rows.groups + row.place.first_group, length, scores);
    }
    if constexpr (second) {
      leave_out(scores, walk.first_node(), tree_place(book.side, neuron_of(rows.exclude[at])));
    }
    const std::int32_t lowest = least_of(scores);
    const std::int32_t best = __reduce_min_sync(0xFFFF'FFFFU, lowest);
    if (best == INT_MAX || best > row.best) {
      continue;
    }
    const std::uint32_t neuron = __reduce_min_sync(
        0xFFFF'FFFFU,
        lowest == best ? first_neuron_at(scores, best, book.side, walk.first_node()) : no_neuron);
    if (lane == 0) {
      atomicMin(&rows.best[at], rank_key(best, neuron));
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

void launch_brute_search(CodebookView book, SearchRows rows, StreamView stream) {
  const auto launch = [&](auto kernel) {
    // No more shared memory than its blocks take: the rest is the L1.
    constexpr int shared_percent = 4;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                               shared_percent));
    const std::uint32_t row_blocks = blocks_of(rows.count, search_rows);
    // A grid has fewer than 2^31 blocks; past that the lines are taken in several launches.
    const std::uint32_t step = std::max<std::uint32_t>(1, std::uint32_t{INT_MAX} / row_blocks);
    for (std::uint32_t line = 0; line < book.super_count; line += step) {
      const std::uint32_t blocks = std::min(step, book.super_count - line) * row_blocks;
      kernel<<<blocks, search_threads, 0, stream.value()>>>(book, rows, row_blocks, line);
      check_launch();
    }
  };
  launch(rows.exclude == nullptr ? search_kernel<false> : search_kernel<true>);
}

constexpr std::size_t max_rows = std::size_t{1} << 28;  // eight threads a row, in 32 bits
constexpr std::size_t word_arrays = 7;

[[nodiscard]] std::size_t most_groups(TileCapacity capacity) {
  return (capacity.descriptors + 3 * capacity.rows) / 4 + 1;
}

}  // namespace

std::size_t SearchScratch::bytes(TileCapacity capacity) {
  const std::size_t prepared = (word_arrays * capacity.rows + 1) * sizeof(std::uint32_t) +
                               most_groups(capacity) * (sizeof(uint4) + sizeof(std::uint32_t)) +
                               capacity.rows * (sizeof(RowPlace) + 2 * sizeof(unsigned long long));
  return 2 * prepared + sort_scratch_bytes(capacity.rows) + PruningChoice::bytes();
}

SearchScratch::SearchScratch(TileCapacity capacity, MemoryAccount& account)
    : sorting_(account, sort_scratch_bytes(capacity.rows), "the sort's scratch"),
      choice_(account),
      capacity_rows_(capacity.rows) {
  if (capacity.rows > max_rows) {
    throw std::length_error("a tile of " + std::to_string(capacity.rows) +
                            " rows is past the GPU's limit of " + std::to_string(max_rows) +
                            "; make smaller tiles");
  }
  for (Prepared& prepared : prepared_) {
    prepared.words = {account, word_arrays * capacity.rows + 1, "the rows' order"};
    prepared.groups = {account, most_groups(capacity), "the rows' sorted descriptors"};
    prepared.units = {account, most_groups(capacity), "the units of the rows' bounds"};
    prepared.places = {account, capacity.rows, "the rows' places"};
    prepared.best = {account, 2 * capacity.rows, "the rows' best"};
  }
}

void SearchScratch::prepare(CodebookView book, TileView tile, Prepared& prepared,
                            StreamView stream) {
  std::uint32_t* const words = prepared.words.data();
  SortRoom<std::uint32_t> keys{words, words + capacity_rows_};
  SortRoom<std::uint32_t> order{words + 2 * capacity_rows_, words + 3 * capacity_rows_};
  std::uint32_t* const lengths = words + 4 * capacity_rows_;
  std::uint32_t* const first_groups = words + 5 * capacity_rows_;
  std::uint32_t* const listed = words + 6 * capacity_rows_;
  std::uint32_t* const second_count = words + 7 * capacity_rows_;
  unsigned long long* const best = prepared.best.data();
  const std::span<std::byte> scratch(sorting_.data(), sorting_.size());
  const unsigned blocks = blocks_of(tile.rows);

  stream.wait(prepared.searched.view());
  likeness_kernel<<<blocks, block_threads, 0, stream.value()>>>(tile, book, keys.data, order.data,
                                                                lengths);
  check_launch();
  const std::uint64_t most_key = std::uint64_t{book.super_count} * line_weights + book.descriptors;
  sort_pairs(keys, order, tile.rows, std::min(32, static_cast<int>(std::bit_width(most_key))),
             scratch, stream);
  group_kernel<<<blocks, block_threads, 0, stream.value()>>>(order.data, lengths, first_groups,
                                                             tile.rows);
  check_launch();
  exclusive_sum(first_groups, tile.rows, scratch, stream);
  check(cudaMemsetAsync(second_count, 0, sizeof(std::uint32_t), stream.value()));
  gather_kernel<<<blocks_of(std::size_t{tile.rows} * 8), block_threads, 0, stream.value()>>>(
      tile, book.units, order.data, lengths, first_groups, prepared.places.data(),
      reinterpret_cast<std::uint32_t*>(prepared.groups.data()),
      reinterpret_cast<std::uint8_t*>(prepared.units.data()), best, best + capacity_rows_, listed,
      second_count);
  check_launch();
  stream.record(prepared.made.view());
  prepared.order = order.data;
  prepared.rows = {.places = prepared.places.data(),
                   .groups = prepared.groups.data(),
                   .units = prepared.units.data(),
                   .starts = keys.data,
                   .listed = nullptr,
                   .exclude = nullptr,
                   .best = best,
                   .count = tile.rows};
}

void SearchScratch::search(CodebookView book, TileView tile, std::size_t seconds,
                           SearchMethod method, StreamView preparing, StreamView searching) {
  if (tile.rows == 0) {
    return;
  }
  Prepared& prepared = prepared_[next_];
  next_ = (next_ + 1) % prepared_.size();
  prepare(book, tile, prepared, preparing);
  searching.wait(prepared.made.view());

  SearchRows rows = prepared.rows;
  const bool prunes =
      method == SearchMethod::automatic ? choice_.prunes(book) : method == SearchMethod::pruned;
  PruningCount* const work = choice_.start(searching);
  const auto launch = [&] {
    prunes ? launch_pruned_search(book, rows, work, searching)
           : launch_brute_search(book, rows, searching);
  };
  launch();
  if (prunes) {
    choice_.finish(tile.rows, searching);
  }
  unsigned long long* const best = rows.best;
  unsigned long long* const second_best = best + capacity_rows_;
  if (seconds != 0) {
    rows.listed = prepared.words.data() + 6 * capacity_rows_;
    rows.exclude = best;
    rows.best = second_best;
    rows.count = static_cast<std::uint32_t>(seconds);
    launch();
  }
  place_kernel<<<blocks_of(tile.rows), block_threads, 0, searching.value()>>>(tile, prepared.order,
                                                                              best, second_best);
  check_launch();
  searching.record(prepared.searched.view());
}

}  // namespace somatlas::gpu
