// What names a part of a map, by a small tree: check tags, strains and methods do not, headings
// that are too wide do not, and the roots are known without their tree numbers.
#include "pipeline/mesh_topics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace somatlas::pipeline {
namespace {

using store::descriptor_code;

constexpr auto neoplasms = descriptor_code(9369, 6);
constexpr auto by_site = descriptor_code(9371, 6);
constexpr auto breast = descriptor_code(1943, 6);
constexpr auto humans = descriptor_code(6801, 6);
constexpr auto male = descriptor_code(8297, 6);
constexpr auto mice = descriptor_code(51379, 6);
constexpr auto strain = descriptor_code(8810, 6);
constexpr auto zebrafish = descriptor_code(15027, 6);
constexpr auto vertebrates = descriptor_code(14714, 6);
constexpr auto blind = descriptor_code(4311, 6);
constexpr auto aspirin = descriptor_code(1241, 6);
constexpr auto actions = descriptor_code(45506, 6);
constexpr auto salicylates = descriptor_code(12459, 6);
constexpr auto pregnancy = descriptor_code(11247, 6);
constexpr auto nigeria = descriptor_code(9549, 6);
constexpr auto outcome = descriptor_code(16896, 6);
constexpr auto outbreaks = descriptor_code(4196, 6);
constexpr auto chronic = descriptor_code(2908, 6);
constexpr auto time_factors = descriptor_code(13997, 6);
constexpr auto half_life = descriptor_code(6207, 6);
constexpr auto cultured = descriptor_code(2478, 6);
constexpr auto cell_line = descriptor_code(2460, 6);
constexpr auto hela = descriptor_code(6367, 6);

MeshTopics small_tree() {
  return MeshTopics({
      {neoplasms, "Neoplasms", {}},
      {by_site, "Neoplasms by Site", {"C04.588"}},
      {breast, "Breast Neoplasms", {"C04.588.180", "C17.800.090.500"}},
      {humans, "Humans", {"B01.050.150.900.649"}},
      {male, "Male", {}},
      {mice, "Mice", {"B01.050.150.900.505.500"}},
      {strain, "Mice, Inbred C57BL", {"B01.050.050.199.520", "B01.050.150.900.505.500.400"}},
      {zebrafish, "Zebrafish", {"B01.050.150.900.493"}},
      {vertebrates, "Vertebrates", {"B01.050.150.900"}},
      {blind, "Double-Blind Method", {"E05.318.370.300", "N05.715.360.330.300"}},
      {aspirin, "Aspirin", {"D02.455.426", "D27.505.696"}},
      {actions, "Therapeutic Uses", {"D27.505"}},
      {salicylates, "Salicylates", {"D02.455"}},
      {pregnancy, "Pregnancy", {"G08.686.784.769"}},
      {nigeria, "Nigeria", {"Z01.058.290"}},
      {outcome, "Treatment Outcome", {"E01.789.800", "N04.761.559.590.800"}},
      {outbreaks, "Disease Outbreaks", {"N06.850.290.200"}},
      {chronic, "Chronic Disease", {"C23.550.291.500"}},
      {time_factors, "Time Factors", {"G01.910.857"}},
      {half_life, "Half-Life", {"G01.910.405"}},
      {cultured, "Cells, Cultured", {"A11.251"}},
      {cell_line, "Cell Line", {"A11.251.210"}},
      {hela, "HeLa Cells", {"A11.251.210.430"}},
  });
}

std::vector<store::DescriptorCode> sorted(std::vector<store::DescriptorCode> codes) {
  std::sort(codes.begin(), codes.end());
  return codes;
}

TEST(MeshTopics, WhoHowAndWhereAreNoTopics) {
  const MeshTopics topics = small_tree();
  for (const auto code :
       {humans, male, mice, strain, blind, nigeria, outcome, chronic, time_factors}) {
    EXPECT_FALSE(topics.is_topic(code)) << topics.find(code)->name;
  }
  for (const auto code : {neoplasms, breast, zebrafish, aspirin, pregnancy, outbreaks, half_life,
                          descriptor_code(77, 6)}) {
    EXPECT_TRUE(topics.is_topic(code)) << code;
  }
  // Tags are told without a tree.
  EXPECT_FALSE(MeshTopics({}).is_topic(humans));
}

TEST(MeshTopics, HeadingsAreThoseAboveThatCanNameAnArea) {
  const MeshTopics topics = small_tree();
  // The root is known though the table leaves its number out.
  EXPECT_EQ(topics.headings(breast), sorted({neoplasms, by_site, breast}));
  EXPECT_EQ(topics.headings(neoplasms), sorted({neoplasms}));
  EXPECT_EQ(topics.headings(zebrafish), sorted({zebrafish}));  // not Vertebrates
  EXPECT_EQ(topics.headings(vertebrates), sorted({}));
  EXPECT_EQ(topics.headings(aspirin), sorted({aspirin}));  // not Salicylates, a structure
  EXPECT_EQ(topics.headings(salicylates), sorted({salicylates}));
  EXPECT_EQ(topics.headings(hela), sorted({hela, cell_line}));  // Cells, Cultured is too vague
  EXPECT_EQ(topics.headings(cultured), sorted({cultured}));
  EXPECT_EQ(topics.headings(descriptor_code(77, 6)), sorted({descriptor_code(77, 6)}));
}

TEST(MeshTopics, NamesAreTheStores) {
  const MeshTopics topics = small_tree();
  EXPECT_EQ(topics.find(breast)->name, "Breast Neoplasms");
  EXPECT_EQ(topics.find(descriptor_code(77, 6)), nullptr);
}

TEST(MeshCategory, IsTheLetterOfTheTree) {
  EXPECT_EQ(mesh_category(breast, std::vector<std::string>{"C04.588.180", "A01"}), 'C');
  EXPECT_EQ(mesh_category(neoplasms, {}), 'C');  // a root
  EXPECT_EQ(mesh_category(male, {}), '-');
  EXPECT_EQ(mesh_category(male, std::vector<std::string>{""}), '-');
  EXPECT_EQ(mesh_category(male, std::vector<std::string>{"#1"}), '-');
}

}  // namespace
}  // namespace somatlas::pipeline
