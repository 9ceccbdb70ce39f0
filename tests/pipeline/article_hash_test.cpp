// Pins the hashes: a change would change every map. The expected values are XXH3-64 of the 24 bytes
// written out by hand.
#include "pipeline/article_hash.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace somatlas::pipeline {
namespace {

TEST(ArticleHash, IsPinned) {
  EXPECT_EQ(article_hash(Salt::start, 1, 1), 0x5092'A22E'07FD'C150);
  EXPECT_EQ(article_hash(Salt::sample, 31'415'926, 1), 0xCFB3'80B0'C4F4'5CFC);
  EXPECT_EQ(article_hash(Salt::holdout, 4'294'967'295, 0xFEDC'BA98'7654'3210),
            0xB9FC'7CC6'C8DA'C99A);
}

TEST(ArticleHash, DependsOnEachPart) {
  const std::uint64_t hash = article_hash(Salt::start, 5, 7);
  EXPECT_NE(hash, article_hash(Salt::sample, 5, 7));
  EXPECT_NE(hash, article_hash(Salt::start, 6, 7));
  EXPECT_NE(hash, article_hash(Salt::start, 5, 8));
  EXPECT_NE(hash, article_hash(Salt::start, 7, 5));
}

TEST(HeldOut, NoneAtZero) {
  for (std::uint32_t pmid = 1; pmid < 10'000; ++pmid) {
    ASSERT_FALSE(held_out(pmid, 1, 0.0));
    ASSERT_FALSE(held_out(pmid, 1, 1e-19));  // below 2 of 2^64
  }
}

TEST(HeldOut, IsExactAtTheHashItself) {
  // A share of m / 2^53 holds out the hashes below m * 2^11.
  for (std::uint32_t pmid = 1; pmid < 2'000; ++pmid) {
    const std::uint64_t high = article_hash(Salt::holdout, pmid, 3) >> 11;
    ASSERT_FALSE(held_out(pmid, 3, std::ldexp(static_cast<double>(high), -53)));
    if (high + 1 < std::uint64_t{1} << 53) {
      ASSERT_TRUE(held_out(pmid, 3, std::ldexp(static_cast<double>(high + 1), -53)));
    }
  }
}

TEST(HeldOut, TakesAboutTheShare) {
  std::uint32_t held = 0;
  for (std::uint32_t pmid = 1; pmid <= 1'000'000; ++pmid) {
    held += held_out(pmid, 1, 0.01) ? 1 : 0;
  }
  EXPECT_NEAR(held, 10'000, 500);  // five standard deviations
}

TEST(RandomNeuron, IsTheHighHalfOfTheProduct) {
  __extension__ using Wide = unsigned __int128;
  std::vector<std::uint32_t> hits(9);
  for (std::uint32_t pmid = 1; pmid <= 90'000; ++pmid) {
    const std::uint32_t neuron = random_neuron(pmid, 2, 9);
    ASSERT_LT(neuron, 9U);
    // Neuron i owns the hashes from ceil(i * 2^64 / 9) on.
    const Wide product = Wide{article_hash(Salt::start, pmid, 2)} * 9;
    ASSERT_LE(Wide{neuron} << 64, product);
    ASSERT_LT(product, Wide{neuron + 1} << 64);
    ++hits[neuron];
  }
  for (const std::uint32_t count : hits) {
    EXPECT_NEAR(count, 10'000, 500);
  }
  EXPECT_EQ(random_neuron(17, 2, 1), 0U);
}

}  // namespace
}  // namespace somatlas::pipeline
