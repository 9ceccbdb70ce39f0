// Growth of regions, and comparisons of two random atlases as a whole.
#include "pipeline/atlas_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/pipeline/made_atlas.h"

namespace somatlas::pipeline {
namespace {

TEST_F(AtlasDiffs, GrowthIsArticlesNowOverArticlesBefore) {
  const AtlasOverlap overlap = overlap_of(old_map(), new_map());
  const auto growth = growth_by_articles(overlap);
  const double corpus =
      static_cast<double>(overlap.after.articles) / static_cast<double>(overlap.before.articles);
  double all = 0;
  for (std::uint32_t to = 0; to < 12; ++to) {
    double before = 0;
    for (std::uint32_t from = 0; from < 9; ++from) {
      std::uint64_t here = 0;
      std::uint64_t shared = 0;
      std::uint64_t in = 0;
      for (const auto& [pmid, article] : before_.articles_) {
        if (article.neuron == MadeArticle::no_place ||
            before_.cells_.region[article.neuron] != from) {
          continue;
        }
        ++in;
        const auto other = after_.articles_.find(pmid);
        if (other != after_.articles_.end() && other->second.neuron != MadeArticle::no_place) {
          ++shared;
          here += after_.cells_.region[other->second.neuron] == to ? 1 : 0;
        }
      }
      before += shared == 0 ? 0 : static_cast<double>(here * in) / static_cast<double>(shared);
    }
    ASSERT_EQ(growth[to].has_value(), before > 0);
    if (growth[to]) {
      EXPECT_NEAR(growth[to]->before, before, 1e-9);
      EXPECT_NEAR(growth[to]->relative * corpus * before, static_cast<double>(overlap.after.in[to]),
                  1e-6);
      all += growth[to]->before;
    }
  }
  std::uint64_t in_sharing = 0;
  for (std::uint32_t from = 0; from < 9; ++from) {
    in_sharing += overlap.before.shared[from] == 0 ? 0 : overlap.before.in[from];
  }
  EXPECT_NEAR(all, static_cast<double>(in_sharing), 1e-6);
}

TEST_F(AtlasDiffs, GrowthByLinksIsOfWholeRegionsAlone) {
  AtlasOverlap overlap;
  overlap.before = {100, {40, 30, 20, 10}, {0, 0, 0, 0}};
  overlap.after = {200, {100, 60, 30, 10}, {0, 0, 0, 0}};
  RegionFates fates;
  // 0 and 1 become 0; 2 is split into 1 and 2; 3 has vanished and 3 appeared.
  fates.successors = {{0}, {0}, {1, 2}, {}};
  fates.predecessors = {{0, 1}, {2}, {2}, {}};
  const auto growth = growth_by_links(overlap, fates);
  ASSERT_TRUE(growth[0]);
  EXPECT_EQ(growth[0]->before, 70);
  EXPECT_DOUBLE_EQ(growth[0]->relative, 100.0 / 70 / 2);
  EXPECT_FALSE(growth[1] || growth[2] || growth[3]);
}

TEST_F(AtlasDiffs, AnAtlasWithItselfStaysAsItIs) {
  const auto diff = diff_atlases(before_, before_, {});
  ASSERT_TRUE(diff);
  EXPECT_EQ(diff->by, MatchBy::articles);
  EXPECT_EQ(diff->corpus_growth, 1);
  for (std::uint32_t a = 0; a < 9; ++a) {
    EXPECT_EQ(diff->fates.before[a], Fate::goes_on);
    EXPECT_EQ(diff->fates.successors[a], std::vector{a});
    EXPECT_DOUBLE_EQ(diff->growth[a]->relative, 1);
  }
  for (const TopicMove& move : diff->topics.moves) {
    EXPECT_NEAR(*move.moved, 0, 1e-9);
    EXPECT_EQ(move.before, move.after);
  }
  DiffRequest by_weights;
  by_weights.by = MatchBy::likeness;
  EXPECT_EQ(diff_atlases(before_, before_, by_weights)->fates.before, diff->fates.before);
}

TEST_F(AtlasDiffs, MatchByWeightsWhereArticlesTellLittle) {
  EXPECT_FALSE(few_shared({{100, {}, {}}, {500, {}, {}}, 10, {}, 0, 8, 4}));
  EXPECT_TRUE(few_shared({{100, {}, {}}, {500, {}, {}}, 9, {}, 0, 8, 4}));
  EXPECT_TRUE(few_shared({{500, {}, {}}, {100, {}, {}}, 9, {}, 0, 8, 4}));
  EXPECT_FALSE(other_articles({{100, {}, {}}, {500, {}, {}}, 10, {}, 0, 8, 4}));
  EXPECT_TRUE(other_articles({{100, {}, {}}, {500, {}, {}}, 10, {}, 0, 9, 4}));
  for (auto& [pmid, article] : after_.articles_) {
    article.descriptors += 10;
  }
  before_.meta_.store_id = "one";
  after_.meta_.store_id = "two";
  const auto diff = diff_atlases(before_, after_, {});
  EXPECT_EQ(diff->by, MatchBy::likeness);
  ASSERT_FALSE(diff->topics.moves.empty());
  for (const TopicMove& move : diff->topics.moves) {
    EXPECT_FALSE(move.moved);
  }
  // In one store an article that was revised is still the same.
  after_.meta_.store_id = "one";
  EXPECT_EQ(diff_atlases(before_, after_, {})->by, MatchBy::articles);
  after_.articles_[25];  // so that one is left
  std::erase_if(after_.articles_, [](const auto& entry) { return entry.first % 25 != 0; });
  for (auto& [pmid, article] : after_.articles_) {
    article.neuron = before_.articles_[pmid].neuron = 0;
  }
  EXPECT_EQ(diff_atlases(before_, after_, {})->by, MatchBy::articles);
  for (auto& [pmid, article] : before_.articles_) {
    article.neuron = pmid % 25 == 0 ? MadeArticle::no_place : article.neuron;
  }
  EXPECT_EQ(diff_atlases(before_, after_, {})->by, MatchBy::likeness);
}

TEST_F(AtlasDiffs, CellsCompareOnlyWhereTheLaterWentOn) {
  before_.meta_.store_id = after_.meta_.store_id = "id";
  before_.meta_.store_state = "one";
  after_.meta_.incremental_from = "one";
  EXPECT_FALSE(diff_atlases(before_, after_, {})->goes_on);  // another side
  MadeAtlas later = before_;
  later.meta_.incremental_from = "one";
  EXPECT_TRUE(diff_atlases(before_, later, {})->goes_on);
  later.meta_.incremental_from = "two";
  EXPECT_FALSE(diff_atlases(before_, later, {})->goes_on);
  later.meta_.incremental_from = "one";
  later.meta_.store_id = "other";
  EXPECT_FALSE(diff_atlases(before_, later, {})->goes_on);
}

TEST_F(AtlasDiffs, AStopGivesNothing) {
  DiffRequest request;
  request.progress = [](double) { return false; };
  EXPECT_FALSE(diff_atlases(before_, after_, request));
}

}  // namespace
}  // namespace somatlas::pipeline
