// Names of regions on counts made up for each rule, by a small tree.
#include "pipeline/region_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

using store::descriptor_code;

constexpr auto neoplasms = descriptor_code(9369, 6);  // the root C04
constexpr auto breast = descriptor_code(1943, 6);
constexpr auto lung = descriptor_code(8175, 6);
constexpr auto asthma = descriptor_code(1249, 6);
constexpr auto measles = descriptor_code(8457, 6);
constexpr auto viral = descriptor_code(14777, 6);  // Virus Diseases
constexpr auto olanzapine = descriptor_code(77152, 9);
constexpr auto psychotropic = descriptor_code(11619, 6);
constexpr auto outcome = descriptor_code(16896, 6);

class RegionNamesTest : public testing::Test {
 protected:
  /// The names of regions of 400 articles each, of 100,000 in all. articles: of each region, those
  /// with each descriptor of `codes`.
  std::vector<std::string> names(const std::vector<std::vector<std::uint32_t>>& articles,
                                 const std::vector<std::vector<std::uint32_t>>& groups) {
    std::vector<LabelDescriptor> descriptors;
    for (std::size_t d = 0; d < codes.size(); ++d) {
      descriptors.push_back({codes[d], corpus[d], topics.is_topic(codes[d])});
    }
    MapRegions regions;  // of one cell each
    for (std::uint32_t region = 0; region < articles.size(); ++region) {
      regions.region.push_back(region);
    }
    regions.parent[0].resize(articles.size());
    const std::vector<std::uint8_t> vacant(articles.size());
    const std::vector<std::uint32_t> hits(articles.size(), 400);
    std::vector<std::uint16_t> planes;
    for (std::size_t d = 0; d < codes.size(); ++d) {
      for (const auto& region : articles) {
        planes.push_back(static_cast<std::uint16_t>(region[d] * 16'383 / 400));
      }
    }
    RegionWeights weights(regions, vacant, hits);
    weights.add_planes(planes);
    const std::vector<std::uint64_t> of_regions(hits.begin(), hits.end());
    return RegionNames({topics, descriptors, 100'000}, weights, of_regions).names(groups);
  }

  MeshTopics topics{{{neoplasms, "Neoplasms", {}},
                     {breast, "Breast Neoplasms", {"C04.588.180"}},
                     {lung, "Lung Neoplasms", {"C04.588.894"}},
                     {asthma, "Asthma", {"C08.127.108"}},
                     {measles, "Measles", {"C01.925.782.580.600.500.500"}},
                     {viral, "Virus Diseases", {"C01.925"}},
                     {olanzapine, "Olanzapine", {"D03.633.100", "D27.505.954.427.700"}},
                     {psychotropic, "Psychotropic Drugs", {"D27.505.954.427"}},
                     {outcome, "Treatment Outcome", {"E01.789.800"}}}};
  std::vector<store::DescriptorCode> codes{neoplasms, breast, lung,       asthma,
                                           measles,   viral,  olanzapine, outcome};
  std::vector<std::uint64_t> corpus{500, 1'000, 1'000, 1'000, 1'000, 500, 1'000, 5'000};
};

TEST_F(RegionNamesTest, OneHeadingStandsAloneWhereItCoversEnough) {
  EXPECT_EQ(names({{0, 200, 0, 150, 0, 0, 0, 0}}, {{0}}),
            (std::vector<std::string>{"Breast Neoplasms"}));
  // Of 110 and 100 articles neither says what the region is about.
  EXPECT_EQ(names({{0, 110, 0, 100, 0, 0, 0, 0}}, {{0}}),
            (std::vector<std::string>{"Breast Neoplasms / Asthma"}));
  EXPECT_EQ(names({{0, 80, 0, 70, 60, 0, 50, 0}}, {{0}}),
            (std::vector<std::string>{"Breast Neoplasms / Asthma / Measles"}));
}

TEST_F(RegionNamesTest, AHeadingCountsTheArticlesBelowIt) {
  EXPECT_EQ(names({{0, 120, 120, 0, 0, 0, 0, 0}}, {{0}}), (std::vector<std::string>{"Neoplasms"}));
  // The region's parts have one each.
  EXPECT_EQ(names({{0, 390, 0, 0, 0, 0, 0, 0}, {0, 0, 390, 0, 0, 0, 0, 0}}, {{0}, {1}}),
            (std::vector<std::string>{"Breast Neoplasms", "Lung Neoplasms"}));
  EXPECT_EQ(names({{0, 390, 0, 0, 0, 0, 0, 0}, {0, 0, 390, 0, 0, 0, 0, 0}}, {{0, 1}}),
            (std::vector<std::string>{"Neoplasms"}));
}

TEST_F(RegionNamesTest, AWiderHeadingOfOneDescriptorGivesWayToIt) {
  // Few of the corpus have it, so that it would gain more.
  corpus = {1, 1'000, 1, 1'000, 1'000, 1, 1'000, 1};
  EXPECT_EQ(names({{0, 0, 0, 0, 0, 0, 300, 0}}, {{0}}), (std::vector<std::string>{"Olanzapine"}));
  EXPECT_EQ(names({{0, 0, 0, 0, 300, 10, 0, 0}}, {{0}}), (std::vector<std::string>{"Measles"}));
}

TEST_F(RegionNamesTest, WhatSaysNotWhatItIsAboutNamesNothing) {
  EXPECT_EQ(names({{0, 0, 0, 0, 0, 0, 0, 400}, {0, 0, 0, 0, 0, 0, 0, 400}}, {{0}, {1}}),
            (std::vector<std::string>{"mixed topics", "mixed topics (2)"}));
}

TEST_F(RegionNamesTest, TheLaterOfTwoIsNamedByItsNext) {
  const std::vector<std::uint32_t> one{0, 300, 0, 0, 0, 0, 0, 0};
  // The second has another that covers enough; the third one that gains half as much and does not.
  EXPECT_EQ(
      names({one, {0, 300, 0, 250, 0, 0, 0, 0}, {0, 180, 0, 0, 150, 0, 0, 0}}, {{0}, {1}, {2}}),
      (std::vector<std::string>{"Breast Neoplasms", "Asthma", "Breast Neoplasms / Measles"}));
  EXPECT_EQ(names({one, one}, {{0}, {1}}),
            (std::vector<std::string>{"Breast Neoplasms", "Breast Neoplasms (2)"}));
  // What is above the first is no other name.
  EXPECT_EQ(names({one, {0, 200, 60, 0, 0, 0, 0, 0}}, {{0}, {1}})[1],
            "Breast Neoplasms / Lung Neoplasms");
}

TEST_F(RegionNamesTest, NoTwoAreAlikeAndNoHeadingIsAboveAnother) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<std::vector<std::uint32_t>> articles(12);
    std::vector<std::vector<std::uint32_t>> groups(12);
    for (auto& region : articles) {
      for (std::size_t d = 0; d < codes.size(); ++d) {
        region.push_back(static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 200 : 0));
      }
    }
    for (std::uint32_t region = 0; region < 12; ++region) {
      groups[random() % 12].push_back(region);
    }
    std::set<std::string> seen;
    const std::vector<std::string> given = names(articles, groups);
    ASSERT_EQ(given.size(), groups.size());
    for (const std::string& name : given) {
      EXPECT_TRUE(seen.insert(name).second) << name;
      EXPECT_LE(std::count(name.begin(), name.end(), '/'), 2) << name;
      const bool both = name.find("Neoplasms / ") == 0 || name.find(" / Neoplasms") != name.npos;
      EXPECT_FALSE(both && (name.find("Breast") != name.npos || name.find("Lung") != name.npos))
          << name;
    }
    EXPECT_EQ(names(articles, groups), given);
  }
}

}  // namespace
}  // namespace somatlas::pipeline
