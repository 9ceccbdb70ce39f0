// The program's ingest through random lives of a store, call after call: its dump is always a plain
// map's.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "tests/pipeline/update_sequence.h"
#include "tests/program/running_program.h"
#include "tests/repetitions.h"
#include "tests/seed.h"

namespace somatlas::program_test {
namespace {

TEST(Updates, RandomCallsDumpAsAPlainMapDoes) {
  std::mt19937_64 random(test_seed());
  plain::Events events;
  const int sequences = repetitions(24, 400);
  for (int i = 0; i < sequences && !HasFailure(); ++i) {
    const ScratchDirectory scratch;
    std::filesystem::create_directory(scratch / "files");
    plain::UpdateSequence sequence(random, scratch / "files", events);
    for (std::size_t calls = 1 + random() % 5; calls > 0; --calls) {
      std::vector<std::string> words{"ingest", "--store", scratch / "store", "--threads",
                                     std::to_string(1 + random() % 2)};
      const std::vector<std::string> paths = sequence.next_call();
      words.insert(words.end(), paths.begin(), paths.end());
      const Ending ending = run_somatlas(words);
      ASSERT_EQ(ending.exit_code, 0) << ending.err;
      ASSERT_EQ(run_somatlas({"dump", "--all", "--store", scratch / "store"}).out,
                plain::dump_of(sequence.model()))
          << "sequence " << i;
    }
    EXPECT_EQ(run_somatlas({"verify", "--store", scratch / "store"}).exit_code, 0);
  }
  for (const std::string& event : plain::all_events()) {
    std::cout << events[event] << " times: " << event << "\n";
  }
}

}  // namespace
}  // namespace somatlas::program_test
