// Likeness, joins and labels of regions against the rules written out on small maps: sums by plain
// loops, joins by comparing all pairs, names by a small tree.
#include "pipeline/region_labels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "pipeline/lift.h"
#include "pipeline/region_levels.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

/// Regions that are stripes of two columns, in no areas yet.
MapRegions stripes(std::uint32_t side) {
  MapRegions regions;
  for (std::uint32_t cell = 0; cell < side * side; ++cell) {
    regions.region.push_back(cell % side / 2);
  }
  regions.parent[0].assign((side + 1) / 2, 0);
  return regions;
}

TEST(RegionWeights, AreSumsAndTheDistanceOfMeans) {
  std::mt19937_64 random(test_seed());
  const std::uint32_t side = 9;
  const std::size_t cells = 81;
  const MapRegions regions = stripes(side);
  std::vector<std::uint8_t> vacant;
  std::vector<std::uint32_t> hits;
  for (std::size_t i = 0; i < cells; ++i) {
    vacant.push_back(random() % 4 == 0 ? 1 : 0);
    hits.push_back(vacant[i] != 0 ? 0 : static_cast<std::uint32_t>(random() % 50));
  }
  const std::size_t count = 150;  // more than are taken at once
  std::vector<std::uint16_t> planes;
  for (std::size_t i = 0; i < count * cells; ++i) {
    const bool empty = vacant[i % cells] != 0 || i / cells % 3 == 0;
    planes.push_back(static_cast<std::uint16_t>(empty ? 0 : random() % 16'384));
  }
  RegionWeights weights(regions, vacant, hits);
  weights.add_planes(std::span(planes).first(cells));
  weights.add_planes(std::span(planes).subspan(cells));
  ASSERT_EQ(weights.regions(), 5U);
  const auto mean = [&](std::size_t region, std::size_t plane) -> std::int64_t {
    std::uint64_t sum = 0;
    std::uint64_t mass = 0;
    for (std::size_t i = 0; i < cells; ++i) {
      if (regions.region[i] == region && vacant[i] == 0) {
        sum += std::uint64_t{planes[plane * cells + i]} * (hits[i] + 1);
        mass += hits[i] + 1;
      }
    }
    EXPECT_EQ(weights.mass(region), mass);
    return static_cast<std::int64_t>((2 * sum + mass) / (2 * mass));
  };
  for (std::size_t a = 0; a < 5; ++a) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> expected;
    for (std::uint32_t plane = 0; plane < count; ++plane) {
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < cells; ++i) {
        sum += regions.region[i] == a ? std::uint64_t{planes[plane * cells + i]} * hits[i] : 0;
      }
      if (sum != 0) {
        expected.emplace_back(plane, sum);
      }
    }
    std::vector<std::pair<std::uint32_t, std::uint64_t>> found;
    for (const RegionWeight& weight : weights.of(a)) {
      found.emplace_back(weight.descriptor, weight.sum);
      EXPECT_EQ(weight.articles(), (2 * weight.sum + 16'383) / 32'766);
    }
    EXPECT_EQ(found, expected);
    for (std::size_t b = 0; b < 5; ++b) {
      std::int64_t square = 0;
      for (std::size_t plane = 0; plane < count; ++plane) {
        const std::int64_t difference = mean(a, plane) - mean(b, plane);
        square += difference * difference;
      }
      ASSERT_EQ(weights.square_distance(a, b), static_cast<std::uint64_t>(square));
    }
  }
}

TEST(JoinRegions, JoinsNeighboursThatAreAlike) {
  // Side 16 has 32 regions at most, 16 areas, 8 continents; here are as many regions as columns,
  // each a stripe. Stripes 2i and 2i + 1 are alike, and of four stripes the halves more than
  // others.
  const std::uint32_t side = 16;
  MapRegions regions;
  std::vector<std::uint16_t> plane;
  for (std::uint32_t cell = 0; cell < side * side; ++cell) {
    const std::uint32_t column = cell % side;
    regions.region.push_back(2 * column + (cell / side >= 8 ? 1 : 0));
    plane.push_back(static_cast<std::uint16_t>(column / 2 % 2 * 10'000 + column % 2 * 2'000 +
                                               (cell / side >= 8 ? 100 : 0)));
  }
  regions.parent[0].assign(32, 0);
  const std::vector<std::uint8_t> vacant(256);
  const std::vector<std::uint32_t> hits(256, 3);
  RegionWeights weights(regions, vacant, hits);
  weights.add_planes(plane);
  join_regions(regions, side, weights, hits);
  ASSERT_EQ(regions.parent[1].size(), 16U);
  ASSERT_EQ(regions.parent[2].size(), 8U);
  const std::vector<std::uint32_t> area = regions.of_cells(1);
  const std::vector<std::uint32_t> continent = regions.of_cells(2);
  for (std::uint32_t cell = 0; cell < side * side; ++cell) {
    // Halves of a column first, then columns of a pair; numbers by the first cell.
    EXPECT_EQ(area[cell], cell % side);
    EXPECT_EQ(continent[cell], cell % side / 2);
  }
}

class Labels : public testing::Test {
 protected:
  static constexpr auto humans = store::descriptor_code(6801, 6);
  static constexpr auto neoplasms = store::descriptor_code(9369, 6);  // the root C04
  static constexpr auto breast = store::descriptor_code(1943, 6);
  static constexpr auto lung = store::descriptor_code(8175, 6);
  static constexpr auto asthma = store::descriptor_code(1249, 6);
  static constexpr auto nameless = store::descriptor_code(77, 6);

  /// Four regions of one cell each, in two areas that are two continents.
  Labels() {
    regions_.region = {0, 1, 2, 3};
    regions_.parent[0] = {0, 0, 1, 1};
    regions_.parent[1] = {0, 1};
    regions_.parent[2] = {0, 0};
  }

  std::array<std::vector<store::AtlasRegion>, store::region_levels> levels(
      const std::map<store::DescriptorCode, std::vector<std::uint16_t>>& planes,
      const std::map<store::DescriptorCode, std::uint64_t>& articles) {
    const std::vector<std::uint8_t> vacant(hits_.size());
    RegionWeights weights(regions_, vacant, hits_);
    std::vector<LabelDescriptor> descriptors;
    for (const auto& [code, plane] : planes) {
      descriptors.push_back({code, articles.at(code), topics_.is_topic(code)});
      weights.add_planes(plane);
    }
    const std::vector<std::uint32_t> year_count{10, 20, 30, 40};
    const std::vector<std::uint64_t> year_sum{1, 2, 3, 4};
    const std::vector<std::uint32_t> recent{5, 6, 7, 8};
    return label_regions({topics_, descriptors, 100'000}, 2, regions_, weights,
                         {hits_, year_count, year_sum, recent});
  }

  MapRegions regions_;
  std::vector<std::uint32_t> hits_{400, 300, 200, 0};
  MeshTopics topics_{{{humans, "Humans", {"B01.050.150.900"}},
                      {neoplasms, "Neoplasms", {}},
                      {breast, "Breast Neoplasms", {"C04.588.180"}},
                      {lung, "Lung Neoplasms", {"C04.588.894"}},
                      {asthma, "Asthma", {"C08.127.108"}}}};
};

TEST_F(Labels, RegionsAreNamedByTopicsAndAreasByHeadings) {
  const auto levels = this->levels({{humans, {16'383, 16'383, 16'383, 0}},
                                    {breast, {12'000, 0, 0, 0}},
                                    {lung, {0, 12'000, 0, 0}},
                                    {asthma, {0, 0, 12'000, 0}}},
                                   {{humans, 60'000}, {breast, 900}, {lung, 900}, {asthma, 900}});
  ASSERT_EQ(levels[0].size(), 4U);
  EXPECT_EQ(levels[0][0].name, "Breast Neoplasms");
  EXPECT_EQ(levels[0][1].name, "Lung Neoplasms");
  EXPECT_EQ(levels[0][2].name, "Asthma");
  EXPECT_EQ(levels[0][3].name, "no articles");
  ASSERT_EQ(levels[1].size(), 2U);
  EXPECT_EQ(levels[1][0].name, "Neoplasms");  // of both kinds, though no article has it itself
  EXPECT_EQ(levels[1][1].name, "Asthma");
  EXPECT_EQ(levels[2][0].name, "Neoplasms");

  // Topics first, then what only stands out.
  const store::AtlasRegion& first = levels[0][0];
  ASSERT_EQ(first.leading.size(), 2U);
  EXPECT_EQ(first.leading[0], (store::AtlasRegion::Leading{breast, 293}));  // 400 * 12000 / 16383
  EXPECT_EQ(first.leading[1], (store::AtlasRegion::Leading{humans, 400}));
  EXPECT_TRUE(levels[0][3].leading.empty());

  const store::AtlasRegion& area = levels[1][0];
  EXPECT_EQ(area.hits, 700U);
  EXPECT_EQ(area.cells, 2U);
  EXPECT_EQ(area.parent, 0U);
  EXPECT_EQ(area.centre, 0U);
  EXPECT_EQ(area.year_count, 30U);
  EXPECT_EQ(area.year_sum, 3U);
  EXPECT_EQ(area.recent_count, 11U);
  EXPECT_EQ(levels[1][1].parent, 1U);
}

TEST_F(Labels, NoTwoOfALevelShareAName) {
  // All of them are of asthma first; the second has another topic that stands out nearly as much,
  // the third one that does not.
  const auto levels = this->levels({{asthma, {16'000, 16'000, 16'000, 0}},
                                    {lung, {0, 14'000, 0, 0}},
                                    {nameless, {0, 0, 1'500, 0}}},
                                   {{asthma, 2'000}, {lung, 1'000}, {nameless, 1'000}});
  EXPECT_EQ(levels[0][0].name, "Asthma");
  EXPECT_EQ(levels[0][1].name, "Lung Neoplasms");
  EXPECT_EQ(levels[0][2].name, "Asthma / D000077");
}

TEST_F(Labels, WhatStandsOutNowhereNamesNothing) {
  const auto levels = this->levels({{humans, {9'000, 9'000, 9'000, 0}}}, {{humans, 60'000}});
  EXPECT_EQ(levels[0][0].name, "mixed topics");
  EXPECT_EQ(levels[0][1].name, "mixed topics (2)");
  EXPECT_EQ(levels[2][1].name, "mixed topics (2)");
}

TEST_F(Labels, EqualTheRulesWrittenOut) {
  std::mt19937_64 random(test_seed());
  const std::uint32_t side = 8;
  const std::size_t cells = 64;
  for (int trial = 0; trial < 10; ++trial) {
    regions_ = stripes(side);
    regions_.parent = {std::vector<std::uint32_t>{0, 1, 1, 0}, {0, 0}, {0}};
    hits_.clear();
    for (std::size_t i = 0; i < cells; ++i) {
      hits_.push_back(static_cast<std::uint32_t>(random() % 40));
    }
    std::vector<LabelDescriptor> descriptors;
    std::vector<std::uint16_t> planes;
    for (std::uint32_t d = 0; d < 40; ++d) {
      descriptors.push_back(
          {store::descriptor_code(100 + d, 6), 1 + random() % 3 * 40, random() % 4 != 0});
      const bool empty = random() % 5 == 0;
      for (std::size_t i = 0; i < cells; ++i) {
        planes.push_back(static_cast<std::uint16_t>(empty ? 0 : random() % 4 * 5'000));
      }
    }
    const std::vector<std::uint8_t> vacant(cells);
    RegionWeights weights(regions_, vacant, hits_);
    weights.add_planes(std::span(planes).first(7 * cells));
    weights.add_planes(std::span(planes).subspan(7 * cells));
    const std::vector<std::uint64_t> zero(cells);
    const auto levels = label_regions({topics_, descriptors, 10'000}, side, regions_, weights,
                                      {hits_, hits_, zero, hits_});
    for (std::size_t level = 0; level < levels.size(); ++level) {
      const std::vector<std::uint32_t> of_cell = regions_.of_cells(level);
      std::set<std::string> names;
      for (std::size_t region = 0; region < levels[level].size(); ++region) {
        names.insert(levels[level][region].name);
        std::uint64_t hits = 0;
        for (std::size_t i = 0; i < cells; ++i) {
          hits += of_cell[i] == region ? hits_[i] : 0;
        }
        std::vector<std::tuple<bool, std::int64_t, std::uint32_t, std::uint64_t>> order;
        for (std::size_t d = 0; d < descriptors.size(); ++d) {
          std::uint64_t sum = 0;
          for (std::size_t i = 0; i < cells; ++i) {
            sum += of_cell[i] == region ? std::uint64_t{hits_[i]} * planes[d * cells + i] : 0;
          }
          const auto of = static_cast<double>(hits);
          const std::int64_t gain = hits == 0
                                        ? 0
                                        : LiftScale(descriptors[d].articles, 10'000)
                                              .gain(static_cast<double>(sum) / 16'383 / of, of);
          if (gain > 0) {
            order.emplace_back(!descriptors[d].topic, -gain, descriptors[d].code,
                               (2 * sum + 16'383) / 32'766);
          }
        }
        std::sort(order.begin(), order.end());
        order.resize(std::min<std::size_t>(order.size(), store::leading_per_region));
        std::vector<store::AtlasRegion::Leading> leading;
        for (const auto& [tier, gain, code, articles] : order) {
          leading.push_back({code, articles});
        }
        ASSERT_EQ(levels[level][region].leading, leading);
      }
      ASSERT_EQ(names.size(), levels[level].size());
    }
  }
}

}  // namespace
}  // namespace somatlas::pipeline
