// Loops over blocks of 64 weights in vectors of 32 bytes, compiled for processors with AVX2 and for
// those without; which one runs is decided when the program starts.
#include "gpu/cpu_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "gpu/contract.h"

namespace somatlas::gpu {
namespace {

constexpr WeightBlock no_weights{};

/// Eight words of two neurons each, the even one in the low half, and eight scores.
using Words [[gnu::vector_size(32)]] = std::uint32_t;
using Scores [[gnu::vector_size(32)]] = std::int32_t;
constexpr std::size_t vectors = chunk_neurons * sizeof(std::uint16_t) / sizeof(Words);
static_assert(std::endian::native == std::endian::little);

/// How many rows before its turn a row's weights are asked for.
constexpr std::size_t rows_ahead = 2;

/// The two best neurons so far. A score of padded_norm belongs to no usable neuron.
struct Best {
  std::int32_t score = padded_norm;
  std::int32_t second_score = padded_norm;
  Neuron neuron = no_neuron;
  Neuron second = no_neuron;
};

/// Scores of a chunk's neurons for one row, placed like the norms; returns the lowest of them.
/// Four weights add up inside 16 bits, so four descriptors are added two neurons a word with no
/// carry between them. Then words enter `both` as they are and their high halves `odd`: wrapping
/// sums, from which the low halves come out exactly at the end.
[[gnu::target_clones("avx2", "default")]] std::int32_t score_chunk(const WeightBlock* weights,
                                                                   const NormBlock& norms,
                                                                   const DescriptorId* row,
                                                                   std::size_t length,
                                                                   NormBlock& scores) {
  std::array<Words, vectors> both{};
  std::array<Words, vectors> odd{};
  for (std::size_t d = 0; d < length; d += 4) {
    std::array<const std::uint16_t*, 4> four;
    for (std::size_t i = 0; i < four.size(); ++i) {
      four[i] = (d + i < length ? weights[row[d + i]] : no_weights).weight.data();
    }
#pragma GCC unroll 4
    for (std::size_t j = 0; j < vectors; ++j) {
      Words sum{};
#pragma GCC unroll 4
      for (std::size_t i = 0; i < four.size(); ++i) {
        Words words;
        std::memcpy(&words, four[i] + 16 * j, sizeof words);
        sum += words;
      }
      both[j] += sum;
      odd[j] += sum >> 16;
    }
  }
  Scores lowest = Scores{} + padded_norm;
#pragma GCC unroll 4
  for (std::size_t j = 0; j < vectors; ++j) {
    const std::array<Words, 2> sums{both[j] - (odd[j] << 16), odd[j]};
#pragma GCC unroll 2
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t at = half * chunk_neurons / 2 + 8 * j;
      Scores score;
      std::memcpy(&score, norms.norm.data() + at, sizeof score);
      score -= reinterpret_cast<const Scores&>(sums[half]) << 7;
      std::memcpy(scores.norm.data() + at, &score, sizeof score);
      lowest = score < lowest ? score : lowest;
    }
  }
  std::int32_t least = lowest[0];
  for (int lane = 1; lane < 8; ++lane) {
    least = std::min(least, lowest[lane]);
  }
  return least;
}

/// Asks for a coming row's weights, which lie all over the chunk: the waits overlap.
void prefetch(const WeightBlock* weights, std::span<const DescriptorId> row) {
  for (const DescriptorId descriptor : row) {
    const std::uint16_t* weight = weights[descriptor].weight.data();
    __builtin_prefetch(weight);
    __builtin_prefetch(weight + chunk_neurons / 2);
  }
}

/// Takes a chunk's scores in ascending order of neurons, so that on a tie the first stays.
void take_scores(const NormBlock& scores, Neuron first, Best& best) {
  for (std::size_t i = 0; i < chunk_neurons; ++i) {
    const std::int32_t score = scores.norm[norm_place(i)];
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
      if (r + rows_ahead < end) {
        prefetch(weights, tile.row(r + rows_ahead));
      }
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
