// Distances against a search in 128-bit integers alone, above all where a double's square root
// rounds to the wrong side; cosine distances against long double; the 8 neighbours by enumeration.
#include "pipeline/quality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <random>
#include <vector>

#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

__extension__ using Wide = unsigned __int128;

/// Nearest integer to 2^20 sqrt(value / unit): the largest D with (2D - 1)^2 unit <= 2^42 value.
std::uint64_t nearest_by_bisection(std::uint64_t value, std::uint64_t unit) {
  std::uint64_t low = 0;
  std::uint64_t high = std::uint64_t{1} << 33;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    const Wide odd = 2 * Wide{middle} - 1;
    (odd * odd * unit <= Wide{value} << 42 ? low : high) = middle;
  }
  return low;
}

std::uint64_t distance_by_bisection(std::int64_t score, std::int64_t k) {
  const std::int64_t square = std::max<std::int64_t>(0, 1048512 * k + score);
  return nearest_by_bisection(static_cast<std::uint64_t>(square), 1048512);
}

std::uint64_t distance_by_double(std::uint64_t value) {
  return static_cast<std::uint64_t>(
      std::floor(std::sqrt(static_cast<double>(value) / 1048512.0) * 1048576.0 + 0.5));
}

TEST(Distance, EqualsExactSearchForEveryNumberOfDescriptors) {
  std::mt19937_64 random(test_seed());
  for (std::int64_t k = 1; k <= 1023; ++k) {
    const std::int64_t lowest = std::max<std::int64_t>(INT32_MIN, -1048512 * k - 100);
    std::uniform_int_distribution<std::int64_t> any(lowest, INT32_MAX);
    std::uniform_int_distribution<std::int64_t> usual(lowest, 0);
    std::vector<std::int64_t> scores{
        lowest, -1048512 * k, -1048512 * k + 1, -1048512 * k + 2, -1, 0, 1, INT32_MAX};
    for (int i = 0; i < 40; ++i) {
      scores.push_back(any(random));
      scores.push_back(usual(random));
    }
    for (const std::int64_t score : scores) {
      ASSERT_EQ(distance_of(static_cast<std::int32_t>(score), static_cast<std::uint32_t>(k)),
                distance_by_bisection(score, k))
          << "score " << score << ", k " << k;
    }
  }
}

TEST(Distance, IsZeroWhereRoundingMadeTheSquareNegative) {
  EXPECT_EQ(distance_of(-1048512, 1), 0U);
  EXPECT_EQ(distance_of(-1048513, 1), 0U);
  EXPECT_EQ(distance_of(-1048511, 1), 1024U);  // sqrt(1 / 1048512) * 2^20 = 1024.03
  EXPECT_EQ(distance_of(0, 1), 1U << 20);
  EXPECT_EQ(distance_of(0, 4), 2U << 20);
}

// The smallest value that rounds to D, and the largest that rounds to D - 1: the neighbours of a
// midpoint. Values past 2^31 need a k; those in between are made from k and a score.
TEST(Distance, IsRightOnBothSidesOfMidpoints) {
  std::mt19937_64 random(test_seed());
  std::uniform_int_distribution<std::uint64_t> any(1, 33'500'000);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t d = any(random);
    const Wide odd = 2 * Wide{d} - 1;
    const auto first =
        static_cast<std::uint64_t>((odd * odd * 1048512 + ((Wide{1} << 42) - 1)) >> 42);
    for (const std::uint64_t value : {first - 1, first}) {
      if (value > 1048512ULL * 1023) {
        continue;
      }
      const auto k = static_cast<std::uint32_t>((value + 1048511) / 1048512);
      const auto score =
          static_cast<std::int32_t>(static_cast<std::int64_t>(value) - 1048512 * std::int64_t{k});
      const std::uint64_t expected = nearest_by_bisection(value, 1048512);
      ASSERT_EQ(distance_of(score, k), expected) << "value " << value;
      ASSERT_EQ(nearest_root(value, 1048512), expected) << "value " << value;
    }
  }
}

// Values next to a rounding boundary are the hardest: the root lies so near a midpoint that a
// double cannot tell the sides. With m = (2D - 1)^2 * 16383 the boundary of D is m / 2^36, so those
// are the D where m is nearly a multiple of 2^36: all of them below k = 1023 are tried.
TEST(Distance, IsRightWhereADoubleErrs) {
  constexpr std::uint64_t one = std::uint64_t{1} << 36;
  constexpr std::uint64_t near = std::uint64_t{1} << 16;
  std::uint64_t tried = 0;
  std::uint64_t double_erred = 0;
  for (std::uint64_t odd = 1; odd < std::uint64_t{1} << 26; odd += 2) {
    const std::uint64_t past = (odd * odd * 16383) % one;
    if (past > near && past < one - near) {
      continue;
    }
    const auto value = static_cast<std::uint64_t>((Wide{odd} * odd * 16383 + near) / one);
    if (value == 0 || value > 1048512ULL * 1023) {
      continue;
    }
    const std::uint64_t expected = past <= near ? (odd - 1) / 2 : (odd + 1) / 2;
    ASSERT_EQ(nearest_by_bisection(value, 1048512), expected);
    ASSERT_EQ(nearest_root(value, 1048512), expected) << "value " << value;
    const auto k = static_cast<std::uint32_t>(value / 1048512 + 1);
    const auto score =
        static_cast<std::int32_t>(static_cast<std::int64_t>(value) - 1048512 * std::int64_t{k});
    ASSERT_EQ(distance_of(score, k), expected) << "value " << value;
    ++tried;
    double_erred += distance_by_double(value) != expected ? 1 : 0;
  }
  std::cout << tried << " values, a double errs on " << double_erred << '\n';
  EXPECT_GT(tried, 50U);
  EXPECT_GT(double_erred, 0U) << "the cases are too easy to show anything";
}

