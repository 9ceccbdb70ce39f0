// The figures of an epoch as people see them and as the log has them: each under its own name, the
// same in both. The figures are random and all different, so that no two can stand in for each
// other.
#include "tools/epoch_report.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/program/epoch_table.h"
#include "tests/program/running_program.h"
#include "tests/seed.h"
#include "tools/figures.h"

namespace somatlas::program_test {
namespace {

using nlohmann::json;
using pipeline::EpochFigures;

EpochFigures random_figures(std::mt19937_64& random) {
  const auto between = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  EpochFigures figures;
  figures.epoch = static_cast<std::uint32_t>(random() % 60);
  figures.radius = 100 + static_cast<std::uint32_t>(random() % 200);
  figures.quality.qe = between(3, 4);
  figures.quality.heldout_qe = between(4, 5);
  figures.quality.cosine_qe = between(0.1, 0.2);
  figures.quality.topographic_error = between(0.2, 0.3);
  figures.quality.vacant_share = between(0.3, 0.4);
  figures.quality.unhit_share = between(0.4, 0.5);
  figures.moved_share = between(0.5, 0.6);
  figures.search_seconds = between(1000, 2000);
  figures.update_seconds = between(100, 200);
  figures.waiting_seconds = between(10, 20);
  figures.checkpoint_seconds = between(1, 2);
  return figures;
}

json as_log(const EpochFigures& figures) {
  const auto or_null = [](std::optional<double> figure) { return figure ? json(*figure) : json(); };
  return {{"epoch", figures.epoch},
          {"radius", figures.radius},
          {"qe", figures.quality.qe},
          {"heldout_qe", or_null(figures.quality.heldout_qe)},
          {"cosine_qe", or_null(figures.quality.cosine_qe)},
          {"topographic_error", or_null(figures.quality.topographic_error)},
          {"moved_share", figures.moved_share},
          {"vacant_share", figures.quality.vacant_share},
          {"unhit_share", figures.quality.unhit_share},
          {"search_seconds", figures.search_seconds},
          {"update_seconds", figures.update_seconds},
          {"waiting_seconds", figures.waiting_seconds},
          {"waiting_share", figures.waiting_seconds / figures.search_seconds},
          {"checkpoint_seconds", figures.checkpoint_seconds}};
}

TEST(EpochReport, LineAndLogHaveEveryFigureUnderItsName) {
  std::mt19937_64 random(test_seed());
  const ScratchDirectory scratch;
  std::string table = tools::epoch_header() + "\n";
  std::vector<EpochFigures> epochs;
  {
    tools::EpochLog log(scratch / "log.jsonl");
    for (int e = 0; e < 8; ++e) {
      EpochFigures figures = random_figures(random);
      if (e % 2 == 1) {
        figures.quality.heldout_qe.reset();
        figures.quality.cosine_qe.reset();
        figures.quality.topographic_error.reset();
      }
      epochs.push_back(figures);
      table += tools::epoch_line(figures) + "\n";
      log.add(figures);
      // Complete at once: a training that is killed leaves whole lines.
      EXPECT_EQ(read_log(scratch / "log.jsonl").size(), epochs.size());
    }
  }
  const std::vector<json> logged = read_log(scratch / "log.jsonl");
  const std::vector<std::map<std::string, std::string>> lines = read_epoch_table(table);
  ASSERT_EQ(logged.size(), epochs.size());
  ASSERT_EQ(lines.size(), epochs.size());
  for (std::size_t e = 0; e < epochs.size(); ++e) {
    const EpochFigures& figures = epochs[e];
    EXPECT_EQ(logged[e], as_log(figures));
    const std::map<std::string, std::string> expected{
        {"epoch", std::to_string(figures.epoch)},
        {"radius", std::to_string(figures.radius)},
        {"QE", tools::fixed(figures.quality.qe, 5)},
        {"held-out QE", tools::fixed(figures.quality.heldout_qe, 5)},
        {"cosine QE", tools::fixed(figures.quality.cosine_qe, 5)},
        {"topographic error", tools::fixed(figures.quality.topographic_error, 5)},
        {"moved", tools::fixed(figures.moved_share, 4)},
        {"unhit", tools::fixed(figures.quality.unhit_share, 4)},
        {"search s", tools::fixed(figures.search_seconds, 3)},
        {"update s", tools::fixed(figures.update_seconds, 3)},
        {"waiting s", tools::fixed(figures.waiting_seconds, 3)}};
    EXPECT_EQ(lines[e], expected);
  }
}

TEST(EpochReport, ALogIsAddedToAndWithoutANameNothingIsWritten) {
  std::mt19937_64 random(test_seed());
  const ScratchDirectory scratch;
  for (std::size_t times = 1; times <= 2; ++times) {
    tools::EpochLog(scratch / "log.jsonl").add(random_figures(random));
    EXPECT_EQ(read_log(scratch / "log.jsonl").size(), times);
  }
  tools::EpochLog("").add(random_figures(random));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 1);
}

TEST(EpochReport, ALogThatOnlyAnotherWroteToStays) {
  std::mt19937_64 random(test_seed());
  const ScratchDirectory scratch;
  const std::string path = scratch / "log.jsonl";
  { const tools::EpochLog idle(path); }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    const tools::EpochLog idle(path);
    tools::EpochLog(path).add(random_figures(random));
  }
  EXPECT_FALSE(read_file(path).empty());
}

}  // namespace
}  // namespace somatlas::program_test
