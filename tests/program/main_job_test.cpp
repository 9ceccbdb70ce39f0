// The main job on the sample, as a user does it: take the baseline and its updates in, train, map
// new articles; take later files in and go on from the atlas; and what happens when a training is
// interrupted or refused.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/program/running_program.h"
#include "tests/seed.h"

namespace somatlas::program_test {
namespace {

using nlohmann::json;

Ending expect_done(const std::vector<std::string>& arguments) {
  Ending ending = run_somatlas(arguments);
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  return ending;
}

std::vector<std::vector<std::string>> table(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields{""};
    for (const char character : line) {
      if (character == '\t') {
        fields.emplace_back();
      } else {
        fields.back() += character;
      }
    }
    rows.push_back(std::move(fields));
  }
  return rows;
}

/// All files that an atlas exports to, by name: equal atlases export equal files.
std::map<std::string, std::string> exported(const std::string& atlas, const std::string& folder) {
  expect_done({"export", "--atlas", atlas, "--format", "npy", folder});
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files[entry.path().filename()] = read_file(entry.path());
  }
  return files;
}

void ingest_sample(const std::string& store) {
  expect_done({"ingest", "--store", store, "--mesh", data("sample/descriptors.tsv.gz"),
               data("sample/baseline"), data("sample/updatefiles")});
}

std::vector<std::string> train_command(const std::string& store, const std::string& atlas) {
  return {"train", "--store", store, "--atlas", atlas, "--side", "12", "--device", "cpu"};
}

TEST(MainJob, BaselineUpdatesTrainingMapAndLaterFiles) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  const std::string atlas = scratch / "atlas";
  ingest_sample(store);
  const json held = json::parse(expect_done({"info", "--store", store, "--json"}).out);
  // tests/data/sample/README.md has these, counted by another program.
  const auto rows = table(expect_done({"dump", "--store", store}).out);
  EXPECT_EQ(rows.size(), 17'448U);
  EXPECT_EQ(std::ranges::count_if(
                rows, [](const auto& row) { return std::ranges::count(row[3], ' ') >= 4; }),
            16'980);

  std::vector<std::string> command = train_command(store, atlas);
  command.insert(command.end(), {"--log", scratch / "log.jsonl"});
  const Ending trained = expect_done(command);
  std::istringstream log(read_file(scratch / "log.jsonl"));
  std::vector<json> epochs;
  for (std::string line; std::getline(log, line);) {
    epochs.push_back(json::parse(line));
  }
  ASSERT_GE(epochs.size(), 4U);
  EXPECT_LT(epochs.back().at("qe"), epochs.front().at("qe"));
  const json meta = json::parse(expect_done({"info", "--atlas", atlas, "--json"}).out);
  EXPECT_EQ(expect_done({"verify", "--atlas", atlas}).out, "");
  EXPECT_NE(trained.err.find("12203 descriptors"), std::string::npos) << trained.err;

  // New articles, by UI and by name, and articles of the store: recorded and searched alike.
  const auto placed =
      table(expect_done({"map", "--atlas", atlas, data("sample/new/new_articles.txt")}).out);
  ASSERT_EQ(placed.size(), 21U);
  for (std::size_t i = 1; i < placed.size(); ++i) {
    ASSERT_EQ(placed[i].size(), 7U);
    EXPECT_LT(std::stoi(placed[i][1]), 12);
    EXPECT_NE(placed[i][6], "");
  }
  EXPECT_EQ(
      table(expect_done({"map", "--atlas", atlas, data("sample/new/new_articles.xml")}).out).size(),
      21U);
  std::string pmids;
  for (std::size_t i = 0; i < rows.size(); i += 170) {
    pmids += rows[i][0] + "\n";
  }
  write_file(scratch / "pmids.txt", pmids);
  EXPECT_EQ(expect_done({"map", "--atlas", atlas, scratch / "pmids.txt"}).out,
            expect_done({"map", "--atlas", atlas, "--store", store, scratch / "pmids.txt"}).out);

  // Later files.
  expect_done({"ingest", "--store", store, data("sample/more")});
  EXPECT_EQ(table(expect_done({"dump", "--store", store}).out).size(), 17'933U);
  const std::string next = scratch / "next";
  const Ending further =
      expect_done({"train", "--store", store, "--atlas", next, "--from", atlas, "--device", "cpu"});
  EXPECT_NE(further.err.find("Since that atlas: "), std::string::npos) << further.err;
  const json later = json::parse(expect_done({"info", "--atlas", next, "--json"}).out);
  EXPECT_NE(later, meta);
  EXPECT_EQ(meta.at("earlier_epochs"), 0);
  EXPECT_EQ(later.at("earlier_epochs"), meta.at("epochs"));
  const std::string total =
      std::to_string(later.at("epochs").get<unsigned>() + meta.at("epochs").get<unsigned>());
  EXPECT_NE(further.err.find(total + " with those of the atlases it goes on from"),
            std::string::npos)
      << further.err;
  const std::string about = expect_done({"info", "--atlas", next}).out;
  EXPECT_NE(about.find(total + " with those of the atlases it went on from"), std::string::npos)
      << about;
  EXPECT_EQ(expect_done({"verify", "--atlas", next}).out, "");
}

TEST(MainJob, AnInterruptedTrainingResumesToTheSameAtlas) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  ingest_sample(store);
  expect_done(train_command(store, scratch / "whole"));
  const auto whole = exported(scratch / "whole", scratch / "whole.npy");

  std::vector<std::string> command = train_command(store, scratch / "signalled");
  RunningProgram program(command);
  ASSERT_TRUE(program.wait_for_error_text("\n      1 "));
  program.send(SIGINT);
  const Ending interrupted = program.wait();
  EXPECT_EQ(interrupted.exit_code, 130) << interrupted.err;
  EXPECT_FALSE(std::filesystem::exists(scratch / "signalled"));
  command.emplace_back("--resume");
  expect_done(command);
  EXPECT_EQ(exported(scratch / "signalled", scratch / "signalled.npy"), whole);
}

TEST(MainJob, AKilledTrainingResumesToTheSameAtlas) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  ingest_sample(store);
  const auto begin = std::chrono::steady_clock::now();
  expect_done(train_command(store, scratch / "whole"));
  const auto duration = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  const auto whole = exported(scratch / "whole", scratch / "whole.npy");

  std::mt19937_64 random(test_seed());
  const std::string atlas = scratch / "killed";
  std::size_t kills = 0;
  while (!std::filesystem::exists(atlas) && kills < 40) {
    std::vector<std::string> command = train_command(store, atlas);
    if (std::filesystem::exists(atlas + ".partial")) {
      command.emplace_back("--resume");
    }
    RunningProgram program(command);
    // Within the first third, so that the first run is not over by then.
    std::this_thread::sleep_for(duration * (20 + random() % 280) / 1000);
    program.send(SIGKILL);
    const Ending ending = program.wait();
    // Killed, or done before the kill came; never refused what an earlier run left.
    ASSERT_TRUE(ending.exit_code == 128 + SIGKILL || ending.exit_code == 0) << ending.err;
    ++kills;
  }
  if (!std::filesystem::exists(atlas)) {
    std::vector<std::string> command = train_command(store, atlas);
    command.emplace_back("--resume");
    expect_done(command);
  }
  EXPECT_GE(kills, 2U);
  EXPECT_EQ(exported(atlas, scratch / "killed.npy"), whole);
}

