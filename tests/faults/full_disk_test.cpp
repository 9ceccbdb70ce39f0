// A disk that fills up in the middle of an ingest, by its size or by a limit on files: one
// sentence and exit code 1, what was committed stays, and with room again the same command ends in
// the store that an undisturbed run makes.
#include <filesystem>
#include <iostream>

#include "tests/faults/ingest_fixture.h"
#include "tests/repetitions.h"
#include "tests/store/small_disk.h"

namespace somatlas::fault_test {
namespace {

namespace fs = std::filesystem;

class FullDisk : public IngestFaultTest {
 protected:
  void SetUp() override { set_up({2'000, 700}); }

  void expect_refusal(const Ending& ending, const std::string& store, const std::string& reason,
                      std::uint64_t bytes) const {
    EXPECT_EQ(ending.exit_code, 1) << ending.err;
    const std::size_t line = ending.err.rfind("somatlas: ");
    ASSERT_NE(line, std::string::npos) << ending.err;
    const std::string sentence = ending.err.substr(line);
    EXPECT_EQ(sentence.find('\n'), sentence.size() - 1) << sentence;
    EXPECT_NE(sentence.find(store), std::string::npos) << sentence;
    EXPECT_NE(sentence.find(reason), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find("damaged"), std::string::npos) << sentence;
    std::cout << bytes << " bytes: " << committed(ending).size() << " files, then: " << sentence;
  }
};

TEST_F(FullDisk, ByALimitOnTheSizeOfFiles) {
  std::uint64_t largest = 0;
  for (const auto& entry : fs::directory_iterator(scratch_ / "whole")) {
    largest = entry.path().extension() == ".sst" ? std::max(largest, entry.file_size()) : largest;
  }
  const int sizes = repetitions(12, 100);
  for (int i = 0; i < sizes; ++i) {
    const std::uint64_t share = largest / static_cast<std::uint64_t>(sizes + 1);
    const std::uint64_t bytes = 1 + share * static_cast<std::uint64_t>(i) + random_() % share;
    const std::string store = scratch_ / ("store" + std::to_string(i));
    Surroundings surroundings;
    surroundings.wrapper = {"prlimit", "--fsize=" + std::to_string(bytes)};
    const Ending ending = run_somatlas(command(store, 2), surroundings);
    ASSERT_NO_FATAL_FAILURE(expect_refusal(ending, store, "ulimit -f", bytes));
    check(store, committed(ending));
    finish(store);
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(FullDisk, ByItsSize) {
  std::uint64_t needed = 0;
  for (const auto& entry : fs::directory_iterator(scratch_ / "whole")) {
    needed += entry.is_regular_file() ? entry.file_size() : 0;
  }
  const int sizes = repetitions(12, 100);
  int refusals = 0;
  std::size_t committed_files = 0;
  // Few sizes may all miss the span in which some of the files have room: then more are tried.
  for (int i = 0; i < sizes || (committed_files == 0 && i < 20 * sizes); ++i) {
    // Before it is compacted, a store takes about twice as much.
    const std::uint64_t share = 2 * needed / static_cast<std::uint64_t>(sizes);
    const std::uint64_t bytes =
        4'096 + share * static_cast<std::uint64_t>(i % sizes) + random_() % share;
    const std::string mount = scratch_ / ("disk" + std::to_string(i));
    store::SmallDisk disk(mount, bytes);
    if (!disk.mounted()) {
      GTEST_SKIP() << "this process may not mount a file system";
    }
    const std::string store = mount + "/store";
    const Ending ending = run_somatlas(command(store, 2));
    if (ending.exit_code != 0) {
      ASSERT_NO_FATAL_FAILURE(expect_refusal(ending, store, "the disk is full", bytes));
      ++refusals;
      committed_files += committed(ending).size();
    }
    check(store, committed(ending));
    ASSERT_TRUE(disk.grow(std::uint64_t{64} << 20U));
    finish(store);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(refusals, sizes / 2);
  EXPECT_GT(committed_files, 0U);
}

}  // namespace
}  // namespace somatlas::fault_test
