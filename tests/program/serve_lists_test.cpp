// What somatlas serve says of somebody's own list: places as `map` finds them, and which regions it
// favours; and what it does with lists that no page sends.
#include <cmath>
#include <string>
#include <vector>

#include "tests/program/serving.h"

namespace somatlas::program_test {
namespace {

class ServeLists : public Serve {
 protected:
  /// Of 400 training articles 350 lie in region 0 and 50 in region 1, which is cell 0.
  void make_atlas(const std::string& directory) override {
    Serve::make_atlas(directory);
    store::AtlasCells cells = small_.cells();
    cells.levels[0][1].hits = 50;
    store::Atlas::open(directory, store::Atlas::Access::write)->put_cells(cells);
  }

  /// As the server gives it: what it is of, row, column, region, area, continent.
  [[nodiscard]] nlohmann::json entry(std::uint32_t what,
                                     const exports::SmallAtlas::Codes& codes) const {
    const std::uint32_t neuron = small_.place(codes)->neuron;
    return {what, neuron / 3, neuron % 3, neuron == 0 ? 1 : 0, 0, 0};
  }

  const exports::SmallAtlas small_;
};

TEST_F(ServeLists, PmidsLieWhereTrainingPlacedThem) {
  const auto found = json("/api/place?pmids=10,11,12,13,14,999,70000,70001,4294967295");
  EXPECT_EQ(found["done"], 9);
  EXPECT_EQ(found["placed"], nlohmann::json({entry(10, small_.articles().at(10)),
                                             entry(11, small_.articles().at(11)),
                                             entry(70'000, small_.articles().at(70'000)),
                                             entry(70'001, small_.articles().at(70'001))}));
}

