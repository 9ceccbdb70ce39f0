// Where topics of two random atlases lie and how like their regions are, against plain loops over
// planes.
#include "pipeline/topic_moves.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "pipeline/region_fates.h"
#include "tests/pipeline/made_atlas.h"

namespace somatlas::pipeline {
namespace {

TEST_F(AtlasDiffs, TopicsLieWhereMostOfTheirArticlesAre) {
  const AtlasOverlap overlap = overlap_of(old_map(), new_map());
  TopicRequest request;
  request.likeness = true;
  const TopicMoves topics =
      topic_moves(old_map(), before_.cells_, new_map(), after_.cells_, overlap, request);
  std::set<store::DescriptorCode> moved;
  for (const TopicMove& move : topics.moves) {
    moved.insert(move.code);
    const auto check = [&](MadeAtlas& atlas, std::size_t parts, const TopicPlace& place) {
      std::vector<double> articles(parts);
      double total = 0;
      const std::vector<std::uint16_t>& plane = atlas.planes_.at(move.code);
      for (std::size_t i = 0; i < plane.size(); ++i) {
        articles[atlas.cells_.region[i]] += plane[i] / 16383.0 * atlas.cells_.hits[i];
        total += plane[i] / 16383.0 * atlas.cells_.hits[i];
      }
      const auto most = std::ranges::max_element(articles);
      EXPECT_EQ(place.part, static_cast<std::uint32_t>(most - articles.begin()));
      EXPECT_NEAR(place.share, *most / total, 1e-9);
      EXPECT_EQ(place.cell,
                static_cast<std::uint32_t>(std::ranges::max_element(plane) - plane.begin()));
      EXPECT_EQ(place.articles, atlas.frequency_.at(move.code));
      for (double& value : articles) {
        value /= total;
      }
      return articles;
    };
    const std::vector<double> old_share = check(before_, 9, move.before);
    const std::vector<double> new_share = check(after_, 12, move.after);
    // Total variation between where the topic is and where its parts' shared articles are.
    std::vector<double> expected(12);
    double carried = 0;
    for (std::size_t from = 0; from < 9; ++from) {
      for (const AtlasOverlap::Flow& flow : overlap.flows[from]) {
        const double share = old_share[from] * static_cast<double>(flow.articles) /
                             static_cast<double>(overlap.before.shared[from]);
        expected[flow.part] += share;
        carried += share;
      }
    }
    double apart = 0;
    for (std::size_t to = 0; to < 12; ++to) {
      apart += std::abs(expected[to] / carried - new_share[to]) / 2;
    }
    ASSERT_TRUE(move.moved);
    EXPECT_NEAR(*move.moved, apart, 1e-9);
  }
  std::set<store::DescriptorCode> expected_moved;
  std::set<store::DescriptorCode> gone;
  std::set<store::DescriptorCode> appeared;
  for (const auto& [code, articles] : before_.frequency_) {
    const auto other = after_.frequency_.find(code);
    if (other == after_.frequency_.end()) {
      gone.insert(code);
    } else if (articles >= 10 && other->second >= 10) {
      expected_moved.insert(code);
    }
  }
  for (const auto& [code, articles] : after_.frequency_) {
    if (!before_.frequency_.contains(code)) {
      appeared.insert(code);
    }
  }
  EXPECT_EQ(moved, expected_moved);
  const auto codes = [](const std::vector<store::AtlasDescriptor>& list) {
    std::set<store::DescriptorCode> all;
    for (const store::AtlasDescriptor& descriptor : list) {
      all.insert(descriptor.code);
    }
    return all;
  };
  EXPECT_EQ(codes(topics.gone), gone);
  EXPECT_EQ(codes(topics.appeared), appeared);
  EXPECT_TRUE(
      std::ranges::is_sorted(topics.gone, std::greater<>(), &store::AtlasDescriptor::articles));
}

TEST_F(AtlasDiffs, LikenessIsTheCorrelationOfMeanWeights) {
  const AtlasOverlap overlap = overlap_of(old_map(), new_map());
  TopicRequest request;
  request.likeness = true;
  const TopicMoves topics =
      topic_moves(old_map(), before_.cells_, new_map(), after_.cells_, overlap, request);
  std::set<store::DescriptorCode> all;
  for (const MadeAtlas* atlas : {&before_, &after_}) {
    for (const auto& [code, plane] : atlas->planes_) {
      all.insert(code);
    }
  }
  // By part a vector over all descriptors, 0 where the atlas lacks one.
  const auto vectors = [&](MadeAtlas& atlas, std::size_t parts) {
    std::vector<std::vector<double>> result(parts);
    for (const store::DescriptorCode code : all) {
      std::vector<double> sum(parts);
      std::vector<double> mass(parts);
      double total = 0;
      double total_mass = 0;
      for (std::size_t i = 0; i < atlas.cells_.region.size(); ++i) {
        const double here = atlas.cells_.vacant[i] != 0 ? 0 : atlas.cells_.hits[i] + 1.0;
        const double weight = atlas.planes_.contains(code) ? atlas.planes_[code][i] / 16383.0 : 0;
        sum[atlas.cells_.region[i]] += here * weight;
        mass[atlas.cells_.region[i]] += here;
        total += here * weight;
        total_mass += here;
      }
      for (std::size_t part = 0; part < parts; ++part) {
        result[part].push_back((mass[part] > 0 ? sum[part] / mass[part] : 0) - total / total_mass);
      }
    }
    return result;
  };
  const auto old_vectors = vectors(before_, 9);
  const auto new_vectors = vectors(after_, 12);
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += a[i] * b[i];
    }
    return sum;
  };
  ASSERT_EQ(topics.likeness.size(), 9U * 12);
  for (std::size_t a = 0; a < 9; ++a) {
    for (std::size_t b = 0; b < 12; ++b) {
      EXPECT_NEAR(topics.likeness[a * 12 + b],
                  product(old_vectors[a], new_vectors[b]) /
                      std::sqrt(product(old_vectors[a], old_vectors[a]) *
                                product(new_vectors[b], new_vectors[b])),
                  1e-9);
    }
  }
  const RegionMatches matches = matches_by_likeness(topics.likeness, 9, 12);
  for (std::uint32_t a = 0; a < 9; ++a) {
    for (std::uint32_t b = 0; b < 12; ++b) {
      EXPECT_LE(topics.likeness[a * 12 + b], matches.successor[a]->share);
      EXPECT_LE(topics.likeness[a * 12 + b], matches.predecessor[b]->share);
    }
    EXPECT_EQ(topics.likeness[a * 12 + matches.successor[a]->region], matches.successor[a]->share);
  }
  RegionMatches made;
  made.successor = {RegionMatch{0, 0.69}, RegionMatch{1, 0.7}};
  made.predecessor.resize(2);
  made.least = matches.least;
  EXPECT_EQ(fates_of(made).before, (std::vector{Fate::vanished, Fate::goes_on}));
}

