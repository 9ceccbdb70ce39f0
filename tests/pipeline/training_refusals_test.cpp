// What a training refuses, in a sentence and with nothing changed: options, places that hold
// something else, maps that do not fit.
#include <fstream>
#include <functional>
#include <string_view>

#include "store/store.h"
#include "tests/pipeline/random_corpus.h"
#include "tests/pipeline/training_fixture.h"

namespace somatlas::pipeline {
namespace {

namespace fs = std::filesystem;
using testing_corpus::commit;
using testing_corpus::Corpus;
using testing_corpus::random_codes;
using testing_corpus::random_corpus;

TEST_F(TrainingTest, WhatCannotBeDoneIsRefusedInASentenceAndChangesNothing) {
  Corpus corpus = random_corpus(random_, 60);
  (void)store::Store::open(path("store"), store::Store::Access::create);
  Recorder seen;
  EXPECT_THROW((void)train(options("atlas"), seen), TrainingError);  // an empty store
  commit(path("store"), "pubmed26n0001.xml.gz", corpus);

  TrainingOptions zero = options("atlas");
  zero.settings.side = 0;
  EXPECT_THROW((void)train(zero, seen), TrainingError);
  TrainingOptions resume = options("atlas");
  resume.resume = true;
  EXPECT_THROW((void)train(resume, seen), TrainingError);  // nothing to resume
  EXPECT_FALSE(fs::exists(path("atlas")));
  EXPECT_FALSE(fs::exists(path("atlas.partial")));

  ASSERT_FALSE(train(options("atlas"), seen).stopped);
  const AtlasContent content = read_content(path("atlas"));
  EXPECT_THROW((void)train(options("atlas"), seen), TrainingError);  // it exists
  EXPECT_EQ(read_content(path("atlas")), content);

  Recorder stopping;
  stopping.stop_after_ = 0;
  TrainingOptions half = options("half");
  half.stop = stopping.stop_.get_token();
  ASSERT_TRUE(train(half, stopping).stopped);
  EXPECT_THROW((void)train(options("half"), seen), TrainingError);  // unfinished work is there
  TrainingOptions other_seed = options("half");
  other_seed.resume = true;
  other_seed.settings.seed = 99;
  EXPECT_THROW((void)train(other_seed, seen), TrainingError);
  corpus[7] = random_codes(random_, 5);
  commit(path("store"), "pubmed26n0002.xml.gz", corpus);
  TrainingOptions moved_on = options("half");
  moved_on.resume = true;
  EXPECT_THROW((void)train(moved_on, seen), TrainingError);  // the store is in another state

  TrainingOptions replace = options("half");
  replace.overwrite = true;
  EXPECT_FALSE(train(replace, seen).stopped);
}

TEST_F(TrainingTest, AnotherAtlasUnderTheNameOfTheEarlierOneIsSeenWhenResuming) {
  Corpus corpus = random_corpus(random_, 60);
  commit(path("store"), "pubmed26n0001.xml.gz", corpus);
  Recorder seen;
  TrainingOptions first = options("first");
  first.settings.epoch_limit = 2;
  ASSERT_FALSE(train(first, seen).stopped);
  corpus[7] = random_codes(random_, 5);
  commit(path("store"), "pubmed26n0002.xml.gz", corpus);
  Recorder stopping;
  stopping.stop_after_ = 0;
  TrainingOptions next = options("next");
  next.from = path("first");
  next.stop = stopping.stop_.get_token();
  ASSERT_TRUE(train(next, stopping).stopped);
  next.stop = {};
  next.resume = true;

  fs::rename(path("first"), path("kept"));
  TrainingOptions other = first;
  for (const auto& change : std::vector<std::function<void()>>{
           [&] { other.settings.seed = 99; },    // other settings
           [&] { other.settings.seed = 1; }}) {  // the same on another state of the store
    change();
    other.overwrite = true;
    ASSERT_FALSE(train(other, seen).stopped);
    try {
      (void)train(next, seen);
      FAIL() << "went on from another atlas";
    } catch (const TrainingError& error) {
      EXPECT_EQ(std::string(error.what()),
                path("first") + " is another atlas than the one of that name that " +
                    path("next.partial") +
                    " goes on from: put that one back, or start anew with --overwrite");
    }
  }
  fs::remove_all(path("first"));
  fs::rename(path("kept"), path("first"));
  EXPECT_FALSE(train(next, seen).stopped);
}

TEST_F(TrainingTest, OnlyAnAtlasIsEverReplacedAndTheStoreNever) {
  commit(path("store"), "pubmed26n0001.xml.gz", random_corpus(random_, 60));
  commit(path("other"), "pubmed26n0001.xml.gz", random_corpus(random_, 60));
  fs::create_directories(path("folder/inner"));
  std::ofstream(path("file")) << "kept";
  std::ofstream(path("folder/inner/file")) << "kept";
  fs::create_directory_symlink(path("folder"), path("link"));
  fs::create_directory_symlink("loop", path("loop"));
  const auto files = [&] {
    std::map<std::string, std::uintmax_t> sizes;
    for (const auto& entry : fs::recursive_directory_iterator(directory_)) {
      sizes[entry.path()] = fs::is_regular_file(entry.symlink_status()) ? entry.file_size() : 0;
    }
    return sizes;
  };
  const auto before = files();
  Recorder seen;
  for (const char* name : {"store", "store/", "./store", "store/sub", "other", "folder", "file",
                           "link", "loop", "loop/atlas", "", ".", "folder/.."}) {
    TrainingOptions asked = options(name);
    if (std::string_view(name).empty()) {
      asked.atlas_directory.clear();
    }
    asked.overwrite = true;
    EXPECT_THROW((void)train(asked, seen), TrainingError) << name;
    EXPECT_EQ(files(), before) << name;
  }
  EXPECT_TRUE(seen.epochs_.empty());
}

class MemoryRefusal : public DeviceTrainingTest {};
INSTANTIATE_TEST_SUITE_P(Devices, MemoryRefusal, all_devices, device_parameter);

TEST_P(MemoryRefusal, AMapThatDoesNotFitIsRefusedWithTheLargestSideThatDoes) {
  commit(path("store"), "pubmed26n0001.xml.gz", random_corpus(random_, 60));
  TrainingOptions small = options("atlas");
  small.settings.side = 4000;
  (device_ == Device::cuda ? small.device_memory : small.host_memory) = std::size_t{1} << 30;
  Recorder seen;
  try {
    (void)train(small, seen);
    FAIL() << "a map that does not fit was trained";
  } catch (const TrainingError& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(seen.plan_.largest_side)),
              std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(fs::exists(path("atlas.partial")));
  if (device_ == Device::cuda) {
    EXPECT_GT(seen.plan_.device_bytes, seen.plan_.device_available);
  }
  ASSERT_GT(seen.plan_.largest_side, 0U);
  small.settings.side = seen.plan_.largest_side;
  EXPECT_TRUE(plan_training(small).fits());
  small.settings.side = seen.plan_.largest_side + 1;
  EXPECT_FALSE(plan_training(small).fits());
}

}  // namespace
}  // namespace somatlas::pipeline
