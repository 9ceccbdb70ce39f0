// Plain loops over blocks of 64 weights that the compiler turns into vector code, once for each
// instruction set that a processor may have.
#include "gpu/cpu_search.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "gpu/contract.h"

namespace somatlas::gpu {
namespace {

constexpr WeightBlock no_weights{};

/// The two best neurons so far. A score of padded_norm belongs to no usable neuron.
struct Best {
  std::int32_t score = padded_norm;
  std::int32_t second_score = padded_norm;
  Neuron neuron = no_neuron;
  Neuron second = no_neuron;
};

/// Scores of a chunk's neurons for one row, and the lowest of them. Four weights fit 16 bits, so
/// four descriptors are added before widening.
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]] std::int32_t score_chunk(
    const WeightBlock* weights, const NormBlock& norms, const DescriptorId* row, std::size_t length,
    NormBlock& scores) {
  alignas(64) std::array<std::uint32_t, chunk_neurons> sums{};
  for (std::size_t d = 0; d < length; d += 4) {
    const std::size_t left = length - d;
    const std::uint16_t* a = weights[row[d]].weight.data();
    const std::uint16_t* b = (left > 1 ? weights[row[d + 1]] : no_weights).weight.data();
    const std::uint16_t* c = (left > 2 ? weights[row[d + 2]] : no_weights).weight.data();
    const std::uint16_t* e = (left > 3 ? weights[row[d + 3]] : no_weights).weight.data();
    for (std::size_t i = 0; i < chunk_neurons; ++i) {
      sums[i] += static_cast<std::uint16_t>(a[i] + b[i] + c[i] + e[i]);
    }
  }
  std::int32_t lowest = padded_norm;
  for (std::size_t i = 0; i < chunk_neurons; ++i) {
    scores.norm[i] = norms.norm[i] - static_cast<std::int32_t>(128 * sums[i]);
    lowest = std::min(lowest, scores.norm[i]);
  }
  return lowest;
}

/// Takes a chunk's scores in ascending order of neurons, so that on a tie the first stays.
void take_scores(const NormBlock& scores, Neuron first, Best& best) {
  for (std::size_t i = 0; i < chunk_neurons; ++i) {
    const std::int32_t score = scores.norm[i];
    const Neuron neuron = first + static_cast<Neuron>(i);
    if (score < best.score) {
      best.second_score = best.score;
      best.second = best.neuron;
      best.score = score;
      best.neuron = neuron;
    } else if (score < best.second_score) {
      best.second_score = score;
      best.second = neuron;
    }
  }
}

}  // namespace

void search_rows(const CpuCodebook& codebook, Tile& tile, std::size_t begin, std::size_t end) {
  std::vector<Best> best(end - begin);
  const std::span<const std::uint8_t> use = tile.use();
  NormBlock scores;
  for (std::size_t c = 0; c < codebook.chunks; ++c) {
    const WeightBlock* weights = codebook.chunk(c).data();
    const auto first = static_cast<Neuron>(c * chunk_neurons);
    for (std::size_t r = begin; r < end; ++r) {
      const std::span<const DescriptorId> row = tile.row(r);
      Best& here = best[r - begin];
      const std::int32_t lowest =
          score_chunk(weights, codebook.norms[c], row.data(), row.size(), scores);
      const bool wants_second = (use[r] & row_use::second) != 0;
      if (lowest < (wants_second ? here.second_score : here.score)) {
        take_scores(scores, first, here);
      }
    }
  }
  for (std::size_t r = begin; r < end; ++r) {
    const Best& here = best[r - begin];
    tile.bmu()[r] = here.neuron;
    tile.score()[r] = here.score;
    tile.second()[r] = (use[r] & row_use::second) != 0 ? here.second : no_neuron;
  }
}

}  // namespace somatlas::gpu
