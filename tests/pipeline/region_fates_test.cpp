// What became of regions, against all pairs of them.
#include "pipeline/region_fates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/pipeline/made_atlas.h"

namespace somatlas::pipeline {
namespace {

TEST_F(AtlasDiffs, LinkRegionsWithHalfOfThemselvesInAnother) {
  std::map<Fate, int> met;
  for (int round = 0; round < 300; ++round) {
    const std::size_t olds = 1 + below(6);
    const std::size_t news = 1 + below(6);
    AtlasOverlap overlap;
    overlap.before.in.resize(olds);
    overlap.before.shared.resize(olds);
    overlap.after.in.resize(news);
    overlap.after.shared.resize(news);
    overlap.flows.resize(olds);
    std::vector<std::vector<std::uint64_t>> articles(olds, std::vector<std::uint64_t>(news));
    for (std::size_t a = 0; a < olds; ++a) {
      for (std::size_t b = 0; b < news; ++b) {
        articles[a][b] = below(3) == 0 ? below(5) : 0;
        if (articles[a][b] != 0) {
          overlap.flows[a].push_back({static_cast<std::uint32_t>(b), articles[a][b]});
          overlap.before.shared[a] += articles[a][b];
          overlap.after.shared[b] += articles[a][b];
        }
      }
    }
    // In integers, by all pairs; of two halves the first counts.
    const auto linked = [&](std::size_t a, std::size_t b) {
      const std::uint64_t here = articles[a][b];
      bool first_of_a = true;
      bool first_of_b = true;
      for (std::size_t other = 0; other < b; ++other) {
        first_of_a = first_of_a && articles[a][other] < here;
      }
      for (std::size_t other = 0; other < a; ++other) {
        first_of_b = first_of_b && articles[other][b] < here;
      }
      return here != 0 && ((2 * here >= overlap.before.shared[a] && first_of_a) ||
                           (2 * here >= overlap.after.shared[b] && first_of_b));
    };
    const RegionFates fates = fates_of(matches_by_articles(overlap));
    const auto degree_of_old = [&](std::size_t a) {
      std::size_t links = 0;
      for (std::size_t b = 0; b < news; ++b) {
        links += linked(a, b) ? 1 : 0;
      }
      return links;
    };
    const auto degree_of_new = [&](std::size_t b) {
      std::size_t links = 0;
      for (std::size_t a = 0; a < olds; ++a) {
        links += linked(a, b) ? 1 : 0;
      }
      return links;
    };
    for (std::size_t a = 0; a < olds; ++a) {
      Fate expected = degree_of_old(a) == 0 ? Fate::vanished : Fate::split;
      for (std::size_t b = 0; b < news; ++b) {
        EXPECT_EQ(linked(a, b), std::ranges::binary_search(fates.successors[a], b));
        if (linked(a, b) && degree_of_old(a) == 1) {
          expected = degree_of_new(b) == 1 ? Fate::goes_on : Fate::merged;
        }
      }
      EXPECT_EQ(fates.before[a], expected);
      ++met[expected];
    }
    for (std::size_t b = 0; b < news; ++b) {
      Fate expected = degree_of_new(b) == 0 ? Fate::appeared : Fate::merged;
      for (std::size_t a = 0; a < olds; ++a) {
        EXPECT_EQ(linked(a, b), std::ranges::binary_search(fates.predecessors[b], a));
        if (linked(a, b) && degree_of_new(b) == 1) {
          expected = degree_of_old(a) == 1 ? Fate::goes_on : Fate::split;
        }
      }
      EXPECT_EQ(fates.after[b], expected);
      ++met[expected];
    }
  }
  EXPECT_EQ(met.size(), 5U);
}

}  // namespace
}  // namespace somatlas::pipeline
