// Kill -9 of `somatlas train`, at random moments and at random calls of every part of it: the same
// command with --resume ends in the same atlas, bit for bit.
#include <iostream>
#include <thread>

#include "tests/faults/training_fixture.h"
#include "tests/repetitions.h"

namespace somatlas::fault_test {
namespace {

namespace fs = std::filesystem;

/// Which part of a training each call of its trace belongs to.
std::vector<std::string> training_phases(const std::vector<Call>& trace) {
  std::vector<std::string> phases;
  std::string phase = "reading the store";
  for (const Call& call : trace) {
    const bool work = call.path.find(".partial") != std::string::npos;
    if (call.path.find(".new-") != std::string::npos) {
      phase = "making the work folder";
    } else if (call.path.find("/incoming/") != std::string::npos && call.name != "unlink") {
      phase = "writing a checkpoint's tables";
    } else if (work && call.name == "link") {
      phase = "ingesting them";
    } else if (work && call.name == "sync" && call.path.ends_with("/CURRENT")) {
      phase = "syncing the atlas";
    } else if (!work && call.name == "rename") {
      phase = "giving it its name";
    } else if (!work && phase != "giving it its name" && phase != "syncing the atlas") {
      phase = "reading the store";
    }
    phases.push_back(phase);
  }
  return phases;
}

class TrainingKill : public TrainingFaultTest {
 protected:
  void killed() {
    const std::vector<std::string> phases = training_phases(read_trace(scratch_ / "trace"));
    ++histogram_[phases.empty() ? "before the first call" : phases.back()];
    if (random_() % 3 == 0 || fs::exists(atlas())) {
      next_atlas();
    }
  }
  void next_atlas() {
    finish_training(atlas());
    fs::remove_all(atlas());
    ++atlases_;
  }
  [[nodiscard]] std::string atlas() const {
    return scratch_ / ("atlas" + std::to_string(atlases_));
  }
  void print() const {
    for (const auto& [phase, count] : histogram_) {
      std::cout << count << " kills in: " << phase << "\n";
    }
  }