// Beside the midpoints of large distances a double often errs: upwards, since the midpoint itself
// is a double, so that a root just above it is never rounded below.
TEST(Distance, NearestRootIsExactForWeightDifferences) {
  std::mt19937_64 random(test_seed());
  constexpr std::uint64_t unit = 16383ULL * 16383;
  std::uniform_int_distribution<std::uint64_t> any(1, 200'000'000);
  std::uint64_t double_erred = 0;
  for (int i = 0; i < 200'000; ++i) {
    const Wide odd = 2 * Wide{any(random)} - 1;
    const auto first = static_cast<std::uint64_t>((odd * odd * unit + ((Wide{1} << 42) - 1)) >> 42);
    for (const std::uint64_t value : {first - 1, first}) {
      const std::uint64_t expected = nearest_by_bisection(value, unit);
      ASSERT_EQ(nearest_root(value, unit), expected) << "value " << value;
      const auto rough = static_cast<std::uint64_t>(
          std::sqrt(static_cast<double>(value) / static_cast<double>(unit)) * 1048576.0 + 0.5);
      double_erred += rough != expected ? 1 : 0;
    }
  }
  EXPECT_GT(double_erred, 0U) << "the cases are too easy to show anything";
}

TEST(CosineDistance, IsTheRoundedCosine) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 20'000; ++i) {
    std::uniform_int_distribution<std::uint32_t> descriptors(1, 30);
    std::uniform_int_distribution<std::uint64_t> weight(0, 16383);
    const std::uint32_t k = descriptors(random);
    std::uint64_t sum = 0;
    std::uint64_t square_sum = 0;
    for (std::uint32_t v = 0; v < 2 * k; ++v) {
      const std::uint64_t q = weight(random);
      sum += v < k ? q : 0;
      square_sum += q * q;
    }
    const auto norm = static_cast<std::int32_t>((64 * square_sum + 8191) / 16383);
    const auto score = static_cast<std::int32_t>(norm - 128 * static_cast<std::int64_t>(sum));
    const long double exact =
        (1.0L - static_cast<long double>(sum) /
                    std::sqrt(static_cast<long double>(k) * static_cast<long double>(square_sum))) *
        1073741824.0L;
    const std::uint64_t units = cosine_distance(score, norm, square_sum, k);
    ASSERT_LE(std::abs(static_cast<long double>(units) - exact), 0.50001L);
  }
}

TEST(CosineDistance, KnownValues) {
  // The article's own direction: four weights of 1.
  const std::uint64_t squares = 4ULL * 16383 * 16383;
  const std::int32_t norm = 4 * 1048512;
  EXPECT_EQ(cosine_distance(norm - 128 * 4 * 16383, norm, squares, 4), 0U);
  EXPECT_EQ(cosine_distance(norm, norm, squares, 4), 1U << 30);
  EXPECT_EQ(cosine_distance(norm - 128 * 2 * 16383, norm, squares, 4), 1U << 29);
  EXPECT_EQ(cosine_distance(0, 0, 0, 4), 1U << 30);
  // One descriptor whose neuron has it alone: 1 - q / q, never below zero.
  for (std::uint64_t q = 1; q <= 16383; ++q) {
    const auto n = static_cast<std::int32_t>((64 * q * q + 8191) / 16383);
    ASSERT_EQ(cosine_distance(n - 128 * static_cast<std::int32_t>(q), n, q * q, 1), 0U) << q;
  }
}

TEST(Adjacent, IsTheEightNeighboursAndTheNeuronItself) {
  for (const std::uint32_t side : {1U, 2U, 3U, 5U}) {
    for (std::uint32_t a = 0; a < side * side; ++a) {
      for (std::uint32_t b = 0; b < side * side; ++b) {
        const int rows = std::abs(static_cast<int>(a / side) - static_cast<int>(b / side));
        const int columns = std::abs(static_cast<int>(a % side) - static_cast<int>(b % side));
        ASSERT_EQ(adjacent(a, b, side), rows <= 1 && columns <= 1)
            << "side " << side << ": " << a << ", " << b;
      }
    }
  }
  EXPECT_FALSE(adjacent(2, 3, 3));  // the end of a row and the start of the next
}

TEST(QualitySums, AddMemberByMember) {
  QualitySums sums{1, 2, 3, 4, 5};
  sums += QualitySums{10, 20, 30, 40, 50};
  EXPECT_EQ(sums, (QualitySums{11, 22, 33, 44, 55}));
}

}  // namespace
}  // namespace somatlas::pipeline
