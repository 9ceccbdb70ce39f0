// Kill -9 of `somatlas ingest`, at random moments and at the first, the last and random calls of
// every part of it: what was committed is there, nothing is there by half, and the same command
// again ends in the store that an undisturbed run makes.
#include <signal.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include "tests/faults/ingest_fixture.h"
#include "tests/repetitions.h"

namespace somatlas::fault_test {
namespace {

class IngestKill : public IngestFaultTest {
 protected:
  /// One killed run, looked at; every third time or so the work is then finished.
  void killed(const Ending& ending) {
    const std::set<std::uint32_t> now = committed(ending);
    acknowledged_.insert(now.begin(), now.end());
    acknowledged_ = check(store(), acknowledged_);
    const std::vector<std::string> phases = ingest_phases(read_trace(scratch_ / "trace"));
    ++histogram_[phases.empty() ? "before the first call" : phases.back()];
    if (random_() % 3 == 0) {
      next_store();
    }
  }
  void next_store() {
    finish(store());
    std::filesystem::remove_all(store());
    ++stores_;
    acknowledged_.clear();
  }
  [[nodiscard]] std::string store() const { return scratch_ / ("store" + std::to_string(stores_)); }
  void print() const {
    for (const auto& [phase, count] : histogram_) {
      std::cout << count << " kills in: " << phase << "\n";
    }
  }

  std::set<std::uint32_t> acknowledged_;
  std::map<std::string, int> histogram_;
  int stores_ = 0;
};

TEST_F(IngestKill, AtRandomMoments) {
  const int wanted = repetitions(60, 200);
  int kills = 0;
  for (int life = 0; kills < wanted && !HasFailure(); ++life) {
    ASSERT_LT(life, 20 * wanted) << "the runs end before they can be killed";
    RunningProgram program(command(store(), 1 + static_cast<unsigned>(random_() % 2)), with({}));
    std::this_thread::sleep_for(
        std::chrono::microseconds(random_() % static_cast<std::uint64_t>(duration_.count())));
    program.send(SIGKILL);
    const Ending ending = program.wait();
    if (ending.exit_code == 128 + SIGKILL) {
      ++kills;
      killed(ending);
    } else {
      ASSERT_EQ(ending.exit_code, 0) << ending.err;
      next_store();
    }
  }
  next_store();
  print();
}

TEST_F(IngestKill, InEveryPart) {
  const std::vector<std::string> phases = ingest_phases(trace_);
  std::map<std::string, std::vector<std::size_t>> calls;  // by phase: numbers of calls, from 1
  for (std::size_t i = 0; i < phases.size(); ++i) {
    calls[phases[i]].push_back(i + 1);
  }
  for (const std::string& phase : all_ingest_phases) {
    ASSERT_TRUE(calls.contains(phase)) << phase;
  }
  // The first of each part, then the last of each, then any: on a new store the calls come in the
  // same order again, but for RocksDB's own threads.
  const int wanted = repetitions(2 * static_cast<int>(calls.size()) + 2, 100);
  for (int kill = 0; kill < wanted && !HasFailure(); ++kill) {
    const auto round = static_cast<std::size_t>(kill) / calls.size();
    const auto& [phase, numbers] =
        *std::next(calls.begin(), kill % static_cast<std::ptrdiff_t>(calls.size()));
    const std::size_t number = round == 0   ? numbers.front()
                               : round == 1 ? numbers.back()
                                            : numbers[random_() % numbers.size()];
    const Ending ending = run_somatlas(command(store()), with({.root = {}, .number = number}));
    ASSERT_EQ(ending.exit_code, 128 + SIGKILL) << phase << ", call " << number << ending.err;
    killed(ending);
    if (std::filesystem::exists(store())) {
      next_store();
    }
  }
  next_store();
  print();
  if (!HasFailure() && wanted >= 2 * static_cast<int>(calls.size())) {
    for (const std::string& phase : all_ingest_phases) {
      EXPECT_GT(histogram_[phase], 0) << phase;
    }
  }
}

}  // namespace
}  // namespace somatlas::fault_test