  std::map<std::string, int> histogram_;
  int atlases_ = 0;
};

TEST_F(TrainingKill, AtRandomMoments) {
  const int wanted = repetitions(20, 100);
  int kills = 0;
  for (int life = 0; kills < wanted && !HasFailure(); ++life) {
    ASSERT_LT(life, 20 * wanted) << "the runs end before they can be killed";
    RunningProgram program(train(atlas()), with({}));
    std::this_thread::sleep_for(std::chrono::microseconds(
        random_() % static_cast<std::uint64_t>(training_duration_.count())));
    program.send(SIGKILL);
    const Ending ending = program.wait();
    if (ending.exit_code == 128 + SIGKILL) {
      ++kills;
      killed();
    } else {
      ASSERT_EQ(ending.exit_code, 0) << ending.err;
      next_atlas();
    }
  }
  next_atlas();
  print();
}

TEST_F(TrainingKill, InEveryPart) {
  using Numbers = std::map<std::string, std::vector<std::size_t>>;  // by phase: of calls, from 1
  const auto numbers_in = [](const std::vector<Call>& trace) {
    const std::vector<std::string> phases = training_phases(trace);
    Numbers calls;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      calls[phases[i]].push_back(i + 1);
    }
    return calls;
  };
  const auto kill_at = [&](const std::vector<std::size_t>& numbers) {
    const Ending ending = run_somatlas(
        train(atlas()), with({.root = {}, .number = numbers[random_() % numbers.size()]}));
    ASSERT_TRUE(ending.exit_code == 128 + SIGKILL || ending.exit_code == 0) << ending.err;
    killed();
    if (fs::exists(atlas() + ".partial")) {
      next_atlas();
    }
  };
  const Numbers calls = numbers_in(training_trace_);
  EXPECT_EQ(calls.size(), 6U);
  const int wanted = repetitions(20, 100);
  for (int kill = 0; kill < wanted && !HasFailure(); ++kill) {
    kill_at(std::next(calls.begin(), kill % static_cast<std::ptrdiff_t>(calls.size()))->second);
  }
  // How many checkpoints a training writes depends on its speed, and with it where a part begins: a
  // part that was missed is looked for where it has come to lie.
  for (const auto& [phase, numbers] : calls) {
    for (int more = 0; more < 20 && histogram_[phase] == 0 && !HasFailure(); ++more) {
      ASSERT_EQ(run_somatlas(train(atlas()), with({})).exit_code, 0);
      const Numbers now = numbers_in(read_trace(scratch_ / "trace"));
      next_atlas();
      if (now.contains(phase)) {
        kill_at(now.at(phase));
      }
    }
  }
  print();
  if (!HasFailure() && wanted >= 20) {
    for (const auto& [phase, numbers] : calls) {
      EXPECT_GT(histogram_[phase], 0) << phase;
    }
  }
}

// Kill -9 while an atlas replaces another: the same command, or with --resume what is begun, leaves
// the new one, never again the old one, and no other folder.
TEST_F(TrainingKill, WhileAnAtlasIsReplaced) {
  const std::string atlas = scratch_ / "replaced";
  std::vector<std::string> older = train(atlas);
  older[static_cast<std::size_t>(std::ranges::find(older, "--epochs") - older.begin()) + 1] = "1";
  const auto newer = [&] {
    std::vector<std::string> words = train(atlas);
    words.emplace_back("--overwrite");
    return words;
  };
  ASSERT_EQ(run_somatlas(older).exit_code, 0);
  ASSERT_EQ(run_somatlas(newer(), with({})).exit_code, 0);
  const std::vector<Call> trace = read_trace(scratch_ / "trace");
  std::size_t exchange = trace.size();
  while (exchange > 0 && trace[exchange - 1].name != "rename") {
    --exchange;
  }
  ASSERT_GT(exchange, 0U);
  const std::size_t calls = trace.size() - exchange;
  ASSERT_GT(calls, 10U);
  const int wanted = repetitions(24, 100);
  for (int kill = 0; kill < wanted && !HasFailure(); ++kill) {
    fs::remove_all(atlas);
    ASSERT_EQ(run_somatlas(older).exit_code, 0);
    // The first calls behind the exchange and the last one are those that a mark could miss.
    const std::size_t behind = kill < 4    ? static_cast<std::size_t>(kill)
                               : kill == 4 ? calls
                                           : random_() % (calls + 1);
    const Ending ending = run_somatlas(newer(), with({.root = {}, .number = exchange + behind}));
    ASSERT_TRUE(ending.exit_code == 128 + SIGKILL || ending.exit_code == 0) << ending.err;
    if (fs::exists(atlas + ".partial")) {
      const Ending again = run_somatlas(newer());
      if (again.exit_code != 0) {
        EXPECT_NE(again.err.find("is complete"), std::string::npos) << again.err;
      }
    }
    if (fs::exists(atlas + ".partial")) {
      ADD_FAILURE() << "a folder stays after a kill " << behind << " calls behind the exchange";
    }
    EXPECT_TRUE(pipeline::read_content(atlas) == expected_)
        << "killed " << behind << " calls behind the exchange";
    expect_no_unfinished_folders(atlas);
  }
}

// A full or failing disk: one sentence and exit code 1, or the same atlas; and it can be gone on
// with.
TEST_F(TrainingKill, FailingCallsAreToldAndGoneOnFrom) {
  const auto changing =
      static_cast<std::size_t>(std::ranges::count_if(training_trace_, [](const Call& call) {
        return changing_calls.find(" " + call.name + " ") != std::string_view::npos;
      }));
  const int runs = repetitions(40, 400);
  int told = 0;
  for (int run = 0; run < runs && !HasFailure(); ++run) {
    // A disk that is full from the start is surely told of.
    const bool full = run == 0 || random_() % 2 == 0;
    const Fault fault{.root = {},
                      .calls = std::string(full ? growing_calls : changing_calls),
                      .number = run == 0 ? 1 : 1 + random_() % changing,
                      .error = full ? ENOSPC : EIO,
                      .lasting = full};
    const Ending ending = run_somatlas(train(atlas()), with(fault));
    const std::size_t line = ending.err.rfind("somatlas: ");
    if (ending.exit_code != 0) {
      ++told;
      ASSERT_EQ(ending.exit_code, 1) << fault.number << ": " << ending.err;
      ASSERT_NE(line, std::string::npos) << ending.err;
      EXPECT_EQ(ending.err.find('\n', line), ending.err.size() - 1) << ending.err;
      EXPECT_EQ(ending.err.find("damaged", line), std::string::npos) << ending.err;
    }
    next_atlas();
    if (HasFailure()) {
      ADD_FAILURE() << (full ? "full from call " : "failing call ") << fault.number << ": "
                    << ending.err;
    }
  }
  std::cout << told << " of " << runs << " runs were told of it\n";
  EXPECT_GT(told, 0);
}

}  // namespace
}  // namespace somatlas::fault_test
