// somatlas bench as a user runs it, on corpora so small that its figures mean nothing: that it
// measures what it says, leaves nothing behind, and refuses what it cannot measure.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

namespace fs = std::filesystem;

TEST(BenchProgram, IngestMeasuresItsOwnCorpusAndRemovesIt) {
  const ScratchDirectory scratch;
  const Ending ending = run_somatlas({"bench", "ingest", "--articles", "600", "--repeats", "2",
                                      "--scratch", scratch.path(), "--json"});
  ASSERT_EQ(ending.exit_code, 0) << ending.err;
  const auto json = nlohmann::json::parse(ending.out);
  EXPECT_GT(json.at("xml_bytes"), 600 * 1000);
  ASSERT_EQ(json.at("workers").size(), 2U);
  for (const auto& series : json["workers"]) {
    EXPECT_GT(series.at("ingest_mb_s"), 0);
    EXPECT_GT(series.at("share_of_empty_handlers"), 0);
    EXPECT_GT(series.at("peak_memory_bytes"), 0);
    double worked = 0;
    for (const char* stage : {"inflate", "parse", "encode", "commit"}) {
      EXPECT_GT(series.at("seconds").at(stage), 0) << stage;
      worked += series["seconds"][stage].get<double>();
    }
    EXPECT_LE(worked, series["seconds"].at("clock").get<double>() *
                          series.at("workers").get<double>() * 1.01);
  }
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(BenchProgram, IngestRefusesFilesThatItCannotTake) {
  const ScratchDirectory scratch;
  write_file(scratch / "cut.xml", "<PubmedArticleSet><PubmedArticle>");
  const Ending ending = run_somatlas(
      {"bench", "ingest", scratch / "cut.xml", "--repeats", "1", "--scratch", scratch.path()});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_EQ(ending.out, "");
  EXPECT_NE(ending.err.find("cut.xml"), std::string::npos) << ending.err;
}

TEST(BenchProgram, SearchComparesTheMethodsOnAnAtlas) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  const std::string atlas = scratch / "atlas";
  ASSERT_EQ(run_somatlas({"synth", "--articles", "800", "--store", store}).exit_code, 0);
  ASSERT_EQ(run_somatlas({"train", "--store", store, "--atlas", atlas, "--side", "33", "--device",
                          "cpu", "--epochs", "2"})
                .exit_code,
            0);
  const Ending ending = run_somatlas({"bench", "search", "--store", store, "--atlas", atlas,
                                      "--articles", "100", "--repeats", "1", "--json"});
  ASSERT_EQ(ending.exit_code, 0) << ending.err;
  const auto json = nlohmann::json::parse(ending.out);
  EXPECT_EQ(json.at("side"), 33);
  ASSERT_EQ(json.at("methods").size(), 4U);
  for (const auto& method : json["methods"]) {
    EXPECT_GT(method.at("adds_a_second"), 0) << method;
  }
  EXPECT_GT(json.at("cached_loads_a_second"), 0);

  ASSERT_EQ(run_somatlas({"synth", "--articles", "50", "--store", scratch / "other"}).exit_code, 0);
  const Ending other = run_somatlas(
      {"bench", "search", "--store", scratch / "other", "--atlas", atlas, "--repeats", "1"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_EQ(other.out, "");
}

TEST(BenchProgram, WantsAKind) {
  EXPECT_EQ(run_somatlas({"bench"}).exit_code, 2);
  EXPECT_EQ(run_somatlas({"bench", "nothing"}).exit_code, 2);
}

}  // namespace
}  // namespace somatlas::program_test
