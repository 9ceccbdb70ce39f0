#include "tests/faults/ingest_fixture.h"

#include <filesystem>

#include "store/store.h"

namespace somatlas::fault_test {
namespace {

namespace fs = std::filesystem;

std::string state_of(const std::string& store) {
  return store::Store::open(store, store::Store::Access::read)->state_id();
}

}  // namespace

std::vector<std::string> ingest_phases(const std::vector<Call>& trace) {
  std::vector<std::string> phases;
  std::string phase = "opening it";
  std::set<std::string> linked;
  bool compacted = false;
  for (const Call& call : trace) {
    const bool incoming = call.path.find("/incoming/") != std::string::npos;
    if (call.path.find(".new-") != std::string::npos) {
      phase = "making the store";
    } else if (phase == "making the store") {
      phase = "opening it";
    }
    if (call.path.ends_with(".xml")) {
      phase = call.name == "end" ? "before a commit" : "parsing a file";
    } else if (phase != "making the store" && incoming) {
      phase = call.name == "unlink" ? "after a commit" : "writing tables";
    } else if (phase != "making the store" && call.name == "link") {
      phase = "ingesting them";
      linked.insert(call.path);
    } else if (phase != "making the store" && call.name == "create" &&
               call.path.ends_with(".sst") && !linked.contains(call.path)) {
      phase = "compacting";
      compacted = true;
    } else if (compacted && call.name == "open" && call.path.ends_with("/CURRENT")) {
      phase = "closing";
    }
    if (call.name == "link") {
      linked.insert(call.path);
    }
    phases.push_back(phase);
  }
  return phases;
}

void IngestFaultTest::set_up(plain::Shape shape) {
  fs::create_directory(scratch_ / "files");
  for (std::uint32_t number = 1; number <= 6; ++number) {
    files_.push_back(plain::random_file(random_, number, shape));
    plain::write_file(scratch_ / "files/" + plain::file_name(files_.back()), files_.back());
  }
  expected_dump_ = plain::dump_of(plain::model_of(files_));
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const Ending ending = run_somatlas(command(scratch_ / "whole"), with({.root = scratch_.path()}));
  duration_ = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
  ASSERT_EQ(ending.exit_code, 0) << ending.err;
  trace_ = read_trace(scratch_ / "trace");
  expected_state_ = state_of(scratch_ / "whole");
  ASSERT_EQ(check(scratch_ / "whole", committed(ending)).size(), files_.size());
}

std::vector<std::string> IngestFaultTest::command(const std::string& store,
                                                  unsigned threads) const {
  return {"ingest",          "--store", store, "--progress", "--threads", std::to_string(threads),
          scratch_ / "files"};
}

Surroundings IngestFaultTest::with(Fault fault) const {
  fault.root = scratch_.path();
  fault.trace = scratch_ / "trace";
  fs::remove(fault.trace);
  Surroundings surroundings;
  surroundings.environment = environment_of(fault);
  return surroundings;
}

std::set<std::uint32_t> IngestFaultTest::committed(const Ending& ending) {
  std::set<std::uint32_t> numbers;
  const std::string before = "committed pubmed26n";
  for (std::size_t at = 0; (at = ending.err.find(before, at)) != std::string::npos;
       at += before.size()) {
    numbers.insert(static_cast<std::uint32_t>(std::stoul(ending.err.substr(at + before.size()))));
  }
  return numbers;
}

std::set<std::uint32_t> IngestFaultTest::check(const std::string& store,
                                               const std::set<std::uint32_t>& acknowledged) const {
  std::set<std::uint32_t> taken;
  if (fs::exists(store)) {
    const auto opened = store::Store::open(store, store::Store::Access::read);
    opened->verify(
        [](const store::Fault& fault) { ADD_FAILURE() << fault.where << ": " << fault.what; });
    std::vector<plain::File> whole;
    for (const store::LedgerEntry& entry : opened->ledger()) {
      taken.insert(static_cast<std::uint32_t>(entry.key.number));
      whole.push_back(files_.at(entry.key.number - 1));
    }
    EXPECT_TRUE(plain::model_in(*opened) == plain::model_of(whole))
        << store << " does not hold what its " << whole.size() << " files say";
  }
  for (const std::uint32_t number : acknowledged) {
    EXPECT_TRUE(taken.contains(number)) << "file " << number << " was acknowledged and is gone";
  }
  return taken;
}

void IngestFaultTest::finish(const std::string& store) const {
  const Ending ending = run_somatlas(command(store));
  ASSERT_EQ(ending.exit_code, 0) << ending.err;
  check(store, committed(ending));
  EXPECT_TRUE(run_somatlas({"dump", "--all", "--store", store}).out == expected_dump_);
  EXPECT_EQ(state_of(store), expected_state_);
  expect_nothing_left_over(store);
}

void IngestFaultTest::expect_no_unfinished_folders(const std::string& beside) {
  for (const auto& entry : fs::directory_iterator(fs::path(beside).parent_path())) {
    EXPECT_EQ(entry.path().filename().string().find(".new-"), std::string::npos) << entry.path();
  }
}

void IngestFaultTest::expect_nothing_left_over(const std::string& store) const {
  expect_no_unfinished_folders(store);
  if (fs::exists(store)) {
    EXPECT_TRUE(fs::is_empty(store + "/incoming"));
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(store)) {
      bytes += entry.path().extension() == ".sst" ? entry.file_size() : 0;
    }
    EXPECT_EQ(bytes, store::Store::open(store, store::Store::Access::read)->disk_bytes());
  }
}

}  // namespace somatlas::fault_test
