// Work that cannot be done, command by command: one sentence with what to do, the exit code, and
// nothing lost or half-written.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "store/atlas.h"
#include "store/store.h"
#include "tests/formats/small_atlas.h"
#include "tests/program/sample_job.h"

namespace somatlas::program_test {
namespace {

TEST(TrainingRefusals, WhatCannotBeDone) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  const std::string atlas = scratch / "atlas";
  const std::string table = data("sample/descriptors.tsv.gz");
  expect_done({"ingest", "--store", scratch / "names", "--mesh", table});
  expect_refused(train_command(scratch / "names", atlas), 1,
                 "nothing to train on; ingest more files or lower --min-descriptors");
  expect_refused(train_command(scratch / "nowhere", atlas), 1,
                 "there is no store at '" + scratch / "nowhere" + "': make one with ");
  const auto ingest = [&](const std::string& name) {
    expect_done({"ingest", "--store", name, "--mesh", table, data("sample/updatefiles")});
  };
  ingest(store);

  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> command = train_command(store, atlas);
    command.insert(command.end(), more.begin(), more.end());
    return command;
  };
  expect_refused({"train", "--store", store, "--atlas", atlas, "--side", "0"}, 2, "--side");
  expect_refused({"train", "--store", store, "--atlas", atlas, "--side", "many"}, 2, "--side");
  expect_refused({"train", "--store", store, "--atlas", atlas, "--device", "cpu", "--side", "30000",
                  "--host-memory", "1GiB"},
                 1, " TiB of host memory (available: 1.0 GiB): the largest side that fits is ");
  expect_refused(with({"--host-memory", "10"}), 1,
                 " MiB of host memory (available: 10 bytes): no map fits; free some memory ");
  expect_refused(with({"--resume"}), 1,
                 atlas + ".partial: there is no unfinished training to resume; begin it without ");
  EXPECT_FALSE(std::filesystem::exists(atlas));
  EXPECT_FALSE(std::filesystem::exists(atlas + ".partial"));

  expect_done(with({"--epochs", "1"}));
  const auto before = content_of(atlas);
  expect_refused(with({}), 1,
                 atlas + " exists: name another atlas, or replace it with --overwrite");
  expect_refused(with({"--resume"}), 1, atlas + " is complete");
  EXPECT_EQ(content_of(atlas), before);

  // An atlas of another store, though it holds the same files.
  const std::string other = scratch / "other";
  ingest(other);
  expect_refused({"train", "--store", other, "--atlas", scratch / "next", "--from", atlas}, 1,
                 atlas + " was made from another store than " + other + ": give that store, or ");
  EXPECT_FALSE(std::filesystem::exists(scratch / "next"));
}

/// A small store and its atlas.
class Refusals : public testing::Test {
 protected:
  void SetUp() override {
    small_.make_store(store_);
    const auto store = store::Store::open(store_, store::Store::Access::read);
    small_.make_atlas(atlas_, store->id(), store->state_id());
    write_file(scratch_ / "pmids", "10\n");
  }
  [[nodiscard]] std::vector<std::string> map_with_store(const std::string& store) const {
    return {"map", "--atlas", atlas_, "--store", store, scratch_ / "pmids"};
  }

  const exports::SmallAtlas small_;
  const ScratchDirectory scratch_;
  const std::string store_ = scratch_ / "store";
  const std::string atlas_ = scratch_ / "atlas";
};

TEST_F(Refusals, AStoreThatTheAtlasIsNotOf) {
  const std::string other = scratch_ / "other";
  small_.make_store(other);
  const std::string sentence = "somatlas: " + other + ": is not the store that " + atlas_ +
                               " was trained on; give that one, or none\n";
  expect_refused(map_with_store(other), 1, sentence);
  expect_refused({"serve", "--port", "0", "--atlas", atlas_, "--store", other}, 1, sentence);
}

TEST_F(Refusals, AStoreOfAnotherFormatNumber) {
  const std::uint32_t later = store::store_format + 1;
  ASSERT_NO_FATAL_FAILURE(set_format(store_, "store " + std::to_string(later)));
  const std::string sentence =
      "somatlas: the store '" + store_ + "' has format number " + std::to_string(later) +
      " and this program reads " + std::to_string(store::store_format) +
      ": make it again with somatlas ingest, or use the program that made it\n";
  const auto before = content_of(scratch_.path());
  const std::string next = scratch_ / "next";
  const std::vector<std::vector<std::string>> commands{
      {"info", "--store", store_},
      {"dump", "--store", store_},
      {"verify", "--store", store_},
      {"ingest", "--store", store_, data("cases/no_mesh.xml")},
      {"train", "--store", store_, "--atlas", next, "--device", "cpu"},
      {"train", "--store", store_, "--atlas", next, "--device", "cpu", "--from", atlas_},
      {"export", "--store", store_, "--format", "mtx", scratch_ / "out"},
      {"serve", "--port", "0", "--atlas", atlas_, "--store", store_},
      map_with_store(store_)};
  for (const std::vector<std::string>& command : commands) {
    expect_refused(command, 1, sentence);
  }
  EXPECT_EQ(content_of(scratch_.path()), before);
}

