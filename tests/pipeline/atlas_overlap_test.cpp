// The articles that two random atlases share, against a loop over them.
#include "pipeline/atlas_overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "store/store_error.h"
#include "tests/pipeline/made_atlas.h"

namespace somatlas::pipeline {
namespace {

TEST_F(AtlasDiffs, CountSharedArticlesAsALoopDoes) {
  const AtlasOverlap overlap = overlap_of(old_map(), new_map());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> flows;
  AtlasOverlap expected;
  std::vector<std::uint64_t> before_in(9);
  std::vector<std::uint64_t> after_in(12);
  std::vector<std::uint64_t> before_shared(9);
  std::vector<std::uint64_t> after_shared(12);
  for (const auto& [pmid, article] : before_.articles_) {
    const auto other = after_.articles_.find(pmid);
    if (other != after_.articles_.end() && article.trained && other->second.trained) {
      ++expected.trained;
      expected.same_descriptors += article.descriptors == other->second.descriptors ? 1 : 0;
    }
    if (article.neuron == MadeArticle::no_place) {
      continue;
    }
    const std::uint32_t from = before_.cells_.region[article.neuron];
    ++expected.before.articles;
    ++before_in[from];
    if (other != after_.articles_.end() && other->second.neuron != MadeArticle::no_place) {
      const std::uint32_t to = after_.cells_.region[other->second.neuron];
      ++expected.shared;
      ++before_shared[from];
      ++after_shared[to];
      ++flows[{from, to}];
      expected.same_cell += article.neuron == other->second.neuron ? 1 : 0;
    }
  }
  for (const auto& [pmid, article] : after_.articles_) {
    if (article.neuron != MadeArticle::no_place) {
      ++expected.after.articles;
      ++after_in[after_.cells_.region[article.neuron]];
    }
  }
  EXPECT_GT(overlap.shared, 30U);
  EXPECT_EQ(overlap.before.articles, expected.before.articles);
  EXPECT_EQ(overlap.after.articles, expected.after.articles);
  EXPECT_EQ(overlap.shared, expected.shared);
  EXPECT_EQ(overlap.trained, expected.trained);
  EXPECT_EQ(overlap.same_descriptors, expected.same_descriptors);
  EXPECT_EQ(overlap.same_cell, expected.same_cell);
  EXPECT_EQ(overlap.before.in, before_in);
  EXPECT_EQ(overlap.before.shared, before_shared);
  EXPECT_EQ(overlap.after.in, after_in);
  EXPECT_EQ(overlap.after.shared, after_shared);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> found;
  for (std::uint32_t from = 0; from < overlap.flows.size(); ++from) {
    EXPECT_TRUE(std::ranges::is_sorted(overlap.flows[from], {}, &AtlasOverlap::Flow::part));
    for (const AtlasOverlap::Flow& flow : overlap.flows[from]) {
      found[{from, flow.part}] = flow.articles;
    }
  }
  EXPECT_EQ(found, flows);
}

TEST_F(AtlasDiffs, RefuseAPlaceOutsideTheMap) {
  before_.articles_[5].neuron = 49;
  EXPECT_THROW(static_cast<void>(overlap_of(old_map(), new_map())), store::StoreError);
}

}  // namespace
}  // namespace somatlas::pipeline
