// The test of a list's parts against plain sums of binomial terms.
#include "pipeline/enrichment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

// Of each number of hits, by adding one draw at a time.
std::vector<long double> chances(std::size_t draws, long double chance) {
  std::vector<long double> all(draws + 1);
  all[0] = 1;
  for (std::size_t n = 1; n <= draws; ++n) {
    for (std::size_t k = n; k > 0; --k) {
      all[k] = all[k] * (1 - chance) + all[k - 1] * chance;
    }
    all[0] *= 1 - chance;
  }
  return all;
}

TEST(Enrichment, TailsAreSumsOfTerms) {
  for (const double chance : {0.001, 0.2, 0.5, 0.97}) {
    for (const std::size_t draws : {1U, 7U, 300U}) {
      const auto all = chances(draws, chance);
      for (std::size_t hits = 0; hits <= draws; hits += 1 + draws / 20) {
        long double at_most = 0;
        long double at_least = 0;
        for (std::size_t k = 0; k <= draws; ++k) {
          (k <= hits ? at_most : at_least) += all[k];
        }
        at_least += all[hits];
        const BinomialTails tails = binomial_tails(hits, draws, chance);
        EXPECT_NEAR(tails.at_most, static_cast<double>(at_most), 1e-10);
        EXPECT_NEAR(tails.at_least, static_cast<double>(at_least), 1e-10);
      }
    }
  }
  EXPECT_NEAR(binomial_tails(20, 20, 1e-3).at_least / 1e-60, 1, 1e-9);
}

TEST(Enrichment, FalseDiscoveryRatesAreTheLeastOverAllThatRankBehind) {
  std::mt19937_64 random(test_seed());
  std::vector<double> p(50);
  for (double& each : p) {
    each = static_cast<double>(random() % 20) / 20;
  }
  const std::vector<double> q = false_discovery_rates(p);
  for (std::size_t i = 0; i < p.size(); ++i) {
    double least = 1;
    for (const double level : p) {
      if (level >= p[i]) {
        const auto found = std::ranges::count_if(p, [level](double x) { return x <= level; });
        least = std::min(least, level * static_cast<double>(p.size()) / static_cast<double>(found));
      }
    }
    EXPECT_DOUBLE_EQ(q[i], least);
  }
}

TEST(Enrichment, AListLikeTheCorpusFavoursNothing) {
  const std::vector<std::uint64_t> corpus{1000, 2000, 3000, 4000};
  for (const Enrichment& part : enrichment(std::vector<std::uint64_t>{10, 20, 30, 40}, corpus)) {
    EXPECT_GT(part.q, 0.9);
  }
  const auto apart = enrichment(std::vector<std::uint64_t>{60, 20, 20, 0}, corpus);
  EXPECT_DOUBLE_EQ(apart[0].expected, 10);
  EXPECT_LT(apart[0].q, 1e-20);
  EXPECT_LT(apart[3].q, 1e-15);
  EXPECT_GT(apart[1].q, 0.9);
}

}  // namespace
}  // namespace somatlas::pipeline