TEST_F(Refusals, AnAtlasOfAnotherFormatNumber) {
  const std::uint32_t later = store::atlas_format + 1;
  ASSERT_NO_FATAL_FAILURE(set_format(atlas_, "atlas " + std::to_string(later)));
  const std::string sentence =
      "the atlas '" + atlas_ + "' has format number " + std::to_string(later) +
      " and this program reads " + std::to_string(store::atlas_format) +
      ": make it again with somatlas train, or use the program that made it";
  const auto before = content_of(scratch_.path());
  const std::string next = scratch_ / "next";
  const std::vector<std::vector<std::string>> commands{
      {"info", "--atlas", atlas_},
      {"verify", "--atlas", atlas_},
      {"train", "--store", store_, "--atlas", next, "--device", "cpu", "--from", atlas_},
      {"train", "--store", store_, "--atlas", atlas_, "--device", "cpu", "--overwrite"},
      {"export", "--atlas", atlas_, "--format", "npy", scratch_ / "out"},
      {"export", "--atlas", atlas_, "--format", "png", scratch_ / "out"},
      {"serve", "--port", "0", "--atlas", atlas_},
      {"map", "--atlas", atlas_, scratch_ / "pmids"}};
  for (const std::vector<std::string>& command : commands) {
    expect_refused(command, 1, sentence);
  }
  EXPECT_EQ(content_of(scratch_.path()), before);
}

/// Every path below a folder.
std::set<std::string> paths_in(const std::string& folder) {
  std::set<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    paths.insert(entry.path());
  }
  return paths;
}

TEST_F(Refusals, LeaveNothingOfWhatTheyBegan) {
  const std::string bad = scratch_ / "bad";
  const std::string empty = scratch_ / "empty";
  const std::string none = scratch_ / "none";
  const std::string fresh = scratch_ / "new/deep/store";
  const std::string out = scratch_ / "out";
  write_file(bad, "nonsense: 0\n");
  write_file(empty, "");
  std::vector<std::vector<std::string>> commands{
      {"ingest", "--store", fresh, "--mesh", bad, data("cases/no_mesh.xml")},
      {"ingest", "--store", fresh, "--mesh-changes", bad},
      {"train", "--store", store_, "--atlas", out, "--min-descriptors", "1000", "--log",
       scratch_ / "log"},
      {"train", "--store", none, "--atlas", out, "--log", scratch_ / "log"},
      {"export", "--atlas", atlas_, "--format", "png", "--articles", bad, out},
      {"export", "--atlas", atlas_, "--format", "html", "--store", none, out}};
  for (const std::string& file : {bad, empty, none}) {
    commands.push_back({"ingest", "--store", fresh, file});
    for (const std::string format : {"mtx", "libsvm", "sbcsr"}) {
      commands.push_back({"import", "--store", fresh, "--format", format, file});
    }
    for (const std::string format : {"wts", "cod", "somw", "npy"}) {
      commands.push_back({"import", "--store", store_, "--atlas", out, "--format", format, file});
    }
    commands.push_back({"import", "--store", store_, "--atlas", out, "--format", "bm", "--bm-order",
                        "esom", file});
  }
  for (const std::string format : {"npy", "csv", "regions", "png", "svg", "html", "umx", "wts",
                                   "bm", "cod", "somw", "vosviewer", "graphml", "sqlite"}) {
    commands.push_back({"export", "--atlas", none, "--format", format, out});
    commands.push_back({"export", "--atlas", atlas_, "--format", format, scratch_ / "no/out"});
  }
  for (const std::string format : {"mtx", "libsvm", "sbcsr"}) {
    commands.push_back({"export", "--store", none, "--format", format, out});
    commands.push_back({"export", "--store", store_, "--format", format, scratch_ / "no/out"});
  }
  const auto before = paths_in(scratch_.path());
  for (const std::vector<std::string>& command : commands) {
    const Ending ending = run_somatlas(command);
    EXPECT_EQ(ending.exit_code, 1) << command.front() << ' ' << command.back() << ending.err;
    ASSERT_EQ(paths_in(scratch_.path()), before) << command.front() << ' ' << command.back();
  }
  // A store that was there stays, with what is in it.
  const std::string dumped = run_somatlas({"dump", "--store", store_}).out;
  expect_refused({"import", "--store", store_, "--format", "mtx", bad}, 1, bad);
  EXPECT_EQ(run_somatlas({"ingest", "--store", store_, bad}).exit_code, 1);
  EXPECT_EQ(run_somatlas({"dump", "--store", store_}).out, dumped);
}

}  // namespace
}  // namespace somatlas::program_test
