// A synthetic corpus as a whole: the same bytes at any thread count, the same articles in both
// forms, updates that do what they are for, and failures that leave nothing half-written.
#include "pipeline/synth.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "ingest/byte_source.h"
#include "ingest/medline_parser.h"
#include "ingest/mesh_table.h"
#include "store/store.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

namespace fs = std::filesystem;

/// A directory that goes with the test.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "somatlas-synth-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("no directory for the test");
    }
    path_ = name;
  }
  ~Scratch() { fs::remove_all(path_); }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

std::map<std::string, std::string> contents(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().filename().string()] = std::string(std::istreambuf_iterator<char>(in), {});
  }
  return files;
}

struct Row {
  std::uint16_t year = 0;
  std::map<std::uint32_t, bool> headings;  // code -> major topic
  friend bool operator==(const Row&, const Row&) = default;
};

/// What a file says, read with the program's own parser.
struct FileText final : ingest::CitationSink {
  std::map<std::uint32_t, Row> rows;
  std::vector<std::uint32_t> deleted;
  void citation(const ingest::CitationView& view) override {
    Row row{view.year, {}};
    for (const ingest::Heading& heading : view.headings) {
      row.headings[store::descriptor_code(heading.ui.number, heading.ui.digits)] =
          heading.major_topic;
    }
    EXPECT_EQ(view.version, 1);
    EXPECT_TRUE(rows.emplace(view.pmid, std::move(row)).second) << "PMID twice: " << view.pmid;
  }
  void deletion(std::uint32_t pmid, std::uint16_t version) override {
    EXPECT_EQ(version, 1);
    deleted.push_back(pmid);
  }
  void book(std::uint64_t) override { ADD_FAILURE() << "a book"; }
  void left_out(ingest::LeftOut, std::uint64_t line, std::string_view) override {
    ADD_FAILURE() << "left out at line " << line;
  }
  void unknown_heading(std::uint64_t, std::uint32_t, std::string_view name) override {
    ADD_FAILURE() << "unknown heading " << name;
  }
};

FileText read_file(const std::string& path) {
  FileText text;
  const auto source = ingest::open_byte_source(path);
  ingest::parse_medline(*source, ingest::NameTable(), text);
  EXPECT_EQ(source->md5(), ingest::companion_md5(path)) << path;
  return text;
}

std::map<std::uint32_t, Row> rows_of(store::Store& store) {
  std::map<std::uint32_t, Row> rows;
  for (const std::uint32_t range : store.ranges()) {
    const store::Shard shard = store.shard(range).value();
    for (std::size_t r = 0; r < shard.rows(); ++r) {
      Row& row = rows[shard.pmid(r)];
      row.year = shard.year[r];
      for (std::uint32_t d = shard.offsets[r]; d < shard.offsets[r + 1]; ++d) {
        row.headings[shard.descriptors[d]] = shard.major[d] != 0;
      }
    }
  }
  return rows;
}

SynthOptions small(std::uint64_t seed) {
  SynthOptions options;
  options.articles = 1'500;
  options.seed = seed;
  options.articles_per_file = 400;
  options.update_files = 3;
  options.threads = 2;
  return options;
}

TEST(Synth, SameBytesAtAnyThreadCount) {
  const Scratch scratch;
  for (const bool full : {true, false}) {
    SynthOptions options = small(test_seed());
    options.full_records = full;
    options.threads = 1;
    options.xml_directory = scratch / (full ? "one-full" : "one");
    synthesize(options);
    const auto one = contents(options.xml_directory);
    options.threads = 2;
    options.xml_directory = scratch / (full ? "two-full" : "two");
    synthesize(options);
    EXPECT_EQ(one, contents(options.xml_directory));
    EXPECT_EQ(one.size(), (4 + 3) * 2 + 1U);
  }
}

TEST(Synth, StoreHasTheSameStateAtAnyThreadCount) {
  const Scratch scratch;
  SynthOptions options = small(test_seed());
  std::vector<std::string> states;
  std::vector<std::map<std::uint32_t, Row>> rows;
  for (const unsigned threads : {1U, 2U, 7U}) {
    options.threads = threads;
    options.store_directory = scratch / std::to_string(threads);
    synthesize(options);
    const auto store = store::Store::open(options.store_directory, store::Store::Access::read);
    states.push_back(store->state_id());
    rows.push_back(rows_of(*store));
  }
  EXPECT_EQ(states[0], states[1]);
  EXPECT_EQ(states[0], states[2]);
  EXPECT_EQ(rows[0], rows[1]);
  EXPECT_EQ(rows[0], rows[2]);
}