TEST_F(ServeLists, AnAnswerReadsFewRangesAndSaysHowFarItCame) {
  std::string pmids = "70000";
  for (int range = 2; range < 90; ++range) {
    pmids += ',' + std::to_string(range * 65'536);
  }
  const auto found = json("/api/place?pmids=" + pmids);
  EXPECT_EQ(found["done"], 64);
  EXPECT_EQ(found["placed"].size(), 1U);
}

TEST_F(ServeLists, LinesAreSearched) {
  using Small = exports::SmallAtlas;
  const auto found = json(
      "/api/place?line=humans;D009369&line=Nothing+Known&line=D000009370%3B%20animals%3B"
      "Nothing%20Known&line=D000077;Humans&line=");
  EXPECT_EQ(found["done"], 5);
  EXPECT_EQ(found["unknown"], nlohmann::json::parse(R"([[1, "Nothing Known"], [3, "D000077"]])"));
  EXPECT_EQ(found["placed"],
            nlohmann::json({entry(0, {Small::humans, Small::neoplasms}),
                            entry(2, {Small::animals, Small::zebrafish, Small::unknown}),
                            entry(3, {Small::unknown, Small::humans})}));
}

TEST_F(ServeLists, WhatMayBeMeantIsSaid) {
  const auto found = json("/api/nearest?name=Humanz&name=Fish%20Zebra&name=Martians&name=");
  EXPECT_EQ(found, nlohmann::json::parse(
                       R"([[{"ui": "D006801", "name": "Humans", "articles": 2}],
      [{"ui": "D000009370", "name": "Fishes, \"Zebra\"", "articles": 1}], [], []])"));
  EXPECT_EQ(json("/api/search?q=humanz")["nearest"], found[0]);
  EXPECT_EQ(json("/api/search?q=Martians")["nearest"], nlohmann::json::array());
  for (const std::string text : {"human", "13", ""}) {
    EXPECT_FALSE(json("/api/search?q=" + text).contains("nearest")) << text;
  }
  std::string names = "name=a";
  for (int i = 0; i < 20; ++i) {
    names += "&name=a";
  }
  EXPECT_EQ(get("/api/nearest?" + names).status, 400);
  EXPECT_EQ(get("/api/nearest").status, 400);
}

TEST_F(ServeLists, LinesOfManyDescriptorsTakeSeveralAnswersOrHaveNoPlace) {
  const auto line = [](int names) {
    std::string text = "line=humans";
    for (int i = 0; i < names; ++i) {
      text += ";x" + std::to_string(i);
    }
    return text;
  };
  const auto found = json("/api/place?" + line(150) + "&" + line(150) + "&line=animals");
  EXPECT_EQ(found["done"], 1);
  EXPECT_EQ(found["placed"].size(), 1U);
  EXPECT_EQ(found["unknown"].size(), 20U);
  EXPECT_EQ(json("/api/place?" + line(199))["placed"].size(), 1U);
  const auto too_many = json("/api/place?" + line(200));
  EXPECT_EQ(too_many["done"], 1);
  EXPECT_EQ(too_many["placed"].size(), 0U);
}

TEST_F(ServeLists, RegionsAreTestedAgainstTheCorpus) {
  const auto found = json("/api/enrichment?level=1&counts=1:1,0:3");
  EXPECT_EQ(found["listed"], 4);
  EXPECT_EQ(found["corpus"], 400);
  EXPECT_EQ(found["tested"], 2);
  EXPECT_EQ(found["standing_out"], 0);
  // Of four articles at least one in region 1: 1 - (7/8)^4; of two regions the other has the same.
  const double p = 2 * (1 - std::pow(0.875, 4));
  for (const std::size_t i : {0U, 1U}) {
    const auto& region = found["regions"][i];
    EXPECT_EQ(region["number"], i);
    EXPECT_EQ(region["name"], i == 0 ? "Humans" : "Fishes, \"Zebra\"");
    EXPECT_EQ(region["observed"], i == 0 ? 3 : 1);
    EXPECT_EQ(region["expected"], i == 0 ? 3.5 : 0.5);
    EXPECT_EQ(region["ratio"], i == 0 ? 3 / 3.5 : 2);
    EXPECT_NEAR(region["p"].get<double>(), p, 1e-12);
    EXPECT_NEAR(region["q"].get<double>(), p, 1e-12);
  }
  const auto strong = json("/api/enrichment?level=1&counts=1:60,0:40");
  EXPECT_EQ(strong["standing_out"], 2);
  EXPECT_EQ(strong["listed"], 100);
  EXPECT_LT(strong["regions"][0]["q"].get<double>(), 1e-20);
  EXPECT_EQ(json("/api/enrichment?level=3&counts=0:7")["regions"][0]["p"], 1);
  EXPECT_EQ(json("/api/enrichment?level=1&counts=")["listed"], 0);
}

TEST_F(ServeLists, RefusesListsThatNoPageSends) {
  std::string pmids = "1";
  std::string lines = "line=a";
  for (int i = 0; i < 1000; ++i) {
    pmids += ",1";
    lines += i < 50 ? "&line=a" : "";
  }
  for (const std::string query :
       {"place", "place?pmids=0", "place?pmids=1,", "place?pmids=,1", "place?pmids=1,x",
        "place?pmids=4294967296", "place?line=%00", "enrichment", "enrichment?level=0&counts=0:1",
        "enrichment?level=4&counts=0:1", "enrichment?level=1&counts=2:1",
        "enrichment?level=1&counts=0",
        "enrichment?level=1&counts=0:", "enrichment?level=1&counts=:1",
        "enrichment?level=1&counts=0:-1", "enrichment?level=1&counts=0:1,1:1,0:1",
        "enrichment?level=1&counts=0:1000001", "enrichment?level=1&counts=0:4294967295,1:1"}) {
    EXPECT_EQ(get("/api/" + query).status, 400) << query;
  }
  EXPECT_EQ(get("/api/place?pmids=" + pmids).status, 400);
  EXPECT_EQ(get("/api/place?" + lines).status, 400);
}

}  // namespace
}  // namespace somatlas::program_test
