// somatlas diff as a user runs it: two atlases of one store, tables that hold together, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/formats/small_atlas.h"
#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

class DiffProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    exports::SmallAtlas().make_atlas(before(), "id", "one");
    exports::SmallAtlas().make_atlas(after(), "id", "two");
  }
  [[nodiscard]] std::string before() const { return scratch_ / "before"; }
  [[nodiscard]] std::string after() const { return scratch_ / "after"; }
  [[nodiscard]] Ending diff(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"diff", before(), after(), "--least-articles", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_somatlas(arguments);
  }

  const ScratchDirectory scratch_;
};

TEST_F(DiffProgram, SaysThatTwoLikeAtlasesAreAlike) {
  const Ending ending = diff({});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.err, "");
  for (const std::string part :
       {"articles in both            4 (100.0 % of those before, 100.0 % of those after)\n",
        "with the same descriptors   100.0 %", "growth of the corpus        1.000",
        "rows and columns            do not compare: the later map was not trained --from the "
        "earlier\n",
        "regions are matched by      the articles in both\n",
        "topics compared             4: 0 lie in a region of another name that is not linked with "
        "where they "
        "lay\n"}) {
    EXPECT_NE(ending.out.find(part), std::string::npos) << part << "in\n" << ending.out;
  }
}

TEST_F(DiffProgram, SaysByWeightsTooThatTwoLikeAtlasesAreAlikeAlsoOfOnePart) {
  for (const std::string level : {"regions", "areas", "continents"}) {
    const Ending ending = diff({"--match", "weights", "--level", level, "--json"});
    ASSERT_EQ(ending.exit_code, 0) << ending.err;
    const auto json = nlohmann::json::parse(ending.out);
    for (const auto& region : json.at("after").at("regions")) {
      EXPECT_EQ(region.at("fate"), "goes on") << level;
    }
    const std::string report = diff({"--match", "weights", "--level", level}).out;
    EXPECT_NE(report.find("topics compared             4: 0 lie in a region of another name"),
              std::string::npos)
        << report;
  }
}

TEST_F(DiffProgram, TablesHoldARowARegionAndARowATopic) {
  const Ending regions = diff({"--csv", "regions"});
  EXPECT_EQ(regions.exit_code, 0) << regions.err;
  EXPECT_EQ(regions.out.substr(0, regions.out.find("\r\n")),
            "atlas,region,name,articles,articles_in_both,fate,linked_with,best_match,"
            "best_match_name,best_match_share,articles_before,relative_growth,q");
  EXPECT_EQ(std::ranges::count(regions.out, '\n'), 1 + 2 + 2);
  const Ending topics = diff({"--csv", "topics"});
  EXPECT_EQ(topics.exit_code, 0) << topics.err;
  EXPECT_EQ(std::ranges::count(topics.out, '\n'), 1 + 4);
  EXPECT_NE(topics.out.find("D000009370,\"Fishes, \"\"Zebra\"\"\",1,"), std::string::npos)
      << topics.out;
}

TEST_F(DiffProgram, JsonHoldsAllOfIt) {
  const Ending ending = diff({"--json", "--level", "areas"});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  const auto json = nlohmann::json::parse(ending.out);
  EXPECT_EQ(json.at("before").at("store_state"), "one");
  EXPECT_EQ(json.at("after").at("store_state"), "two");
  ASSERT_EQ(json.at("after").at("regions").size(), 1U);
  const auto& area = json.at("after").at("regions").at(0);
  EXPECT_EQ(area.at("name"), "Neoplasms");
  EXPECT_EQ(area.at("articles"), 4);
  EXPECT_EQ(area.at("fate"), "goes on");
  EXPECT_EQ(area.at("growth").at("relative"), 1);
  EXPECT_EQ(json.at("matched_by"), "articles");
  EXPECT_EQ(json.at("cells_compare"), false);
  EXPECT_EQ(json.at("topics").size(), 4U);
}

TEST_F(DiffProgram, MatchesByWeightsWhereToldTo) {
  const Ending ending = diff({"--json", "--match", "weights"});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  const auto json = nlohmann::json::parse(ending.out);
  EXPECT_EQ(json.at("matched_by"), "weights");
  for (const auto& region : json.at("before").at("regions")) {
    EXPECT_EQ(region.at("fate"), "goes on");
    EXPECT_NEAR(region.at("best_match").at("share").get<double>(), 1, 1e-9);
  }
}

TEST_F(DiffProgram, RefusesWhatItCannotCompare) {
  const std::string same = scratch_.path() / "." / "before";
  Ending ending = run_somatlas({"diff", before(), same});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_EQ(ending.err, "somatlas: " + same + ": is the same atlas as " + before() +
                            "; name two, the earlier first\n");
  ending = run_somatlas({"diff", before(), scratch_ / "none"});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE(ending.err.find(scratch_ / "none"), std::string::npos) << ending.err;
  exports::SmallAtlas().make_store(scratch_ / "store");
  ending = run_somatlas({"diff", scratch_ / "store", after()});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE(ending.err.find(scratch_ / "store"), std::string::npos) << ending.err;
  EXPECT_EQ(ending.out, "");
  EXPECT_EQ(run_somatlas({"diff", before()}).exit_code, 2);
  EXPECT_EQ(diff({"--csv", "cells"}).exit_code, 2);
  EXPECT_EQ(diff({"--csv", "topics", "--json"}).exit_code, 2);
  EXPECT_EQ(diff({"--level", "towns"}).exit_code, 2);
}

// Without an article in both nothing is linked, but names say where topics lie as well.
TEST_F(DiffProgram, NothingMovesToARegionOfTheSameName) {
  exports::SmallAtlas other;
  other.renumber(1000);
  other.make_atlas(scratch_ / "other", "id", "three");
  const std::vector<std::string> arguments{
      "diff", before(), scratch_ / "other", "--least-articles", "1", "--match", "articles"};
  const Ending ending = run_somatlas(arguments);
  ASSERT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_NE(ending.out.find("2 vanished"), std::string::npos) << ending.out;
  EXPECT_NE(ending.out.find("topics compared             4: 0 lie in a region of another name"),
            std::string::npos)
      << ending.out;
  std::vector<std::string> as_json = arguments;
  as_json.push_back("--json");
  const auto json = nlohmann::json::parse(run_somatlas(as_json).out);
  for (const auto& topic : json.at("topics")) {
    EXPECT_EQ(topic.at("regions_linked"), false);
  }
}

}  // namespace
}  // namespace somatlas::program_test
