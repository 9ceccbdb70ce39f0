// The arithmetic of the numerical contract that host and device share: norm, score, update and
// distance of one article or one weight. Pure integer functions; every formula is section 2 of the
// design, "Numerical contract".
#pragma once

#include <cstdint>

namespace somatlas::gpu {

/// A weight w in [0, 1] is stored as q = round(16383 w).
inline constexpr std::uint32_t weight_one = 16383;
/// Scores are in units of 1 / (64 * 16383) of a squared distance: 64 * 16383.
inline constexpr std::int64_t score_unit = 64 * 16383;
/// Articles with more descriptors are left out at ingest, so a score cannot overflow 32 bits.
inline constexpr std::uint32_t max_descriptors = 1023;
/// The norm of padded neurons: never the lowest.
inline constexpr std::int32_t padded_norm = INT32_MAX;

/// n_i from the exact sum of q^2 over the descriptors.
[[nodiscard]] constexpr std::int32_t norm_of(std::uint64_t square_sum) {
  return static_cast<std::int32_t>((64 * square_sum + 8191) / 16383);
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
