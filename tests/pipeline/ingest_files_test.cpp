// The ingest graph against a plain map: random sequences of files that revise, delete and bring
// back, in any order, in one call or many, on one thread or two, always leave the same store.
#include "pipeline/ingest_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/pipeline/plain_map.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

namespace fs = std::filesystem;
using plain::add_to_model;
using plain::File;
using plain::file_name;
using plain::Model;
using plain::model_of;
using plain::random_file;
using plain::write_file;
using Random = std::mt19937_64;

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = fs::temp_directory_path() / "somatlas-ingest-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("no scratch folder can be made");
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::uint32_t below(Random& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>(random() % bound);
}

class Recorder final : public IngestObserver {
 public:
  void committed(const store::LedgerEntry& entry) override { committed_.push_back(entry.key.name); }
  void refused(const RefusedFile& file) override { refused_.push_back(file.reason); }
  void warning(const std::string& text) override { warnings_.push_back(text); }
  void progress(const IngestProgress& now) override {
    EXPECT_LE(now.files_done, now.files);
    EXPECT_GE(now.files_done, progress_.files_done);
    EXPECT_GE(now.citations, progress_.citations);
    EXPECT_GE(now.xml_bytes, progress_.xml_bytes);
    EXPECT_GE(now.file_bytes_read, progress_.file_bytes_read);
    EXPECT_LE(now.file_bytes_read, now.file_bytes);
    progress_ = now;
  }
  void planned(const std::string& path, FilePlan plan) override { plans_.emplace(path, plan); }
  std::vector<std::string> committed_;
  std::vector<std::string> refused_;
  std::vector<std::string> warnings_;
  std::map<std::string, FilePlan> plans_;
  IngestProgress progress_;
};

void expect_store_is(const std::string& directory, const Model& model) {
  const auto store = store::Store::open(directory, store::Store::Access::read);
  const Model found = plain::model_in(*store);
  EXPECT_TRUE(found == model) << "found\n"
                              << plain::text_of(found) << "expected\n"
                              << plain::text_of(model);
  const StoreCensus census = take_census(*store);
  EXPECT_EQ(census.records,
            census.articles + census.bare + census.superseded + census.deleted + census.left_out);
}

IngestSummary ingest(const std::string& store, const std::vector<std::string>& inputs,
                     unsigned threads) {
  IngestOptions options;
  options.store_directory = store;
  options.inputs = inputs;
  options.threads = threads;
  Recorder recorder;
  IngestSummary summary = ingest_files(options, recorder);
  EXPECT_TRUE(recorder.refused_.empty());
  EXPECT_TRUE(std::ranges::is_sorted(recorder.committed_));
  EXPECT_EQ(recorder.committed_.size(), summary.files_taken);
  // In the end everything that was to be read was.
  EXPECT_EQ(recorder.progress_.files_done, recorder.progress_.files);
  EXPECT_EQ(recorder.progress_.file_bytes_read, recorder.progress_.file_bytes);
  EXPECT_EQ(recorder.progress_.citations, summary.citations);
  EXPECT_EQ(recorder.progress_.xml_bytes, summary.xml_bytes);
  return summary;
}

TEST(IngestFiles, RandomSequencesInAnyOrderEqualAPlainMap) {
  Random random(test_seed());
  for (int sequence = 0; sequence < 20; ++sequence) {
    const ScratchFolder scratch;
    std::vector<File> files;
    std::vector<std::string> paths;
    const std::uint32_t count = 1 + below(random, 7);
    std::uint64_t citations = 0;
    for (std::uint32_t number = 1; number <= count; ++number) {
      files.push_back(random_file(random, number));
      paths.push_back(scratch / file_name(files.back()));
      write_file(paths.back(), files.back());
      citations += static_cast<std::uint64_t>(
          std::ranges::count(files.back().records, false, &plain::Record::deletion));
    }
    const Model model = model_of(files);
    std::ranges::shuffle(paths, random);
    for (const unsigned threads : {1U, 2U}) {
      const std::string store = scratch / ("one-call-" + std::to_string(threads));
      EXPECT_EQ(ingest(store, paths, threads).citations, citations);
      expect_store_is(store, model);
    }
    const std::string store = scratch / "many-calls";
    for (std::size_t at = 0; at < paths.size();) {
      const std::size_t end = std::min(paths.size(), at + 1 + below(random, 3));
      ingest(store,
             {paths.begin() + static_cast<std::ptrdiff_t>(at),
              paths.begin() + static_cast<std::ptrdiff_t>(end)},
             1 + below(random, 2));
      at = end;
    }
    expect_store_is(store, model);
    ASSERT_FALSE(HasFailure()) << "sequence " << sequence;
  }
}