/// One sentence on standard error, nothing on standard output.
void expect_refused(const std::vector<std::string>& arguments, int exit_code,
                    const std::string& about) {
  const Ending ending = run_somatlas(arguments);
  EXPECT_EQ(ending.exit_code, exit_code);
  EXPECT_EQ(ending.out, "");
  EXPECT_NE(ending.err.find(about), std::string::npos) << ending.err;
}

TEST(MainJob, WhatCannotBeTrainedIsRefusedAndNothingIsLeft) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  const std::string atlas = scratch / "atlas";
  expect_done(
      {"ingest", "--store", scratch / "names", "--mesh", data("sample/descriptors.tsv.gz")});
  expect_refused(train_command(scratch / "names", atlas), 1, "nothing to train on");
  expect_refused(train_command(scratch / "nowhere", atlas), 1, "nowhere");
  ingest_sample(store);

  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> command = train_command(store, atlas);
    command.insert(command.end(), more.begin(), more.end());
    return command;
  };
  expect_refused({"train", "--store", store, "--atlas", atlas, "--side", "0"}, 2, "--side");
  expect_refused({"train", "--store", store, "--atlas", atlas, "--side", "many"}, 2, "--side");
  expect_refused({"train", "--store", store, "--atlas", atlas, "--device", "cpu", "--side", "4000",
                  "--host-memory", "1GiB"},
                 1, "largest side that fits is ");
  expect_refused(with({"--host-memory", "10"}), 1, "(available: 10 bytes): no map fits");
  expect_refused(with({"--resume"}), 1, "no unfinished training");
  EXPECT_FALSE(std::filesystem::exists(atlas));
  EXPECT_FALSE(std::filesystem::exists(atlas + ".partial"));

  expect_done(with({"--epochs", "1"}));
  const auto before = exported(atlas, scratch / "before");
  expect_refused(with({}), 1, "exists");
  EXPECT_EQ(exported(atlas, scratch / "after"), before);

  // An atlas of another store, though it holds the same files.
  const std::string other = scratch / "other";
  ingest_sample(other);
  expect_refused({"train", "--store", other, "--atlas", scratch / "next", "--from", atlas}, 1,
                 "another store");
  expect_refused({"map", "--atlas", atlas, "--store", other, data("sample/new/new_articles.txt")},
                 1, "store");
}

}  // namespace
}  // namespace somatlas::program_test
