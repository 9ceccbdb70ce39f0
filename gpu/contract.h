// The arithmetic of the numerical contract that host and device share: norm, order of candidates
// and update of one weight. Always holds: results are integers that do not depend on rounding, and
// the functions are constexpr, so that nvcc's --expt-relaxed-constexpr takes them into kernels as
// they are. Every formula is section 2 of the design, "Numerical contract".
#pragma once

#include <bit>
#include <cstdint>

namespace somatlas::gpu {

/// A weight w in [0, 1] is stored as q = round(16383 w).
inline constexpr std::uint32_t weight_one = 16383;
/// Scores are in units of 1 / (64 * 16383) of a squared distance: 64 * 16383.
inline constexpr std::int64_t score_unit = std::int64_t{64} * 16383;
/// Articles with more descriptors are left out at ingest, so a score cannot overflow 32 bits.
inline constexpr std::uint32_t max_descriptors = 1023;
/// The norm of padded neurons: never the lowest.
inline constexpr std::int32_t padded_norm = INT32_MAX;

/// n_i from the exact sum of q^2 over the descriptors.
[[nodiscard]] constexpr std::int32_t norm_of(std::uint64_t square_sum) {
  return static_cast<std::int32_t>((64 * square_sum + 8191) / 16383);
}

/// The largest sum of squares whose norm is below padded_norm. Weights made by an update stay far
/// below it: a neuron's weights sum to at most max_descriptors, but for rounding.
inline constexpr std::uint64_t max_square_sum = (std::uint64_t{INT32_MAX} * 16383 - 8192) / 64;

/// The weight nearest to 16383 * count / hits, halves up, given an estimate that is off by at most
/// one. 0 <= count <= hits, 0 < hits < 2^62. The products may pass 64 bits: their difference is
/// below 1.5 * hits in magnitude, so it comes out exactly in wrapping arithmetic.
[[nodiscard]] constexpr std::uint16_t settle_weight(std::uint64_t count, std::uint64_t hits,
                                                    std::uint32_t estimate) {
  const auto difference =
      static_cast<std::int64_t>(weight_one * count - std::uint64_t{estimate} * hits);
  const auto half = static_cast<std::int64_t>(hits / 2);
  if (difference < -half) {
    --estimate;
  } else if (difference >= static_cast<std::int64_t>(hits) - half) {
    ++estimate;
  }
  return static_cast<std::uint16_t>(estimate);
}

/// What brings a count to a weight.
[[nodiscard]] constexpr float weight_scale(std::uint64_t hits) {
  return static_cast<float>(weight_one) / static_cast<float>(static_cast<std::int64_t>(hits));
}

/// An estimate for settle_weight, and whether it may be another than the exact weight.
struct WeightEstimate {
  std::uint16_t weight;
  bool doubtful;
};

/// count: as a float; scale: weight_scale(hits), or 0, which gives the weight 0 without doubt. Four
/// roundings move a value by at most its 2^-22nd part, whether or not the compiler joins a product
/// with a sum: a quarter of the margin. Makes vectors on a CPU and six instructions on a GPU.
[[nodiscard]] constexpr WeightEstimate estimate_weight(float count, float scale) {
  constexpr float integers = 0x1p23F;  // from here on a float has no fraction
  const float shifted = count * scale + integers;
  const float nearest = shifted - integers;
  const float off = count * scale - nearest;
  const auto distance = std::bit_cast<float>(std::bit_cast<std::uint32_t>(off) & 0x7FFF'FFFFU);
  return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(shifted)),
          distance > 0.5F - (nearest + 1.0F) * 0x1p-20F};
}

/// round-half-up(16383 * count / hits), exactly; the domain of settle_weight.
[[nodiscard]] constexpr std::uint16_t weight_of(std::uint64_t count, std::uint64_t hits) {
  const auto rounded = static_cast<float>(static_cast<std::int64_t>(count));
  return settle_weight(count, hits, estimate_weight(rounded, weight_scale(hits)).weight);
}

/// (score, neuron) as one number whose order is the contract's: lower score first, then lower
/// neuron.
[[nodiscard]] constexpr std::uint64_t rank_key(std::int32_t score, std::uint32_t neuron) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(score) ^ 0x8000'0000U) << 32) |
         neuron;
}
[[nodiscard]] constexpr std::int32_t score_of(std::uint64_t key) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(key >> 32) ^ 0x8000'0000U);
}
[[nodiscard]] constexpr std::uint32_t neuron_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key);
}

}  // namespace somatlas::gpu
