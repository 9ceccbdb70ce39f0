// Radii against the formula in long double, the cap in 128-bit integers, and the stop rule case by
// case.
#include "pipeline/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace somatlas::pipeline {
namespace {

TEST(LargestRadius, KeepsSumsBelowTwoToThe62) {
  EXPECT_EQ(largest_radius(29'900'000), 312U);
  __extension__ using Wide = unsigned __int128;
  const auto passes = [](std::uint64_t articles, std::uint64_t radius) {
    const Wide square = Wide{2 * radius + 1} * (2 * radius + 1);
    return square * square >= ((Wide{1} << 62) + articles - 1) / articles;
  };
  for (const std::uint64_t articles :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{1000}, std::uint64_t{29'900'000},
        std::uint64_t{4'294'967'295}, (std::uint64_t{1} << 62) / 81,
        (std::uint64_t{1} << 62) / 81 + 1, (std::uint64_t{1} << 62) - 1}) {
    const std::uint32_t radius = largest_radius(articles);
    EXPECT_FALSE(passes(articles, radius)) << articles;
    EXPECT_TRUE(passes(articles, radius + 1)) << articles;
  }
  EXPECT_EQ(largest_radius((std::uint64_t{1} << 62) / 81), 1U);
  EXPECT_EQ(largest_radius((std::uint64_t{1} << 62) / 81 + 1), 0U);
}

TEST(FirstRadius, DependsOnTheStart) {
  TrainingSettings settings;
  settings.side = 64;
  EXPECT_EQ(first_radius(settings, 1000), 8U);
  settings.start = Start::random;
  EXPECT_EQ(first_radius(settings, 1000), 32U);
  settings.side = 33;
  EXPECT_EQ(first_radius(settings, 1000), 16U);
  settings.start = Start::pca;
  EXPECT_EQ(first_radius(settings, 1000), 4U);
}

TEST(FirstRadius, DefaultIsAtLeastTheEndButAGivenOneIsTaken) {
  TrainingSettings settings;
  settings.side = 3;
  EXPECT_EQ(first_radius(settings, 1000), 1U);
  settings.radius_end = 5;
  EXPECT_EQ(first_radius(settings, 1000), 5U);
  settings.start = Start::random;
  EXPECT_EQ(first_radius(settings, 1000), 5U);
  settings.radius_start = 2;
  EXPECT_EQ(first_radius(settings, 1000), 2U);
  settings.radius_start = 0;
  EXPECT_EQ(first_radius(settings, 1000), 0U);
}

TEST(FirstRadius, IsCapped) {
  TrainingSettings settings;
  settings.side = 4096;
  EXPECT_EQ(first_radius(settings, 29'900'000), 312U);
  settings.side = 64;
  settings.radius_start = 4'000'000'000;
  EXPECT_EQ(first_radius(settings, 29'900'000), 312U);
}

TEST(RadiusAt, FollowsTheFormula) {
  for (const std::uint32_t first : {0U, 1U, 2U, 3U, 8U, 32U, 100U, 312U, 20'000U}) {
    for (const std::uint32_t end : {0U, 1U, 2U, 7U, 50U}) {
      for (std::uint32_t epoch = 0; epoch < 90; ++epoch) {
        const long double exact =
            end + (static_cast<long double>(first) - end) * std::exp(-0.3L * epoch);
        ASSERT_EQ(radius_at(epoch, first, end),
                  static_cast<std::uint32_t>(std::floor(exact + 0.5L)))
            << first << " to " << end << ", epoch " << epoch;
      }
    }
  }
}

TEST(RadiusAt, StartsAtTheFirstAndEndsAtTheLast) {
  EXPECT_EQ(radius_at(0, 32, 1), 32U);
  EXPECT_EQ(radius_at(1, 32, 1), 24U);  // 1 + 31 * 0.7408 = 23.97
  EXPECT_EQ(radius_at(60, 32, 1), 1U);
  EXPECT_EQ(radius_at(4'000'000'000, 32, 1), 1U);
  EXPECT_EQ(radius_at(0, 0, 4'000'000'000), 0U);
  EXPECT_EQ(radius_at(76, 4'294'967'295, 0), 1U);  // the table's last entry: 0.54
  EXPECT_EQ(radius_at(77, 4'294'967'295, 0), 0U);
}

TEST(StopRule, StopsAtTheThirdSmallFallInARow) {
  StopRule rule(1, 60);
  EXPECT_FALSE(rule.is_last(0, 1, 1'000'000));  // none before
  EXPECT_FALSE(rule.is_last(1, 1, 999'001));    // fell by 999 < 1000
  EXPECT_FALSE(rule.is_last(2, 1, 998'101));    // by 900 < 999
  EXPECT_TRUE(rule.is_last(3, 1, 998'100));
  EXPECT_EQ(rule.state(), (StopState{998'100, 3}));
}

TEST(StopRule, AFallOfAThousandthIsNotSmall) {
  StopRule rule(1, 60);
  EXPECT_FALSE(rule.is_last(0, 1, 1'000'000));
  EXPECT_FALSE(rule.is_last(1, 1, 1'000'000));  // 1
  EXPECT_FALSE(rule.is_last(2, 1, 1'000'000));  // 2
  EXPECT_FALSE(rule.is_last(3, 1, 999'000));    // fell by 1000: back to none
  EXPECT_EQ(rule.state(), (StopState{999'000, 0}));
  EXPECT_FALSE(rule.is_last(4, 1, 999'000));
  EXPECT_FALSE(rule.is_last(5, 1, 999'000));
  EXPECT_TRUE(rule.is_last(6, 1, 999'000));
}

TEST(StopRule, ARiseCounts) {
  StopRule rule(1, 60);
  EXPECT_FALSE(rule.is_last(0, 1, 100));
  EXPECT_FALSE(rule.is_last(1, 1, 101));
  EXPECT_FALSE(rule.is_last(2, 1, 5000));
  EXPECT_TRUE(rule.is_last(3, 1, UINT64_MAX));
}

TEST(StopRule, DividesInIntegers) {
  StopRule rule(1, 60);
  EXPECT_FALSE(rule.is_last(0, 1, 999));
  EXPECT_FALSE(rule.is_last(1, 1, 999));  // 1
  EXPECT_FALSE(rule.is_last(2, 1, 998));  // 999 / 1000 = 0: a fall by 1 is not less
  EXPECT_EQ(rule.state().small_falls, 0U);
  EXPECT_FALSE(rule.is_last(3, 1, 0));
  EXPECT_FALSE(rule.is_last(4, 1, 0));
  EXPECT_FALSE(rule.is_last(5, 1, 0));
  EXPECT_TRUE(rule.is_last(6, 1, 0));
}

TEST(StopRule, OnlyEpochsAtTheEndRadiusCount) {
  StopRule rule(1, 60);
  EXPECT_FALSE(rule.is_last(0, 3, 1'000'000));
  EXPECT_FALSE(rule.is_last(1, 2, 1'000'000));
  EXPECT_FALSE(rule.is_last(2, 2, 1'000'000));
  EXPECT_FALSE(rule.is_last(3, 2, 1'000'000));
  EXPECT_EQ(rule.state().small_falls, 0U);
  EXPECT_FALSE(rule.is_last(4, 1, 1'000'000));  // compared with the epoch before, at radius 2
  EXPECT_FALSE(rule.is_last(5, 1, 1'000'000));
  EXPECT_TRUE(rule.is_last(6, 1, 1'000'000));
}

TEST(StopRule, StopsAtTheEpochLimit) {
  StopRule rule(1, 3);
  EXPECT_FALSE(rule.is_last(0, 9, 9000));
  EXPECT_FALSE(rule.is_last(1, 5, 8000));
  EXPECT_TRUE(rule.is_last(2, 3, 7000));
  EXPECT_TRUE(StopRule(1, 1).is_last(0, 9, 9000));
  EXPECT_TRUE(StopRule(1, 3).is_last(UINT32_MAX, 9, 9000));  // resumed with a lower limit
}

TEST(StopRule, GoesOnFromItsState) {
  const std::uint64_t sums[] = {900, 700, 5000, 4999, 5000, 5000, 5000, 5000};
  for (std::uint32_t cut = 0; cut < 7; ++cut) {
    StopRule whole(1, 60);
    StopRule part(1, 60);
    for (std::uint32_t epoch = 0; epoch < 8; ++epoch) {
      if (epoch == cut) {
        part = StopRule(1, 60, part.state());
      }
      const std::uint32_t radius = epoch == 0 ? 2 : 1;
      ASSERT_EQ(whole.is_last(epoch, radius, sums[epoch]),
                part.is_last(epoch, radius, sums[epoch]));
      ASSERT_EQ(whole.state(), part.state());
    }
  }
}

}  // namespace
}  // namespace somatlas::pipeline
