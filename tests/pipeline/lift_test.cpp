// Gains against long doubles within what the integers round off, and what they are for: that large
// shares with a lift come first, and few articles show little.
#include "pipeline/lift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>

#include "gpu/contract.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

TEST(Lift, LogarithmsAreThoseOfTheReals) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 20'000; ++trial) {
    const std::uint64_t value = std::max<std::uint64_t>(1, random() >> random() % 64);
    const long double exact = 65'536 * std::log2(static_cast<long double>(value));
    const auto found = static_cast<long double>(log2_of(value));
    ASSERT_LE(found, exact + 1e-9L) << value;
    ASSERT_GT(found, exact - 2) << value;
  }
  for (unsigned bit = 0; bit < 64; ++bit) {
    EXPECT_EQ(log2_of(std::uint64_t{1} << bit), bit << 16);
  }
}

TEST(Lift, TheQuickLogarithmIsTheOneByDigits) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 2'000'000; ++trial) {
    const std::uint64_t value = std::max<std::uint64_t>(1, random() >> random() % 64);
    ASSERT_EQ(log2_of(value), log2_by_digits(value)) << value;
  }
  // Where the last digit is in doubt: the least value of a logarithm, and those beside it.
  for (std::uint32_t log = 16 << 16; log < 40 << 16;
       log += 1 + static_cast<std::uint32_t>(random() % 64)) {
    const auto least = static_cast<std::uint64_t>(std::exp2(log / 65'536.0L));
    for (const std::uint64_t value : {least - 1, least, least + 1, least + 2}) {
      ASSERT_EQ(log2_of(value), log2_by_digits(value)) << value;
    }
  }
}

TEST(Lift, LeastShares) {
  EXPECT_EQ(least_share(1, 0), 0);
  EXPECT_EQ(least_share(0, 50), 0);
  EXPECT_DOUBLE_EQ(least_share(1, 1), 0.2);
  EXPECT_DOUBLE_EQ(least_share(1, 12), 0.75);
  EXPECT_NEAR(least_share(0.5, 1e9), 0.5, 1e-4);
}

TEST(Lift, AGainIsTheFormulas) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 20'000; ++trial) {
    const std::uint64_t all = 1 + (random() >> (24 + random() % 40));
    const std::uint64_t with = 1 + random() % std::max<std::uint64_t>(1, all >> random() % 20);
    const LiftScale scale(with, all);
    const auto weight = static_cast<std::uint32_t>(random() % (gpu::weight_one + 1));
    const double of = static_cast<double>(random() % 100'000) / 16;
    const std::uint32_t gain = scale.gain(weight / double{gpu::weight_one}, of);

    const auto p = static_cast<long double>(weight) / gpu::weight_one;
    const auto n = static_cast<long double>(of);
    // Wilson's bound as books have it.
    const long double z = 2;
    const long double least =
        n == 0 ? 0
               : (p + z * z / (2 * n) - z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n))) /
                     (1 + z * z / n);
    const long double share = static_cast<long double>(with) / static_cast<long double>(all);
    const long double bits = least <= share ? 0 : least * std::log2(least / share);
    ASSERT_NEAR(static_cast<double>(gain) / (1 << 24), static_cast<double>(bits), 1e-4)
        << with << " of " << all << ", weight " << weight << " of " << of;
    ASSERT_LE(gain, std::uint64_t{weight} * scale.most_per_weight());
    ASSERT_LT(std::uint64_t{gpu::weight_one} * scale.most_per_weight(), std::uint64_t{1} << 31);
  }
}

TEST(Lift, MoreArticlesOrALargerShareNeverGainLess) {
  std::mt19937_64 random(test_seed());
  const LiftScale scale(100, 100'000);
  for (int trial = 0; trial < 1'000; ++trial) {
    const double share = static_cast<double>(random() % 900) / 1'000 + 0.05;
    const double of = static_cast<double>(1 + random() % 500);
    EXPECT_LE(scale.gain(share, of), scale.gain(share + 0.05, of));
    EXPECT_LE(scale.gain(share, of), scale.gain(share, of + 10));
  }
}

TEST(Lift, WhatStandsOutComesFirst) {
  const std::uint64_t all = 1'000'000;
  const LiftScale humans(600'000, all);
  const LiftScale diabetes(10'000, all);
  const LiftScale rare(3, all);
  // In 30 articles: all are of humans, 20 of diabetes, two share a rare descriptor.
  EXPECT_GT(diabetes.gain(20.0 / 30, 30), rare.gain(2.0 / 30, 30));
  EXPECT_GT(diabetes.gain(20.0 / 30, 30), humans.gain(1, 30));
  // As often as everywhere, or less: nothing, however many articles.
  EXPECT_EQ(humans.gain(0.6, 1e6), 0U);
  EXPECT_EQ(humans.gain(0.1, 1e6), 0U);
  // One article of one descriptor of its own says less than ten of ten.
  EXPECT_LT(rare.gain(1, 1), diabetes.gain(1, 10));
}

TEST(Lift, RefusesSharesThatAreNone) {
  EXPECT_THROW(LiftScale(0, 5), std::invalid_argument);
  EXPECT_THROW(LiftScale(6, 5), std::invalid_argument);
  EXPECT_THROW(LiftScale(5, std::uint64_t{1} << 40), std::invalid_argument);
}

TEST(Lift, Growth) {
  EXPECT_DOUBLE_EQ(growth(0, 0, 25, 100), 1);          // nothing known: as expected
  EXPECT_DOUBLE_EQ(growth(25, 100, 25, 100), 1);       // as the corpus
  EXPECT_DOUBLE_EQ(growth(1, 1, 25, 100), 14.0 / 11);  // (1 + 2.5) / 11 / 0.25
  EXPECT_DOUBLE_EQ(growth(90, 90, 25, 100), 3.7);
  EXPECT_DOUBLE_EQ(growth(5, 5, 0, 100), 1);
}

}  // namespace
}  // namespace somatlas::pipeline
