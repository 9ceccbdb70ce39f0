// Distances and quality figures of section 2, "Quality": exact integers first, a division last.
#pragma once

#include <cmath>
#include <cstdint>

#include "gpu/contract.h"
#include "gpu/tile.h"

namespace somatlas::pipeline {

/// A distance in units of 2^-20.
using Distance = std::uint32_t;

/// The integer nearest to 2^20 * sqrt(value / unit), exactly. unit is 64 * 16383 or 16383^2, where
/// no value lies midway between two integers; the result must fit 32 bits.
[[nodiscard]] Distance nearest_root(std::uint64_t value, std::uint64_t unit);

/// The integer nearest to 2^20 * sqrt(A / 1048512), A = max(0, 1048512 k + score); k descriptors,
/// unknown ones too. At most a few nanoseconds: an epoch asks for every article's.
[[nodiscard]] inline Distance distance_of(std::int32_t score, std::uint32_t k) {
  const std::int64_t square = gpu::score_unit * std::int64_t{k} + score;
  if (square <= 0) {
    return 0;
  }
  // Three roundings move a value below 2^26 by less than 2^-25: only close to a midpoint of two
  // integers is the double not to be believed.
  constexpr double scale = 0x1p40 / static_cast<double>(gpu::score_unit);
  constexpr double doubtful = 0x1p-20;
  const double root = std::sqrt(static_cast<double>(square) * scale);
  const auto nearest = static_cast<std::int64_t>(root + 0.5);
  return std::abs(root - static_cast<double>(nearest)) < 0.5 - doubtful
             ? static_cast<Distance>(nearest)
             : nearest_root(static_cast<std::uint64_t>(square), std::uint64_t{gpu::score_unit});
}

/// 2^30 * (1 - x.w / (sqrt(k) |w|)), rounded to an integer so that sums do not depend on their
/// order; 2^30 where |w| is 0. square_sum: sum of q^2 of the BMU; norm: its n_i; score: at that
/// BMU.
[[nodiscard]] std::uint64_t cosine_distance(std::int32_t score, std::int32_t norm,
                                            std::uint64_t square_sum, std::uint32_t k);

/// Whether two neurons are the same or among each other's 8 neighbours on a map of that side.
[[nodiscard]] bool adjacent(gpu::Neuron a, gpu::Neuron b, std::uint32_t side);

/// Sums over a set of articles; adding is associative and commutative.
struct QualitySums {
  std::uint64_t articles = 0;
  std::uint64_t distance = 0;  // units of 2^-20
  std::uint64_t cosine = 0;    // units of 2^-30
  std::uint64_t with_second = 0;
  std::uint64_t not_adjacent = 0;
  QualitySums& operator+=(const QualitySums& other);
  friend bool operator==(const QualitySums&, const QualitySums&) = default;
};

}  // namespace somatlas::pipeline
