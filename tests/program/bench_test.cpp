// somatlas bench as a user runs it, on corpora so small that its figures mean nothing: that it
// measures what it says, leaves nothing behind, and refuses what it cannot measure.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gpu/backend.h"
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

/// A store of synthetic articles and an atlas of it.
void make_atlas(const std::string& store, const std::string& atlas, const std::string& side) {
  ASSERT_EQ(run_somatlas({"synth", "--articles", "3000", "--store", store}).exit_code, 0);
  ASSERT_EQ(run_somatlas({"train", "--store", store, "--atlas", atlas, "--side", side, "--device",
                          "cpu", "--epochs", "2"})
                .exit_code,
            0);
}

TEST(BenchProgram, SearchWantsAGpuWhereItIsToMeasureOne) {
  const ScratchDirectory scratch;
  make_atlas(scratch / "store", scratch / "atlas", "12");
  const std::vector<std::string> arguments{
      "bench",           "search",   "--store", scratch / "store", "--atlas",
      scratch / "atlas", "--device", "cuda",    "--tile-rows",     "700",
      "--repeats",       "1",        "--json"};
  const Ending ending = run_somatlas(arguments);
  if (gpu::cuda_devices().empty()) {
    EXPECT_EQ(ending.exit_code, 1);
    EXPECT_EQ(ending.out, "");
    EXPECT_NE(ending.err.find("GPU"), std::string::npos) << ending.err;
    return;
  }
  ASSERT_EQ(ending.exit_code, 0) << ending.err;
  const auto json = nlohmann::json::parse(ending.out);
  ASSERT_EQ(json.at("methods").size(), 8U);
  for (const auto& method : json["methods"]) {
    if (!method.contains("why_not")) {
      EXPECT_GT(method.at("adds_a_second"), 0) << method;
    } else {
      EXPECT_TRUE(method.at("name").get<std::string>().starts_with("cuSPARSE")) << method;
    }
  }
}

TEST(BenchProgram, UpdateMeasuresRadiiOnMapsOfAnySide) {
  const ScratchDirectory scratch;
  make_atlas(scratch / "store", scratch / "atlas", "12");
  std::vector<std::string> devices{"cpu"};
  if (!gpu::cuda_devices().empty()) {
    devices.emplace_back("cuda");
  }
  for (const std::string& device : devices) {
    for (const std::uint32_t side : {12U, 5U, 30U}) {
      const Ending ending =
          run_somatlas({"bench", "update", "--store", scratch / "store", "--atlas",
                        scratch / "atlas", "--side", std::to_string(side), "--radius", "3,0",
                        "--device", device, "--repeats", "2", "--json"});
      ASSERT_EQ(ending.exit_code, 0) << ending.err;
      const auto json = nlohmann::json::parse(ending.out);
      EXPECT_EQ(json.at("side"), side);
      ASSERT_EQ(json.at("radii").size(), 2U);
      EXPECT_EQ(json["radii"][0].at("radius"), 3);
      EXPECT_GT(json["radii"][1].at("bytes_a_second"), 0);
    }
  }
  const Ending table = run_somatlas({"bench", "update", "--store", scratch / "store", "--atlas",
                                     scratch / "atlas", "--radius", "1", "--device", "cpu"});
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 3) << table.out << table.err;
  const Ending wide = run_somatlas({"bench", "update", "--store", scratch / "store", "--atlas",
                                    scratch / "atlas", "--radius", "32000", "--device", "cpu"});
  EXPECT_EQ(wide.exit_code, 1);
  EXPECT_EQ(wide.out, "");
}

TEST(BenchProgram, EpochMeasuresTheFirstOrThoseAfterAnAtlas) {
  const ScratchDirectory scratch;
  make_atlas(scratch / "store", scratch / "atlas", "12");
  fs::create_directories(scratch / "work");
  for (const bool from : {false, true}) {
    std::vector<std::string> arguments{
        "bench",    "epoch", "--store",   scratch / "store", "--device", "cpu",
        "--epochs", "2",     "--scratch", scratch / "work",  "--json"};
    arguments.insert(arguments.end(), {from ? "--from" : "--side", from ? scratch / "atlas" : "9"});
    const Ending ending = run_somatlas(arguments);
    ASSERT_EQ(ending.exit_code, 0) << ending.err;
    const auto json = nlohmann::json::parse(ending.out);
    EXPECT_EQ(json.at("side"), from ? 12 : 9);
    ASSERT_EQ(json.at("epochs").size(), 2U);
    EXPECT_GT(json["epochs"][0].at("adds_a_second"), 0);
    EXPECT_FALSE(json.at("training").contains("seconds"));
    EXPECT_TRUE(fs::is_empty(scratch / "work"));
  }
}

TEST(BenchProgram, TrainMeasuresATrainingAndRemovesIt) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  fs::create_directories(scratch / "work");
  ASSERT_EQ(run_somatlas({"synth", "--articles", "800", "--store", store}).exit_code, 0);
  const std::vector<std::string> arguments{
      "bench", "train",    "--store", store,     "--side", "20",        "--device",
      "cpu",   "--epochs", "3",       "--check", "50",     "--scratch", scratch / "work"};
  std::vector<std::string> with_json = arguments;
  with_json.push_back("--json");
  const Ending ending = run_somatlas(with_json);
  ASSERT_EQ(ending.exit_code, 0) << ending.err;
  const auto json = nlohmann::json::parse(ending.out);
  ASSERT_EQ(json.at("epochs").size(), 3U);
  for (const auto& epoch : json["epochs"]) {
    EXPECT_GT(epoch.at("adds_a_second"), 0) << epoch;
    EXPECT_GE(epoch.at("checked_articles"), 50) << epoch;
    EXPECT_EQ(epoch.at("mismatches"), 0) << epoch;
  }
  EXPECT_GT(json.at("training").at("seconds"), 0);
  const Ending table = run_somatlas(arguments);
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 2 + 3 + 2) << table.out;
  EXPECT_TRUE(fs::is_empty(scratch / "work"));
}

TEST(BenchProgram, WantsAKind) {
  EXPECT_EQ(run_somatlas({"bench"}).exit_code, 2);
  EXPECT_EQ(run_somatlas({"bench", "nothing"}).exit_code, 2);
}

}  // namespace
}  // namespace somatlas::program_test
