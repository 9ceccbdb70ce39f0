// The ingest graph against a plain map: random sequences of files that revise, delete and bring
// back, in any order, in one call or many, given twice or changed since, on one thread or two,
// always leave what the map knows.
#include "pipeline/ingest_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "pipeline/delta_builder.h"
#include "tests/pipeline/plain_map.h"
#include "tests/pipeline/update_sequence.h"
#include "tests/repetitions.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

namespace fs = std::filesystem;
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

TEST(IngestFiles, RandomSequencesOfCallsEqualAPlainMap) {
  Random random(test_seed());
  plain::Events events;
  const int sequences = repetitions(200, 10'000);
  for (int i = 0; i < sequences && !HasFailure(); ++i) {
    const ScratchFolder scratch;
    fs::create_directory(scratch / "files");
    plain::UpdateSequence sequence(random, scratch / "files", events);
    for (std::uint32_t calls = 1 + below(random, 5); calls > 0; --calls) {
      ingest(scratch / "store", sequence.next_call(), 1 + below(random, 2));
      expect_store_is(scratch / "store", sequence.model());
    }
    EXPECT_FALSE(HasFailure()) << "sequence " << i;
  }
  for (const std::string& event : plain::all_events()) {
    std::cout << events[event] << " times: " << event << "\n";
    EXPECT_TRUE(events[event] > 0 || sequences < 200) << event;
  }
}

TEST(DeltaBuilder, HasRoomForSoManyRecordsAndDescriptors) {
  DeltaBuilder builder;
  std::vector<ingest::Heading> headings(store::descriptors_per_article_limit);
  for (std::uint32_t i = 0; i < headings.size(); ++i) {
    headings[i].ui.number = i;
  }
  std::size_t citations = 0;
  for (; builder.has_room(headings.size()); ++citations) {
    builder.add_citation({1, 1, 0, headings});
  }
  EXPECT_EQ(citations, most_descriptors / headings.size());
  const std::size_t left = most_descriptors % headings.size();
  EXPECT_TRUE(builder.has_room(left));
  EXPECT_FALSE(builder.has_room(left + 1));
  for (; builder.has_room(0); ++citations) {
    builder.add_deletion(2, 1);
  }
  EXPECT_EQ(citations, most_records);
  builder.clear();
  EXPECT_TRUE(builder.has_room(most_descriptors));
  EXPECT_FALSE(builder.has_room(most_descriptors + 1));
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

TEST(IngestFiles, AStopBeforeTheStartLeavesNothing) {
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
  EXPECT_FALSE(std::filesystem::exists(scratch / "store"));
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
