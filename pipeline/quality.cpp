// Distances and quality figures. Always holds: a distance is the integer that exact arithmetic
// gives, whatever the last bit of a double's square root; a cosine distance uses correctly rounded
// operations only (+, *, /, sqrt), so it is the same on every machine.
#include "pipeline/quality.h"

#include <algorithm>
#include <cmath>

namespace somatlas::pipeline {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr double cosine_one = 1U << 30;

}  // namespace

Distance nearest_root(std::uint64_t value, std::uint64_t unit) {
  if (value == 0) {
    return 0;
  }
  // The nearest integer D >= 1 is the largest with (2D - 1)^2 unit <= 2^42 value.
  const auto not_above = [value, unit](std::uint64_t candidate) {
    const Wide odd = 2 * candidate - 1;
    return odd * odd * unit <= Wide{value} << 42;
  };
  const double estimate =
      std::sqrt(static_cast<double>(value) / static_cast<double>(unit)) * 1048576.0;
  auto nearest = static_cast<std::uint64_t>(estimate + 0.5);
  while (nearest > 0 && !not_above(nearest)) {
    --nearest;
  }
  while (not_above(nearest + 1)) {
    ++nearest;
  }
  return static_cast<Distance>(nearest);
}

std::uint64_t cosine_distance(std::int32_t score, std::int32_t norm, std::uint64_t square_sum,
                              std::uint32_t k) {
  if (square_sum == 0 || k == 0) {
    return std::uint64_t{1} << 30;
  }
  const std::int64_t weight_sum = (std::int64_t{norm} - score) / 128;  // exact: sum of q
  const double cosine =
      static_cast<double>(weight_sum) /
      (std::sqrt(static_cast<double>(k)) * std::sqrt(static_cast<double>(square_sum)));
  return static_cast<std::uint64_t>(std::llround(std::max(0.0, 1.0 - cosine) * cosine_one));
}

bool adjacent(gpu::Neuron a, gpu::Neuron b, std::uint32_t side) {
  const auto within_one = [](std::uint32_t x, std::uint32_t y) {
    return x > y ? x - y <= 1 : y - x <= 1;
  };
  return within_one(a / side, b / side) && within_one(a % side, b % side);
}

QualitySums& QualitySums::operator+=(const QualitySums& other) {
  articles += other.articles;
  distance += other.distance;
  cosine += other.cosine;
  with_second += other.with_second;
  not_adjacent += other.not_adjacent;
  return *this;
}

}  // namespace somatlas::pipeline
