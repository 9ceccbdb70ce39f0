// A warp takes a row. It scores the super of the row's old BMU, or else the super of least bound;
// then the supers' bounds, eight a lane. What is not ruled out goes to a queue in shared memory,
// from which pairs of lanes take sixteen supers at once, bound their blocks, and queue those;
// sixteen blocks at once are scored. The best score found so far sharpens every later test. On a
// map of up to sixteen supers all blocks are bounded at once.
#include "gpu/cuda_pruned_search.cuh"

#include <algorithm>
#include <type_traits>

namespace somatlas::gpu {
namespace {

constexpr unsigned pruned_threads = 256;
// Blocks on a multiprocessor, by the registers that a search takes.
constexpr unsigned two_level_blocks = 4;
constexpr unsigned one_level_blocks = 4;
constexpr unsigned pruned_warps = pruned_threads / 32;
/// Rows that a block takes one after the other: like ones, which share lines in the L1. Kernels get
/// the number as an argument: where they know it, the compiler spills registers.
constexpr std::uint32_t two_level_rows = 16;
constexpr std::uint32_t one_level_rows = 32;
/// The rows that want a second BMU are few: a block takes one a warp, so that there are enough
/// blocks.
constexpr std::uint32_t second_rows = pruned_warps;
/// Nodes that a warp takes from a queue at once: a pair of lanes each.
constexpr std::uint32_t step_nodes = 16;
/// Before a push a queue holds less than a step, and a push adds at most eight a lane.
constexpr std::uint32_t queue_nodes = step_nodes + 32 * walk_width;
/// Up to this many supers all blocks are in one line, so the supers' own bounds are not looked at.
constexpr std::uint32_t supers_at_once = step_nodes;
/// A chunk has four blocks, which are 128 bytes of a line; eight lanes score it.
constexpr std::uint32_t chunk_neurons = 64;
constexpr std::uint32_t runs_a_chunk = chunk_neurons / walk_width;
constexpr std::uint32_t first_chunks = 32 / runs_a_chunk;
constexpr std::uint32_t all_lanes = 0xFFFF'FFFFU;

struct Queue {
  std::uint32_t nodes[queue_nodes];
  std::uint32_t taken;  // nodes, of all rows
};

/// One warp's search for one row; every member is the same in all lanes unless it says otherwise.
template <bool second, bool one_level, bool coarse>
class RowSearch {
 public:
  __device__ RowSearch(const CodebookView& book, const SearchRows& rows, Queue& supers,
                       Queue& blocks)
      : book_(book), rows_(rows), supers_(supers), blocks_(blocks), lane_(threadIdx.x % 32) {
    if (lane_ == 0) {
      blocks_.taken = 0;
      if constexpr (!one_level) {
        supers_.taken = 0;  // on one level all warps share it, and none takes from it
      }
    }
  }

  /// start: a place in the super to begin with, past all places where none is known. excluded: the
  /// place that may not win.
  [[nodiscard]] __device__ unsigned long long search(RowPlace place, std::size_t start,
                                                     std::size_t excluded) {
    place_ = place;
    excluded_ = excluded;
    best_score_ = INT_MAX;
    best_neuron_ = no_neuron;
    waiting_blocks_ = 0;
    if constexpr (one_level) {
      bound_all_blocks(start);
    } else {
      walk_supers(start);
    }
    if (waiting_blocks_ != 0) {
      score_blocks(0, waiting_blocks_);
    }
    return rank_key(best_score_, best_neuron_);
  }

  __device__ void add_work(PruningCount* work) const {
    if (lane_ == 0) {
      const std::uint32_t taken = blocks_.taken + (one_level ? 0 : supers_.taken);
      atomicAdd(&work->nodes, static_cast<unsigned long long>(taken));
    }
  }

 private:
  static constexpr std::uint32_t no_node = 0xFFFF'FFFFU;

  /// Whether a place was given to begin with.
  [[nodiscard]] __device__ bool is_place(std::size_t start) const {
    return start < std::size_t{book_.super_count} * line_weights;
  }

