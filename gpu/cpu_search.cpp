// Brute force over the chunks, and the choice between it and pruning.
#include "gpu/cpu_search.h"

#include <algorithm>
#include <array>
#include <vector>

#include "gpu/contract.h"
#include "gpu/cpu_best.h"

namespace somatlas::gpu {
namespace {

/// The descriptors of a row that have a weight in a chunk: those of the others need not be fetched,
/// and they are the rare ones, which no cache holds.
class PresentDescriptors {
 public:
  PresentDescriptors(const CpuCodebook& codebook, std::size_t slot)
      : present_(codebook.present_in(slot)) {}

  [[nodiscard]] std::span<const DescriptorId> of(std::span<const DescriptorId> row) {
    // Where nearly all are present, looking costs more than it spares.
    if (looked_at_ >= enough && found_ * 8 > looked_at_ * 7) {
      return row;
    }
    std::size_t count = 0;
    for (const DescriptorId descriptor : row) {
      chosen_[count] = descriptor;
      count += present_[descriptor / 64] >> descriptor % 64 & 1;
    }
    looked_at_ += row.size();
    found_ += count;
    return {chosen_.data(), count};
  }

 private:
  static constexpr std::size_t enough = 512;

  const std::uint64_t* present_;
  std::size_t looked_at_ = 0;
  std::size_t found_ = 0;
  std::array<DescriptorId, max_descriptors + 1> chosen_;
};

}  // namespace

void search_brute(const CpuCodebook& codebook, Tile& tile, std::span<const std::uint32_t> rows) {
  const Kernels& run = kernels();
  std::vector<Best> best(rows.size());
  const std::span<const std::uint8_t> use = tile.use();
  ChunkLanes scores;
  const std::vector<std::uint32_t>& filled = codebook.tree.filled_chunks();
  for (std::size_t slot = 0; slot < filled.size(); ++slot) {
    const WeightBlock* const weights = codebook.chunk(slot);
    const std::size_t first = filled[slot] * chunk_neurons;
    PresentDescriptors present(codebook, slot);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::span<const DescriptorId> row = present.of(tile.row(rows[i]));
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
