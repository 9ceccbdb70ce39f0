// SIGINT and SIGTERM at random moments of an ingest: exit code 130 or 143, whole files only and
// nothing left over, and the same command goes on to the store that an undisturbed run makes.
#include <signal.h>

#include <filesystem>
#include <iostream>
#include <thread>

#include "tests/faults/ingest_fixture.h"
#include "tests/repetitions.h"

namespace somatlas::fault_test {
namespace {

class IngestStop : public IngestFaultTest {
 protected:
  void SetUp() override { set_up({2'000, 700}); }
};

TEST_F(IngestStop, AtRandomMoments) {
  const int wanted = repetitions(40, 300);
  std::map<std::size_t, int> stops_after;  // by files committed in that run
  int stops = 0;
  std::string store;
  for (int life = 0; stops < wanted; ++life) {
    ASSERT_LT(life, 20 * wanted) << "the runs end before they can be stopped";
    if (store.empty()) {
      store = scratch_ / ("store" + std::to_string(life));
    }
    const int signal = random_() % 2 == 0 ? SIGINT : SIGTERM;
    RunningProgram program(command(store, 1 + static_cast<unsigned>(random_() % 2)));
    std::this_thread::sleep_for(
        std::chrono::microseconds(random_() % static_cast<std::uint64_t>(duration_.count())));
    program.send(signal);
    const Ending ending = program.wait();
    const std::set<std::uint32_t> now = committed(ending);
    if (ending.exit_code != 0) {
      ASSERT_EQ(ending.exit_code, 128 + signal) << ending.err;
      ++stops;
      ++stops_after[now.size()];
    }
    const std::set<std::uint32_t> taken = check(store, now);
    expect_nothing_left_over(store);
    if (ending.err.find("Stopped when asked to") == std::string::npos) {
      // The signal came before the first file or behind the last.
      EXPECT_TRUE(now.empty() || taken.size() == files_.size()) << ending.err;
    }
    if (ending.exit_code == 0 || taken.size() == files_.size() || random_() % 3 == 0) {
      finish(store);
      std::filesystem::remove_all(store);
      store.clear();
    }
    ASSERT_FALSE(HasFailure()) << ending.err;
  }
  for (const auto& [files, count] : stops_after) {
    std::cout << count << " stops after " << files << " committed files\n";
  }
}

}  // namespace
}  // namespace somatlas::fault_test