  /// Both levels; start as in search().
  __device__ void walk_supers(std::size_t start) {
    done_ = is_place(start) ? static_cast<std::uint32_t>(start / line_weights) : least_super();
    score(done_ * 32 + lane_);
    std::uint32_t waiting = 0;
    for (std::uint32_t line = 0; line < book_.supers.count; ++line) {
      std::int32_t bounds[walk_width];
      bound(book_.supers, line * 32 + lane_, bounds);
      waiting = push(supers_, waiting, bounds, (line * 32 + lane_) * walk_width, done_);
      for (; waiting >= step_nodes; waiting -= step_nodes) {
        bound_blocks(waiting - step_nodes, step_nodes);
      }
    }
    if (waiting != 0) {
      bound_blocks(0, waiting);
    }
  }

  /// One level. Four chunks are scored first, the old BMU's and those of least bounds, which leave
  /// few blocks open.
  __device__ void bound_all_blocks(std::size_t start) {
    std::int32_t bounds[walk_width];
    bound(book_.blocks, lane_, bounds);
    // A lane has two chunks of four blocks; INT_MAX: scored, or without a usable neuron.
    std::int32_t even = least_of<0, 4>(bounds);
    std::int32_t odd = least_of<4, 4>(bounds);
    const auto take = [&](std::uint32_t chunk) {
      even = chunk == lane_ * 2 ? INT_MAX : even;
      odd = chunk == lane_ * 2 + 1 ? INT_MAX : odd;
    };
    std::uint32_t mine = no_node;  // the chunk that this lane helps to score
    std::uint32_t known = 0;
    if (is_place(start)) {
      const auto chunk = static_cast<std::uint32_t>(start / chunk_neurons);
      take(chunk);
      mine = lane_ < runs_a_chunk ? chunk : mine;
      known = 1;
    }
#pragma unroll 1
    for (std::uint32_t k = known; k < first_chunks; ++k) {
      const std::int32_t least = min(even, odd);
      const std::int32_t lowest = __reduce_min_sync(all_lanes, least);
      if (lowest == INT_MAX) {
        break;
      }
      const std::uint32_t lane = __ffs(__ballot_sync(all_lanes, least == lowest)) - 1;
      const std::uint32_t is_odd = __ballot_sync(all_lanes, odd < even) >> lane & 1;
      const std::uint32_t chunk = lane * 2 + is_odd;
      take(chunk);
      mine = lane_ / runs_a_chunk == k ? chunk : mine;
    }
    done_ = 0;
    score(mine == no_node ? no_node : mine * runs_a_chunk + lane_ % runs_a_chunk);
    if (lane_ == 0) {
      blocks_.taken += first_chunks;  // a chunk costs no more than a block alone
    }
#pragma unroll
    for (int j = 0; j < walk_width; ++j) {
      bounds[j] = (j < 4 ? even : odd) == INT_MAX ? INT_MAX : bounds[j];
    }
    waiting_blocks_ = push(blocks_, 0, bounds, lane_ * walk_width, no_node);
    score_full_steps();
  }

  [[nodiscard]] __device__ std::uint32_t least_super() const {
    std::int32_t least = INT_MAX;
    std::uint32_t node = no_node;
    for (std::uint32_t line = 0; line < book_.supers.count; ++line) {
      std::int32_t bounds[walk_width];
      bound(book_.supers, line * 32 + lane_, bounds);
#pragma unroll
      for (int j = 0; j < walk_width; ++j) {
        if (bounds[j] < least) {
          least = bounds[j];
          node = (line * 32 + lane_) * walk_width + j;
        }
      }
    }
    const std::int32_t lowest = __reduce_min_sync(all_lanes, least);
    const std::uint32_t found = __reduce_min_sync(all_lanes, least == lowest ? node : no_node);
    return found < book_.super_count ? found : 0;  // where no neuron is usable, any will do
  }

  /// Bounds a run of eight nodes a lane.
  __device__ void bound(const BoundLines& table, std::uint32_t run,
                        std::int32_t (&bounds)[walk_width]) const {
    const uint4* const groups = rows_.groups + place_.first_group;
    if constexpr (coarse) {
      CoarseBoundWalk(table.coarse(), book_.descriptors, run)
          .bounds(groups, rows_.units + place_.first_group, place_.length, bounds);
    } else {
      FineBoundWalk(table.fine(), book_.descriptors, run).bounds(groups, place_.length, bounds);
    }
  }