TEST_F(AtlasDiffs, ThreadsChangeNoBit) {
  // Several batches of planes.
  for (MadeAtlas* const atlas : {&before_, &after_}) {
    for (std::uint32_t number = 100; number < 400; ++number) {
      const store::DescriptorCode code = store::descriptor_code(number, 6);
      if (below(4) != 0) {
        atlas->frequency_[code] = below(30);
        for (std::size_t i = 0; i < atlas->cells_.region.size(); ++i) {
          atlas->planes_[code].push_back(static_cast<std::uint16_t>(below(16'384)));
        }
      }
    }
  }
  const AtlasOverlap overlap = overlap_of(old_map(), new_map());
  TopicRequest request;
  request.likeness = true;
  const auto with_threads = [&](int threads) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<std::size_t>(threads));
    oneapi::tbb::task_arena arena(threads);
    return arena.execute([&] {
      return topic_moves(old_map(), before_.cells_, new_map(), after_.cells_, overlap, request);
    });
  };
  const TopicMoves alone = with_threads(1);
  EXPECT_GT(alone.moves.size(), 30U);  // some 75
  for (const int threads : {2, 5}) {
    const TopicMoves spread = with_threads(threads);
    EXPECT_EQ(spread.likeness, alone.likeness);
    EXPECT_EQ(spread.gone, alone.gone);
    EXPECT_EQ(spread.appeared, alone.appeared);
    ASSERT_EQ(spread.moves.size(), alone.moves.size());
    for (std::size_t i = 0; i < alone.moves.size(); ++i) {
      EXPECT_EQ(spread.moves[i].code, alone.moves[i].code);
      EXPECT_EQ(spread.moves[i].before, alone.moves[i].before);
      EXPECT_EQ(spread.moves[i].after, alone.moves[i].after);
      EXPECT_EQ(spread.moves[i].moved, alone.moves[i].moved);
    }
  }
}

}  // namespace
}  // namespace somatlas::pipeline
