// Every call that changes the disk, failing in turn, once or from then on: `somatlas ingest` ends
// in one sentence with exit code 1, or did all its work without that call; what was committed
// stays, and the same command again ends in the store that an undisturbed run makes.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "tests/faults/ingest_fixture.h"
#include "tests/repetitions.h"

namespace somatlas::fault_test {
namespace {

class FailingCall : public IngestFaultTest {
 protected:
  // Small files: what counts is the calls.
  void SetUp() override { set_up({60, 20}); }

  [[nodiscard]] std::size_t calls_of(std::string_view kinds) const {
    return static_cast<std::size_t>(std::ranges::count_if(trace_, [&](const Call& call) {
      return kinds.find(" " + call.name + " ") != std::string_view::npos;
    }));
  }

  /// One run with the fault, and what has to hold after it; false where no call was struck.
  void run(const Fault& fault) {
    const std::string store = scratch_ / "store";
    std::filesystem::remove_all(store);
    const Ending ending = run_somatlas(command(store), with(fault));
    const std::string about = std::string(fault.lasting ? "from call " : "call ") +
                              std::to_string(fault.number) + " of" + fault.calls + "on with " +
                              std::strerror(fault.error) + ": " + ending.err;
    ++endings_[ending.exit_code];
    if (ending.exit_code == 0) {
      ++sentences_["nothing said of " + struck(fault)];
      EXPECT_EQ(run_somatlas({"dump", "--all", "--store", store}).out, expected_dump_) << about;
    } else {
      ASSERT_EQ(ending.exit_code, 1) << about;
      const std::string last = last_line(ending.err);
      EXPECT_TRUE(last.starts_with("somatlas: ")) << about;
      EXPECT_NE(last.find(scratch_.path()), std::string::npos) << about;
      EXPECT_NE(last.find(": "), std::string::npos) << about;
      EXPECT_EQ(last.find("damaged"), std::string::npos) << about;
      if (fault.error == ENOSPC) {
        EXPECT_TRUE(last.find("the disk is full") != std::string::npos ||
                    last.find("No space left on device") != std::string::npos)
            << about;
      }
      ++sentences_[last.substr(0, last.find(scratch_.path())) + "..." +
                   last.substr(last.rfind(':'))];
    }
    check(store, committed(ending));
    finish(store);
    if (HasFailure()) {
      ADD_FAILURE() << about;
    }
  }

  /// The call that a fault met, without what differs from run to run.
  [[nodiscard]] std::string struck(const Fault& fault) const {
    std::size_t number = 0;
    for (const Call& call : read_trace(scratch_ / "trace")) {
      if (fault.calls.find(" " + call.name + " ") != std::string::npos &&
          call.path.find(fault.path) != std::string::npos && ++number == fault.number) {
        std::string name = std::filesystem::path(call.path).filename();
        std::erase_if(name, [](unsigned char c) { return std::isdigit(c) != 0; });
        return call.name + " " + name;
      }
    }
    return "no call";
  }

  /// The first call of `kinds` on a path with `vital` in it, which no ingest does without; then
  /// `most` of all calls of `kinds`, which in the longer run are all of them.
  void run_all(std::string_view kinds, int most, int error, bool lasting, std::string_view vital) {
    run({.root = {},
         .calls = std::string(kinds),
         .path = std::string(vital),
         .number = 1,
         .error = error,
         .lasting = lasting});
    EXPECT_EQ(endings_[1], 1) << "nothing said of a failing call on " << vital;
    const std::size_t calls = calls_of(kinds);
    const std::size_t runs = std::min(calls, static_cast<std::size_t>(repetitions(most, 10'000)));
    for (std::size_t run_number = 0; run_number < runs && !HasFailure(); ++run_number) {
      // Where there are more calls than runs, each run takes one of its share.
      const std::size_t first = calls * run_number / runs;
      const std::size_t share = calls * (run_number + 1) / runs - first;
      run({.root = {},
           .calls = std::string(kinds),
           .number = first + 1 + random_() % share,
           .error = error,
           .lasting = lasting});
    }
    for (const auto& [code, count] : endings_) {
      std::cout << count << " of " << runs + 1 << " runs (" << calls << " calls) ended with "
                << code << "\n";
    }
    for (const auto& [sentence, count] : sentences_) {
      std::cout << count << " times: " << sentence << "\n";
    }
  }

  static std::string last_line(const std::string& text) {
    const std::size_t end = text.find_last_not_of('\n');
    const std::size_t begin = text.rfind('\n', end);
    return text.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
  }

  std::map<int, int> endings_;
  std::map<std::string, int> sentences_;
};

TEST_F(FailingCall, TheDiskIsFullFromACallOn) {
  run_all(growing_calls, 50, ENOSPC, true, "/incoming/");
}
TEST_F(FailingCall, OneWriteFindsNoRoom) {
  run_all(" write create allocate ", 50, ENOSPC, false, "/incoming/");
}
TEST_F(FailingCall, OneWriteFails) {
  run_all(" write create ", 40, EIO, false, "/incoming/");
}
TEST_F(FailingCall, OneSyncFails) {
  run_all(" sync ", 40, EIO, false, "/incoming/");
}
// A store whose name a power cut could take away is not one to commit to.
TEST_F(FailingCall, TheNewStoresNameIsSynced) {
  const std::string folder = scratch_.path();
  const auto syncs = std::ranges::count_if(
      trace_, [&](const Call& call) { return call.name == "sync" && call.path == folder; });
  ASSERT_EQ(syncs, 1);
  std::size_t number = 0;
  for (const Call& call : trace_) {
    number += call.name == "sync" ? 1 : 0;
    if (call.name == "sync" && call.path == folder) {
      break;
    }
  }
  run({.root = {}, .calls = " sync ", .number = number, .error = EIO});
  EXPECT_EQ(endings_[1], 1);
}
TEST_F(FailingCall, OneRenameLinkOrRemovalFails) {
  run_all(" rename link unlink mkdir truncate ", 40, EIO, false, ".new-");
}

}  // namespace
}  // namespace somatlas::fault_test