  /// Scores a run of eight neurons a lane; no_node: none in this lane.
  __device__ void score(std::uint32_t run) {
    std::int32_t scores[walk_width];
    std::int32_t least = INT_MAX;
    const std::uint32_t first_node = run * walk_width;
    const bool idle = run == no_node;
    if (!one_level || !idle) {  // what an idle lane fetched would cost as much as another's
      const LineWalk walk(book_.neurons, book_.descriptors, idle ? done_ * 32 : run);
      walk.scores(rows_.groups + place_.first_group, place_.length, scores);
      if constexpr (second) {
        leave_out(scores, first_node, excluded_);
      }
      least = idle ? INT_MAX : least_of(scores);
    }
    __syncwarp();
    const std::int32_t lowest = __reduce_min_sync(all_lanes, least);
    if (lowest == INT_MAX || lowest > best_score_) {
      return;
    }
    const std::uint32_t neuron = __reduce_min_sync(
        all_lanes,
        least == lowest ? first_neuron_at(scores, lowest, book_.side, first_node) : no_neuron);
    best_neuron_ = lowest < best_score_ ? neuron : min(best_neuron_, neuron);
    best_score_ = lowest;
  }

  /// Queues the nodes from first on, eight a lane, whose bound does not rule them out; except: not
  /// this one. Returns how many are waiting then.
  [[nodiscard]] __device__ std::uint32_t push(Queue& queue, std::uint32_t waiting,
                                              const std::int32_t (&bounds)[walk_width],
                                              std::uint32_t first, std::uint32_t except) const {
    std::uint32_t kept = 0;
#pragma unroll
    for (int j = 0; j < walk_width; ++j) {
      const bool open = bounds[j] <= best_score_ && bounds[j] != INT_MAX && first + j != except;
      kept |= open ? 1U << j : 0;
    }
    if (!__any_sync(all_lanes, kept != 0)) {
      return waiting;
    }
    std::uint32_t upto = __popc(kept);
#pragma unroll
    for (std::uint32_t step = 1; step < 32; step *= 2) {
      const std::uint32_t below = __shfl_up_sync(all_lanes, upto, step);
      upto += lane_ >= step ? below : 0;
    }
    const std::uint32_t total = __shfl_sync(all_lanes, upto, 31);
    std::uint32_t* at = queue.nodes + waiting + upto - __popc(kept);
    __syncwarp();  // what stood there before has been read
    for (; kept != 0; kept &= kept - 1) {
      *at++ = first + __ffs(kept) - 1;
    }
    __syncwarp();
    return waiting + total;
  }

  /// The run of eight children of this lane's half of a queued node.
  [[nodiscard]] __device__ std::uint32_t run_of(Queue& queue, std::uint32_t first,
                                                std::uint32_t count) const {
    if (lane_ == 0) {
      queue.taken += count;
    }
    const std::uint32_t pair = lane_ / 2;
    return pair < count ? queue.nodes[first + pair] * 2 + lane_ % 2 : no_node;
  }

  /// Bounds the blocks of count queued supers and queues those that are left.
  __device__ void bound_blocks(std::uint32_t first, std::uint32_t count) {
    const std::uint32_t run = run_of(supers_, first, count);
    std::int32_t bounds[walk_width];
    // Those of the super that was scored first are behind us.
    const bool idle = run == no_node || run / 2 == done_;
    bound(book_.blocks, run == no_node ? done_ * 2 : run, bounds);
#pragma unroll
    for (int j = 0; j < walk_width; ++j) {
      bounds[j] = idle ? INT_MAX : bounds[j];
    }
    waiting_blocks_ = push(blocks_, waiting_blocks_, bounds, run * walk_width, no_node);
    score_full_steps();
  }

  __device__ void score_full_steps() {
    for (; waiting_blocks_ >= step_nodes; waiting_blocks_ -= step_nodes) {
      score_blocks(waiting_blocks_ - step_nodes, step_nodes);
    }
  }

  __device__ void score_blocks(std::uint32_t first, std::uint32_t count) {
    score(run_of(blocks_, first, count));
  }