TEST(IngestFiles, AFileTakenAgainLiesOverItsOldText) {
  Random random(test_seed());
  for (int sequence = 0; sequence < 8; ++sequence) {
    const ScratchFolder scratch;
    Model model;
    for (int step = 0; step < 6; ++step) {
      const File file = random_file(random, 1 + below(random, 3));
      write_file(scratch / file_name(file), file);
      if (ingest(scratch / "store", {scratch / file_name(file)}, 1).files_taken != 0) {
        add_to_model(model, file);
      }
      expect_store_is(scratch / "store", model);
    }
    ASSERT_FALSE(HasFailure()) << "sequence " << sequence;
  }
}

TEST(IngestFiles, MoreFilesThanTokensAreAllTakenInOrder) {
  const ScratchFolder scratch;
  Random random(test_seed());
  std::vector<File> files;
  fs::create_directory(scratch / "files");
  for (std::uint32_t number = 1; number <= 40; ++number) {
    files.push_back(random_file(random, number));
    write_file(scratch / "files/" + file_name(files.back()), files.back());
  }
  EXPECT_EQ(ingest(scratch / "store", {scratch / "files"}, 2).files_taken, files.size());
  expect_store_is(scratch / "store", model_of(files));
}

TEST(IngestFiles, AStopBeforeTheStartLeavesEverything) {
  const ScratchFolder scratch;
  Random random(test_seed());
  const File file = random_file(random, 1);
  write_file(scratch / file_name(file), file);
  std::stop_source stop;
  stop.request_stop();
  IngestOptions options;
  options.store_directory = scratch / "store";
  options.inputs = {scratch / file_name(file)};
  options.stop = stop.get_token();
  Recorder recorder;
  const IngestSummary summary = ingest_files(options, recorder);
  EXPECT_TRUE(summary.stopped);
  EXPECT_EQ(summary.files_taken, 0U);
  expect_store_is(scratch / "store", {});
}

// What the caller's observer throws inside the graph cancels it and comes out; what was committed
// before stays, and the next run goes on.
TEST(IngestFiles, AnExceptionInANodeReachesTheCaller) {
  class Thrower final : public IngestObserver {
   public:
    void committed(const store::LedgerEntry& entry) override {
      if (entry.key.number == 3) {
        throw std::runtime_error("thrown at the third file");
      }
    }
    void refused(const RefusedFile&) override {}
    void warning(const std::string&) override {}
    void progress(const IngestProgress&) override {}
    void planned(const std::string&, FilePlan) override {}
  };
  const ScratchFolder scratch;
  Random random(test_seed());
  std::vector<File> files;
  std::vector<std::string> paths;
  for (std::uint32_t number = 1; number <= 12; ++number) {
    files.push_back(random_file(random, number));
    paths.push_back(scratch / file_name(files.back()));
    write_file(paths.back(), files.back());
  }
  IngestOptions options;
  options.store_directory = scratch / "store";
  options.inputs = paths;
  options.threads = 2;
  Thrower thrower;
  EXPECT_THROW((void)ingest_files(options, thrower), std::runtime_error);
  expect_store_is(scratch / "store", model_of({files[0], files[1], files[2]}));
  EXPECT_EQ(ingest(scratch / "store", paths, 2).files_skipped, 3U);
  expect_store_is(scratch / "store", model_of(files));
}

}  // namespace
}  // namespace somatlas::pipeline
