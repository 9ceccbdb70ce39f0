// The search down the plane tree. Always holds: a node is left aside only when its bound is above
// the score that a neuron needs to change the row's result; a bound that equals it is looked into,
// since the lower number wins.
#include <algorithm>
#include <vector>

#include "gpu/contract.h"
#include "gpu/cpu_best.h"
#include "gpu/cpu_search.h"

namespace somatlas::gpu {
namespace {

/// Up to this many blocks their bounds are made all at once, without the supers'.
constexpr std::size_t most_blocks_at_once = 1024;

/// A node whose bound does not rule it out.
struct Node {
  std::int32_t bound;
  std::uint32_t number;
};

/// One thread's searches: what is kept between rows is memory alone.
class PrunedSearch {
 public:
  PrunedSearch(const CpuCodebook& codebook, Tile& tile)
      : codebook_(codebook), tile_(tile), run_(kernels()) {}

  void search(std::size_t row) {
    descriptors_ = tile_.row(row);
    wants_second_ = (tile_.use()[row] & row_use::second) != 0;
    best_ = {};
    done_ = no_block;
    if (const Neuron old = tile_.bmu()[row]; old < codebook_.shape.neurons()) {
      done_ = static_cast<std::uint32_t>(codebook_.tree.place_of(old) / tree_fanout);
      score_block(done_);
    }
    blocks_.clear();
    if (codebook_.blocks.nodes <= most_blocks_at_once) {
      bound_all(codebook_.blocks, blocks_);
      if (done_ == no_block) {
        begin_at_least();
      }
    } else {
      supers_.clear();
      bound_all(codebook_.supers, supers_);
      if (done_ == no_block && !supers_.empty()) {
        bound_children(least_bound(supers_)->number);
        begin_at_least();
        blocks_.clear();  // all of them come again
      }
      look_at_best_first(supers_, [this](std::uint32_t super) { bound_children(super); });
    }
    for (const Node& block : blocks_) {
      prefetch(block.number);
    }
    look_at_best_first(blocks_, [this](std::uint32_t block) {
      if (block != done_) {
        score_block(block);
      }
    });
    best_.write(tile_, row);
    ++work_.rows;
  }

  [[nodiscard]] const PruningWork& work() const { return work_; }

 private:
  static constexpr std::uint32_t no_block = 0xFFFF'FFFFU;

  [[nodiscard]] bool ruled_out(std::int32_t bound) const {
    return bound > best_.limit(wants_second_) || bound == padded_norm;
  }

  /// The node with the least bound, then the others that are not ruled out by then.
  template <class Look>
  void look_at_best_first(std::vector<Node>& nodes, const Look& look) {
    if (nodes.empty()) {
      return;
    }
    std::iter_swap(least_bound(nodes), nodes.begin());
    for (const Node& node : nodes) {
      if (!ruled_out(node.bound)) {
        look(node.number);
      }
    }
  }

  static std::vector<Node>::iterator least_bound(std::vector<Node>& nodes) {
    return std::min_element(nodes.begin(), nodes.end(),
                            [](const Node& a, const Node& b) { return a.bound < b.bound; });
  }

  /// Where a row has no last BMU: the block with the least bound of those there are, which rules
  /// out most of the others before they are met.
  void begin_at_least() {
    if (!blocks_.empty()) {
      done_ = least_bound(blocks_)->number;
      score_block(done_);
    }
  }

  [[nodiscard]] TableRow bounds(const BoundTable& table, std::size_t first) const {
    return {table.most.data() + first, table.stride, descriptors_.data(), descriptors_.size()};
  }

  void bound_all(const BoundTable& table, std::vector<Node>& nodes) {
    ChunkLanes bound;
    for (std::size_t first = 0; first < table.stride; first += chunk_neurons) {
      const std::int32_t lowest = run_.score_64(
          bounds(table, first), table.least[first / chunk_neurons].data(), bound.data());
      if (!ruled_out(lowest)) {
        for (std::size_t i = 0; i < bound.size(); ++i) {
          keep(bound[i], first + i * lanes, nodes);
        }
      }
    }
    work_.nodes += table.stride;
  }

  void bound_children(std::uint32_t super) {
    const std::size_t first = std::size_t{super} * tree_fanout;
    Lanes bound;
    const std::int32_t lowest = run_.score_16(
        bounds(codebook_.blocks, first),
        &codebook_.blocks.least[first / chunk_neurons][first % chunk_neurons / lanes], &bound);
    if (!ruled_out(lowest)) {
      keep(bound, first, blocks_);
    }
    work_.nodes += tree_fanout;
  }

  void keep(const Lanes& bound, std::size_t first, std::vector<Node>& nodes) const {
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::int32_t value = bound.value[score_lane(i)];
      if (!ruled_out(value)) {
        nodes.push_back({value, static_cast<std::uint32_t>(first + i)});
      }
    }
  }

  [[nodiscard]] TableRow weights(std::uint32_t block) const {
    const std::size_t slot = codebook_.tree.slot(block / 4);
    return {codebook_.chunk(slot)->weight.data() + block % 4 * tree_fanout, chunk_neurons,
            descriptors_.data(), descriptors_.size()};
  }

  void prefetch(std::uint32_t block) const {
    const TableRow row = weights(block);
    for (std::size_t d = 0; d < row.length; ++d) {
      __builtin_prefetch(row.first + row.descriptors[d] * row.stride);
    }
  }

  void score_block(std::uint32_t block) {
    Lanes scores;
    const std::int32_t lowest = run_.score_16(
        weights(block), &codebook_.norms[codebook_.tree.slot(block / 4)][block % 4], &scores);
    if (lowest <= best_.limit(wants_second_)) {
      best_.take_run(scores, codebook_.tree, std::size_t{block} * tree_fanout, wants_second_);
    }
    work_.neurons += tree_fanout;
  }

  const CpuCodebook& codebook_;
  Tile& tile_;
  const Kernels& run_;
  std::span<const DescriptorId> descriptors_;
  bool wants_second_ = false;
  Best best_;
  std::uint32_t done_ = no_block;  // the block whose neurons are in best_ from the start
  std::vector<Node> supers_;
  std::vector<Node> blocks_;
  PruningWork work_;
};

}  // namespace

PruningWork search_pruned(const CpuCodebook& codebook, Tile& tile,
                          std::span<const std::uint32_t> rows) {
  PrunedSearch search(codebook, tile);
  for (const std::uint32_t row : rows) {
    search.search(row);
  }
  return search.work();
}

}  // namespace somatlas::gpu