  const CodebookView& book_;
  const SearchRows& rows_;
  Queue& supers_;
  Queue& blocks_;
  std::uint32_t lane_;  // differs
  RowPlace place_{};
  std::size_t excluded_ = 0;
  std::int32_t best_score_ = INT_MAX;
  std::uint32_t best_neuron_ = no_neuron;
  std::uint32_t done_ = 0;  // the super scored first
  std::uint32_t waiting_blocks_ = 0;
};

template <bool second, bool one_level, bool coarse>
__global__ void __launch_bounds__(pruned_threads, one_level ? one_level_blocks : two_level_blocks)
    pruned_kernel(const __grid_constant__ CodebookView book,
                  const __grid_constant__ SearchRows rows, std::uint32_t block_rows,
                  PruningCount* work) {
  __shared__ Queue supers[one_level ? 1 : pruned_warps];
  __shared__ Queue blocks[pruned_warps];
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t begin = blockIdx.x * block_rows;
  const std::uint32_t end = min(begin + block_rows, rows.count);
  RowSearch<second, one_level, coarse> search(book, rows, supers[one_level ? 0 : warp],
                                              blocks[warp]);
  for (std::uint32_t i = begin + warp; i < end; i += pruned_warps) {
    const std::uint32_t at = second ? rows.listed[i] : i;
    const RowPlace place = rows.places[at];
    if (place.length == UINT32_MAX) {
      continue;
    }
    std::size_t start = second ? SIZE_MAX : rows.starts[at];
    if constexpr (second) {
      const std::uint32_t excluded = neuron_of(rows.exclude[at]);
      if (excluded == no_neuron) {
        continue;  // no neuron is usable
      }
      start = tree_place(book.side, excluded);
    }
    const unsigned long long key = search.search(place, start, start);
    if (threadIdx.x % 32 == 0) {
      rows.best[at] = key;
    }
  }
  search.add_work(work);
}

/// What a descriptor of a row costs, in cycles of the L1: a node's sixteen children lie in one of
/// its lines, a line in four, of coarse bounds in two; brute force waits for the L2 as long again.
constexpr std::uint64_t node_cycles = 1;
constexpr std::uint64_t line_cycles = 4;
constexpr std::uint64_t coarse_line_cycles = 2;
constexpr std::uint64_t brute_line_cycles = 8;

}  // namespace

void launch_pruned_search(CodebookView book, SearchRows rows, PruningCount* work,
                          StreamView stream) {
  const auto launch = [&](auto kernel, std::uint32_t block_rows) {
    const unsigned blocks = (rows.count + block_rows - 1) / block_rows;
    kernel<<<blocks, pruned_threads, 0, stream.value()>>>(book, rows, block_rows, work);
    check_launch();
  };
  const auto launch_kind = [&](auto kind) {
    constexpr bool coarse = decltype(kind)::value;
    const bool one_level = book.super_count <= supers_at_once;
    if (rows.exclude != nullptr) {
      one_level ? launch(pruned_kernel<true, true, coarse>, second_rows)
                : launch(pruned_kernel<true, false, coarse>, second_rows);
    } else {
      one_level ? launch(pruned_kernel<false, true, coarse>, one_level_rows)
                : launch(pruned_kernel<false, false, coarse>, two_level_rows);
    }
  };
  book.coarse ? launch_kind(std::true_type()) : launch_kind(std::false_type());
}

PruningChoice::PruningChoice(MemoryAccount& account)
    : work_(account, 1, "the search's counter"), counted_(pinned_block(sizeof(PruningCount))) {}

bool PruningChoice::prunes(CodebookView book) {
  if (version_ != book.version) {
    version_ = book.version;
    pays_ = true;
    rows_ = 0;
  }
  if (rows_ != 0 && arrived_.view().happened()) {
    const auto& counted = *reinterpret_cast<const PruningCount*>(counted_.get());
    const std::uint64_t bound_cycles = book.coarse ? coarse_line_cycles : line_cycles;
    const std::uint64_t pruned =
        counted.nodes * node_cycles +
        std::uint64_t{rows_} * (line_cycles + bound_cycles * book.supers.count);
    pays_ = pruned < std::uint64_t{rows_} * brute_line_cycles * book.super_count;
    rows_ = 0;
  }
  return pays_;
}

PruningCount* PruningChoice::start(StreamView stream) {
  work_.fill_bytes(0, stream);
  return work_.data();
}

void PruningChoice::finish(std::uint32_t rows, StreamView stream) {
  if (rows_ == 0) {
    rows_ = rows;
    copy_to_host(reinterpret_cast<PruningCount*>(counted_.get()), work_.data(), 1, stream);
    stream.record(arrived_.view());
  }
}

}  // namespace somatlas::gpu