TEST(Synth, LongerCorpusBeginsWithTheShorterOne) {
  const Scratch scratch;
  SynthOptions options = small(test_seed());
  options.store_directory = scratch / "long";
  synthesize(options);
  options.articles = 700;
  options.store_directory = scratch / "short";
  synthesize(options);
  const auto rows = [&](const char* name) {
    return rows_of(*store::Store::open(scratch / name, store::Store::Access::read));
  };
  const auto longer = rows("long");
  const auto shorter = rows("short");
  ASSERT_EQ(longer.size(), 1'500U);
  ASSERT_EQ(shorter.size(), 700U);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST(Synth, BothFormsHoldTheSame) {
  const Scratch scratch;
  for (const bool full : {true, false}) {
    SynthOptions options = small(test_seed());
    options.update_files = 0;
    options.full_records = full;
    options.xml_directory = scratch / (full ? "full" : "headings");
    const SynthSummary xml = synthesize(options);
    std::map<std::uint32_t, Row> read;
    for (int file = 1; file <= 4; ++file) {
      read.merge(
          read_file(options.xml_directory + "/synthetic26n000" + std::to_string(file) + ".xml.gz")
              .rows);
    }
    options.store_directory = scratch / (full ? "store-full" : "store");
    options.xml_directory.clear();
    const SynthSummary stored = synthesize(options);
    const auto store = store::Store::open(options.store_directory, store::Store::Access::read);
    EXPECT_EQ(read, rows_of(*store));
    EXPECT_EQ(read.size(), 1'500U);
    EXPECT_EQ(xml.descriptor_uses, stored.descriptor_uses);
    EXPECT_EQ(xml.articles, stored.articles);
    EXPECT_EQ(store->ledger().size(), 4U);
  }
}

TEST(Synth, TableIsThatOfTheStore) {
  const Scratch scratch;
  SynthOptions options = small(1);
  options.store_directory = scratch / "store";
  synthesize(options);
  options.store_directory.clear();
  options.xml_directory = scratch / "xml";
  synthesize(options);
  const auto kept =
      store::Store::open(scratch / "store", store::Store::Access::read)->descriptors();
  const auto table = ingest::read_mesh_file(options.xml_directory + "/descriptors.tsv").descriptors;
  ASSERT_EQ(kept.size(), 30'000U);
  ASSERT_EQ(table.size(), kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(store::descriptor_code(table[i].ui.number, table[i].ui.digits), kept[i].code);
    EXPECT_EQ(table[i].name, kept[i].name);
    EXPECT_EQ(table[i].tree_numbers, kept[i].tree_numbers);
  }
}

// Files are played back one after another; every update must find what it changes.
TEST(Synth, UpdatesReviseDeleteAddAndBringBack) {
  const Scratch scratch;
  SynthOptions options = small(test_seed());
  options.xml_directory = scratch / "xml";
  const SynthSummary summary = synthesize(options);
  std::map<std::uint32_t, Row> now;
  std::map<std::uint32_t, Row> gone;
  std::uint64_t added = 0;
  std::uint64_t revised = 0;
  std::uint64_t emptied = 0;
  std::uint64_t back = 0;
  std::uint64_t deleted = 0;
  for (int file = 1; file <= 7; ++file) {
    FileText text =
        read_file(options.xml_directory + "/synthetic26n000" + std::to_string(file) + ".xml.gz");
    for (const auto& [pmid, row] : text.rows) {
      if (gone.contains(pmid)) {
        EXPECT_EQ(gone[pmid], row);
        gone.erase(pmid);
        ++back;
      } else if (now.contains(pmid)) {
        EXPECT_NE(now[pmid].headings, row.headings);
        ++revised;
        emptied += row.headings.empty() ? 1 : 0;
      } else {
        added += file > 4 ? 1 : 0;
      }
      now[pmid] = row;
    }
    for (const std::uint32_t pmid : text.deleted) {
      ASSERT_TRUE(now.contains(pmid));
      gone[pmid] = now[pmid];
      now.erase(pmid);
      ++deleted;
    }
  }
  EXPECT_EQ(std::tie(added, revised, back, deleted),
            std::tie(summary.added, summary.revised, summary.brought_back, summary.deleted));
  EXPECT_EQ(revised, 3U * 160);
  EXPECT_EQ(deleted, 3U * 40);
  EXPECT_EQ(back, 2U * 20);
  EXPECT_EQ(added, 3U * 100);
  EXPECT_GT(emptied, 5U);
  EXPECT_EQ(now.size(), 1'500 + added + back - deleted);
}

TEST(Synth, OneArticleIsACorpus) {
  const Scratch scratch;
  SynthOptions options = small(1);
  options.articles = 1;
  options.xml_directory = scratch / "xml";
  EXPECT_EQ(synthesize(options).files, 4U);
  EXPECT_EQ(read_file(options.xml_directory + "/synthetic26n0001.xml.gz").rows.size(), 1U);
}

TEST(Synth, SameCommandAgainChangesNothing) {
  const Scratch scratch;
  SynthOptions options = small(1);
  options.articles = 800;
  options.store_directory = scratch / "store";
  synthesize(options);
  options.articles = 1'500;  // two of four files are there
  synthesize(options);
  synthesize(options);
  const auto store = store::Store::open(options.store_directory, store::Store::Access::read);
  options.store_directory = scratch / "fresh";
  synthesize(options);
  const auto fresh = store::Store::open(options.store_directory, store::Store::Access::read);
  EXPECT_EQ(store->state_id(), fresh->state_id());
  EXPECT_EQ(rows_of(*store), rows_of(*fresh));
}

TEST(Synth, StopsWhenAskedTo) {
  const Scratch scratch;
  std::stop_source source;
  source.request_stop();
  SynthOptions options = small(1);
  options.stop = source.get_token();
  options.xml_directory = scratch / "xml";
  EXPECT_TRUE(synthesize(options).stopped);
  EXPECT_EQ(contents(options.xml_directory).size(), 1U);  // the table
}

void expect_refused(const SynthOptions& options, const std::string& part) {
  try {
    synthesize(options);
    ADD_FAILURE() << "not refused: " << part;
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Synth, RefusesADirectoryThatIsNotEmpty) {
  const Scratch scratch;
  SynthOptions options = small(1);
  options.xml_directory = scratch / "xml";
  fs::create_directory(options.xml_directory);
  std::ofstream(options.xml_directory + "/mine.txt") << "precious";
  expect_refused(options, "is not empty");
  EXPECT_EQ(contents(options.xml_directory).size(), 1U);
}

TEST(Synth, RefusesAStoreOfAnotherCorpus) {
  const Scratch scratch;
  SynthOptions options = small(1);
  options.store_directory = scratch / "store";
  synthesize(options);
  const auto state = [&] {
    const auto store = store::Store::open(options.store_directory, store::Store::Access::read);
    return std::pair(store->state_id(), store->descriptors());
  };
  const auto before = state();
  options.seed = 2;
  expect_refused(options, "another text of synthetic26n0001.xml.gz");
  EXPECT_EQ(state(), before);
}

TEST(Synth, RefusesAStoreWithOtherFiles) {
  const Scratch scratch;
  SynthOptions options = small(1);
  options.store_directory = scratch / "store";
  {
    const auto store = store::Store::open(options.store_directory, store::Store::Access::create);
    store::LedgerEntry entry;
    entry.key = store::file_key("pubmed26n0001.xml.gz");
    entry.md5 = std::string(32, '0');
    store->commit(std::span<const store::Shard>{}, entry);
  }
  expect_refused(options, "pubmed26n0001.xml.gz");
}

TEST(Synth, FullDiskIsAnErrorAndLeavesNothingHalfWritten) {
  const Scratch scratch;
  SynthOptions options = small(1);
  options.articles = 4'000;
  options.articles_per_file = 4'000;
  options.update_files = 0;
  options.xml_directory = scratch / "xml";
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{1'900'000, before.rlim_max};  // the table fits, the file does not
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  std::string message;
  try {
    synthesize(options);
  } catch (const std::runtime_error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("synthetic26n0001.xml.gz: the file cannot be written"), std::string::npos)
      << message;
  EXPECT_EQ(contents(options.xml_directory).size(), 1U);  // the table
}

}  // namespace
}  // namespace somatlas::pipeline
