// Brute force over the chunks, and the choice between it and pruning.
#include "gpu/cpu_search.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "gpu/contract.h"
#include "gpu/cpu_best.h"

namespace somatlas::gpu {
namespace {

/// Chunks that rows are made ready for at once: choosing costs half as much as a chunk's search.
constexpr std::size_t chunks_at_once = chunks_a_super;
/// How many descriptors before a weight is added it is asked for.
constexpr std::size_t ahead = 48;

/// The rows of a search as a few chunks need them: without the descriptors that have no weight
/// there, which need not be fetched and are the rare ones, which no cache holds.
class PresentRows {
 public:
  PresentRows(const CpuCodebook& codebook, const Tile& tile, std::span<const std::uint32_t> rows)
      : codebook_(codebook), tile_(tile), rows_(rows), begin_(rows.size() + 1) {
    std::size_t most = ahead;
    for (const std::uint32_t row : rows) {
      most += tile.row(row).size();
    }
    descriptors_.resize(most);
  }

  /// Makes them ready for chunks from slot first on.
  void choose(std::size_t first, std::size_t chunks) {
    present_.assign(codebook_.present_words(), 0);
    for (std::size_t slot = first; slot < first + chunks; ++slot) {
      std::transform(present_.begin(), present_.end(), codebook_.present_in(slot), present_.begin(),
                     std::bit_or<>());
    }
    DescriptorId* end = descriptors_.data();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      begin_[i] = static_cast<std::size_t>(end - descriptors_.data());
      for (const DescriptorId descriptor : tile_.row(rows_[i])) {
        *end = descriptor;
        end += present_[descriptor / 64] >> descriptor % 64 & 1;
      }
    }
    begin_.back() = static_cast<std::size_t>(end - descriptors_.data());
  }

  [[nodiscard]] std::span<const DescriptorId> row(std::size_t i) const {
    return {descriptors_.data() + begin_[i], descriptors_.data() + begin_[i + 1]};
  }

 private:
  const CpuCodebook& codebook_;
  const Tile& tile_;
  std::span<const std::uint32_t> rows_;
  std::vector<std::size_t> begin_;         // of a row in descriptors_
  std::vector<DescriptorId> descriptors_;  // row by row; behind the last, any
  std::vector<std::uint64_t> present_;
};

}  // namespace

void search_brute(const CpuCodebook& codebook, Tile& tile, std::span<const std::uint32_t> rows) {
  const Kernels& run = kernels();
  std::vector<Best> best(rows.size());
  const std::span<const std::uint8_t> use = tile.use();
  ChunkLanes scores;
  const std::vector<std::uint32_t>& filled = codebook.tree.filled_chunks();
  PresentRows present(codebook, tile, rows);
  for (std::size_t slot = 0; slot < filled.size(); ++slot) {
    if (slot % chunks_at_once == 0) {
      present.choose(slot, std::min(chunks_at_once, filled.size() - slot));
    }
    const WeightBlock* const weights = codebook.chunk(slot);
    const std::size_t first = filled[slot] * chunk_neurons;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::span<const DescriptorId> row = present.row(i);
      // What rows a little further on will want is on its way meanwhile.
      for (const DescriptorId* later = row.data() + ahead; later != row.data() + row.size() + ahead;
           ++later) {
        __builtin_prefetch(weights[*later].weight.data());
        __builtin_prefetch(weights[*later].weight.data() + chunk_neurons / 2);
      }
      const bool wants_second = (use[rows[i]] & row_use::second) != 0;
      const std::int32_t lowest =
          run.score_64({weights->weight.data(), chunk_neurons, row.data(), row.size()},
                       codebook.norms[slot].data(), scores.data());
      if (lowest <= best[i].limit(wants_second)) {
        for (std::size_t j = 0; j < scores.size(); ++j) {
          best[i].take_run(scores[j], codebook.tree, first + j * lanes, wants_second);
        }
      }
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    best[i].write(tile, rows[i]);
  }
}

void search_rows(const CpuCodebook& codebook, Tile& tile, std::span<const std::uint32_t> rows) {
  // A node or neuron met while pruning costs about as much as this many of brute force, which are
  // read in order; measured on maps of side 64 and 256.
  constexpr std::uint64_t dearer = 3;
  constexpr std::size_t tried = 16;
  constexpr std::size_t least_neurons = 1024;  // below that, pruning gains nothing
  if (codebook.shape.neurons() < least_neurons) {
    search_brute(codebook, tile, rows);
    return;
  }
  const PruningWork work = search_pruned(codebook, tile, rows.first(std::min(tried, rows.size())));
  const std::span<const std::uint32_t> rest = rows.subspan(std::min(tried, rows.size()));
  if (dearer * (work.nodes + work.neurons) < work.rows * codebook.shape.neurons()) {
    static_cast<void>(search_pruned(codebook, tile, rest));
  } else {
    search_brute(codebook, tile, rest);
  }
}

}  // namespace somatlas::gpu
