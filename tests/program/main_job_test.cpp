// The three uses on the sample, as a user does them: take a baseline and its updates in; train,
// take later files in and go on from the atlas; map new articles onto it. What the program says is
// held whole against tests/data/main_job: there seconds are `T` and bytes of memory `M`.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/program/epoch_table.h"
#include "tests/program/sample_job.h"
#include "tools/figures.h"

namespace somatlas::program_test {
namespace {

using nlohmann::json;

/// What differs from run to run, put out of sight: an epoch's seconds (the last three of its line),
/// and the memory that a training is planned to take, which is not the same on every machine.
std::string without_measures(const std::string& text) {
  static const std::regex seconds("^( +[0-9].*?)( +[0-9]+[.][0-9]{3}){3}$");
  static const std::regex memory("[0-9.]+ [KMG]iB of host memory");
  std::istringstream lines(text);
  std::string plain;
  for (std::string line; std::getline(lines, line);) {
    plain += std::regex_replace(std::regex_replace(line, seconds, "$1  T  T  T"), memory,
                                "M of host memory") +
             "\n";
  }
  return plain;
}

class MainJob : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory_symlink(data("sample"), scratch_ / "sample");
  }
  /// In a folder where the sample is `sample`, so that what is said names the same files anywhere.
  [[nodiscard]] Ending run(const std::vector<std::string>& arguments) const {
    Surroundings surroundings;
    surroundings.directory = scratch_.path();
    return expect_done(arguments, surroundings);
  }
  static void expect_said(const std::string& text, const std::string& file) {
    EXPECT_EQ(without_measures(text), read_file(data("main_job/" + file))) << file;
  }
  [[nodiscard]] Ending ingest_baseline_and_updates() const {
    return run({"ingest", "--store", "store", "--mesh", "sample/descriptors.tsv.gz",
                "sample/baseline", "sample/updatefiles"});
  }
  /// What an atlas says of itself.
  [[nodiscard]] json about(const std::string& atlas) const {
    return json::parse(run({"info", "--atlas", atlas, "--json"}).out);
  }

  const ScratchDirectory scratch_;
};

TEST_F(MainJob, IngestTakesABaselineItsUpdatesAndLaterFiles) {
  const Ending first = ingest_baseline_and_updates();
  EXPECT_EQ(first.out, "");
  expect_said(first.err, "ingest.err");
  // tests/data/sample/README.md has these, counted by another program.
  const auto rows = table(run({"dump", "--store", "store"}).out);
  EXPECT_EQ(rows.size(), 17'448U);
  EXPECT_EQ(std::ranges::count_if(
                rows, [](const auto& row) { return std::ranges::count(row[3], ' ') >= 4; }),
            16'980);

  const Ending later = run({"ingest", "--store", "store", "sample/more"});
  EXPECT_EQ(later.out, "");
  expect_said(later.err, "ingest_more.err");
  EXPECT_EQ(table(run({"dump", "--store", "store"}).out).size(), 17'933U);
  const Ending sound = run({"verify", "--store", "store"});
  EXPECT_EQ(sound.out, "");
  EXPECT_EQ(sound.err, "store: sound.\n");
}

TEST_F(MainJob, TrainMakesAnAtlasAndGoesOnFromItAfterLaterFiles) {
  (void)ingest_baseline_and_updates();
  const Ending trained = run({"train", "--store", "store", "--atlas", "atlas", "--side", "12",
                              "--device", "cpu", "--threads", "2", "--log", "log.jsonl"});
  EXPECT_EQ(trained.out, "");
  expect_said(trained.err, "train.err");
  const json meta = about("atlas");
  EXPECT_EQ(meta.at("earlier_epochs"), 0);

  // The table and the log are of the same figures.
  const auto lines = read_epoch_table(trained.err);
  const std::vector<json> logged = read_log(scratch_ / "log.jsonl");
  ASSERT_EQ(lines.size(), meta.at("epochs"));
  ASSERT_EQ(logged.size(), lines.size());
  const std::map<std::string, std::pair<std::string, int>> digits{
      {"epoch", {"epoch", 0}},
      {"radius", {"radius", 0}},
      {"QE", {"qe", 5}},
      {"held-out QE", {"heldout_qe", 5}},
      {"cosine QE", {"cosine_qe", 5}},
      {"topographic error", {"topographic_error", 5}},
      {"moved", {"moved_share", 4}},
      {"unhit", {"unhit_share", 4}},
      {"search s", {"search_seconds", 3}},
      {"update s", {"update_seconds", 3}},
      {"waiting s", {"waiting_seconds", 3}}};
  for (std::size_t e = 0; e < lines.size(); ++e) {
    EXPECT_EQ(logged[e].at("epoch"), e);
    EXPECT_GT(logged[e].at("search_seconds"), 0.0);
    EXPECT_LE(logged[e].at("waiting_seconds"), logged[e].at("search_seconds"));
    std::map<std::string, std::string> expected;
    for (const auto& [column, log] : digits) {
      expected[column] = tools::fixed(logged[e].at(log.first).get<double>(), log.second);
    }
    EXPECT_EQ(lines[e], expected);
  }
  EXPECT_EQ(logged.back().at("qe"), meta.at("quality").at("qe"));

  (void)run({"ingest", "--store", "store", "sample/more"});
  const Ending further = run({"train", "--store", "store", "--atlas", "next", "--from", "atlas",
                              "--device", "cpu", "--threads", "2"});
  EXPECT_EQ(further.out, "");
  expect_said(further.err, "train_from.err");
  const json later = about("next");
  EXPECT_EQ(later.at("earlier_epochs"), meta.at("epochs"));
  EXPECT_EQ(later.at("epochs"), read_epoch_table(further.err).size());
  const std::string total =
      std::to_string(later.at("epochs").get<unsigned>() + meta.at("epochs").get<unsigned>());
  const std::string text = run({"info", "--atlas", "next"}).out;
  EXPECT_NE(text.find(total + " with those of the atlases it went on from"), std::string::npos)
      << text;
  for (const std::string atlas : {"atlas", "next"}) {
    const Ending sound = run({"verify", "--atlas", atlas});
    EXPECT_EQ(sound.out, "");
    EXPECT_EQ(sound.err, atlas + ": sound.\n");
  }
}

TEST_F(MainJob, MapFindsNewArticlesAndThoseOfTheStore) {
  (void)ingest_baseline_and_updates();
  (void)run({"train", "--store", "store", "--atlas", "atlas", "--side", "12", "--device", "cpu",
             "--epochs", "4"});
  // By UI and by name.
  const Ending placed = run({"map", "--atlas", "atlas", "sample/new/new_articles.txt"});
  expect_said(placed.out, "map.out");
  expect_said(placed.err, "map.err");
  const Ending records = run({"map", "--atlas", "atlas", "sample/new/new_articles.xml"});
  expect_said(records.out, "map_xml.out");
  expect_said(records.err, "map_xml.err");

  // Articles of the store: recorded and searched alike.
  const auto rows = table(run({"dump", "--store", "store"}).out);
  std::string pmids;
  for (std::size_t i = 0; i < rows.size(); i += 170) {
    pmids += rows[i][0] + "\n";
  }
  write_file(scratch_ / "pmids.txt", pmids);
  EXPECT_EQ(run({"map", "--atlas", "atlas", "pmids.txt"}).out,
            run({"map", "--atlas", "atlas", "--store", "store", "pmids.txt"}).out);
}

}  // namespace
}  // namespace somatlas::program_test
