// The shared arithmetic against 128-bit integers: random values and every edge that matters.
#include "gpu/contract.h"

#include <gtest/gtest.h>

#include "tests/gpu/backends.h"
#include "tests/gpu/reference.h"

namespace somatlas::gpu::testing {
namespace {

constexpr std::uint64_t hits_limit = std::uint64_t{1} << 62;

TEST(Contract, WeightsOfSmallCountsAreExact) {
  for (std::uint64_t hits = 1; hits < 400; ++hits) {
    for (std::uint64_t count = 0; count <= hits; ++count) {
      ASSERT_EQ(weight_of(count, hits), reference_weight(count, hits)) << count << " / " << hits;
    }
  }
}

TEST(Contract, WeightsAtMidpointsRoundUp) {
  // 16383 * count / hits = q + 1/2 exactly where hits = 2 * 16383 * m and count = (2 q + 1) * m.
  for (std::uint64_t m = 1; m < hits_limit / (2 * weight_one); m = m * 3 + 1) {
    const std::uint64_t hits = 2 * weight_one * m;
    for (std::uint64_t q = 0; q < weight_one; q += q < 40 ? 1 : 111) {
      const std::uint64_t count = (2 * q + 1) * m;
      ASSERT_EQ(weight_of(count, hits), q + 1) << count << " / " << hits;
      ASSERT_EQ(weight_of(count - 1, hits), reference_weight(count - 1, hits));
      ASSERT_EQ(weight_of(count + 1, hits), reference_weight(count + 1, hits));
    }
  }
}

TEST(Contract, WeightsOfCountsWhoseProductPasses64BitsAreExact) {
  auto random = generator(1);
  int wide = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    const std::uint64_t hits = (random() >> (2 + random() % 62)) % hits_limit + 1;
    const std::uint64_t hits_valid = hits == hits_limit ? hits - 1 : hits;
    const std::uint64_t count = random() % (hits_valid + 1);
    ASSERT_EQ(weight_of(count, hits_valid), reference_weight(count, hits_valid))
        << count << " / " << hits_valid;
    wide += count > UINT64_MAX / weight_one ? 1 : 0;
  }
  EXPECT_GT(wide, 100'000) << "too few products passed 64 bits";
}

TEST(Contract, WeightsAtTheEdgesOfTheDomainAreExact) {
  for (int bit = 0; bit < 62; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t hits : {power - 1, power, power + 1}) {
      if (hits == 0) {
        continue;
      }
      for (const std::uint64_t count :
           {std::uint64_t{0}, std::uint64_t{1}, hits / 3, hits / 2, hits - hits / 2, hits - 1, hits,
            hits / weight_one, hits / (2 * weight_one)}) {
        ASSERT_EQ(weight_of(count, hits), reference_weight(count, hits)) << count << " / " << hits;
      }
    }
  }
  EXPECT_EQ(weight_of(hits_limit - 1, hits_limit - 1), weight_one);
}

TEST(Contract, AnEstimateOffByOneIsSettled) {
  auto random = generator(2);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t hits = random() % (hits_limit - 1) + 1;
    const std::uint64_t count = random() % (hits + 1);
    const std::uint32_t exact = reference_weight(count, hits);
    ASSERT_EQ(settle_weight(count, hits, exact), exact);
    ASSERT_EQ(settle_weight(count, hits, exact + 1), exact);
    if (exact > 0) {
      ASSERT_EQ(settle_weight(count, hits, exact - 1), exact);
    }
  }
}

TEST(Contract, TheLargestSumOfSquaresHasANormBelowPadding) {
  EXPECT_LT(norm_of(max_square_sum), padded_norm);
  EXPECT_GE((64 * (max_square_sum + 1) + 8191) / 16383, std::uint64_t{INT32_MAX});
}

TEST(Contract, NormsAreRounded) {
  EXPECT_EQ(norm_of(0), 0);
  EXPECT_EQ(norm_of(127), 0);  // 64 * 127 + 8191 = 16319
  EXPECT_EQ(norm_of(128), 1);  // 64 * 128 + 8191 = 16383
  EXPECT_EQ(norm_of(std::uint64_t{weight_one} * weight_one), 64 * 16383);
}

TEST(Contract, RankKeysOrderByScoreThenNeuron) {
  EXPECT_LT(rank_key(-5, 9), rank_key(-4, 0));
  EXPECT_LT(rank_key(-1, 9), rank_key(0, 0));
  EXPECT_LT(rank_key(7, 3), rank_key(7, 4));
  EXPECT_LT(rank_key(INT32_MIN, no_neuron), rank_key(INT32_MAX, 0));
  for (const std::int32_t score : {INT32_MIN, -1, 0, 1, INT32_MAX}) {
    EXPECT_EQ(score_of(rank_key(score, 77)), score);
    EXPECT_EQ(neuron_of(rank_key(score, no_neuron)), no_neuron);
  }
}

}  // namespace
}  // namespace somatlas::gpu::testing
