// A training of the sample that is asked to stop, and one that is killed again and again: resumed,
// each ends in the atlas of one that was left alone.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/program/sample_job.h"
#include "tests/seed.h"

namespace somatlas::program_test {
namespace {

TEST(ResumedTraining, AnInterruptedOneEndsInTheSameAtlas) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  ingest_sample(store);
  expect_done(train_command(store, scratch / "whole"));
  const auto whole = exported(scratch / "whole", scratch / "whole.npy");

  std::vector<std::string> command = train_command(store, scratch / "signalled");
  RunningProgram program(command);
  ASSERT_TRUE(program.wait_for_error_text("\n      1 "));
  program.send(SIGINT);
  const Ending interrupted = program.wait();
  EXPECT_EQ(interrupted.exit_code, 130) << interrupted.err;
  EXPECT_FALSE(std::filesystem::exists(scratch / "signalled"));
  command.emplace_back("--resume");
  expect_done(command);
  EXPECT_EQ(exported(scratch / "signalled", scratch / "signalled.npy"), whole);
}

TEST(ResumedTraining, AKilledOneEndsInTheSameAtlas) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  ingest_sample(store);
  const auto begin = std::chrono::steady_clock::now();
  expect_done(train_command(store, scratch / "whole"));
  const auto duration = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  const auto whole = exported(scratch / "whole", scratch / "whole.npy");

  std::mt19937_64 random(test_seed());
  const std::string atlas = scratch / "killed";
  std::size_t kills = 0;
  while (!std::filesystem::exists(atlas) && kills < 40) {
    std::vector<std::string> command = train_command(store, atlas);
    if (std::filesystem::exists(atlas + ".partial")) {
      command.emplace_back("--resume");
    }
    RunningProgram program(command);
    if (kills == 0) {  // surely before its end
      ASSERT_TRUE(program.wait_for_error_text("\n      1 "));
    } else {
      std::this_thread::sleep_for(duration * (20 + random() % 280) / 1000);
    }
    program.send(SIGKILL);
    const Ending ending = program.wait();
    // Killed, or done before the kill came; never refused what an earlier run left.
    ASSERT_TRUE(ending.exit_code == 128 + SIGKILL || ending.exit_code == 0) << ending.err;
    ++kills;
  }
  if (!std::filesystem::exists(atlas)) {
    std::vector<std::string> command = train_command(store, atlas);
    command.emplace_back("--resume");
    expect_done(command);
  }
  EXPECT_GE(kills, 2U);
  EXPECT_EQ(exported(atlas, scratch / "killed.npy"), whole);
}

}  // namespace
}  // namespace somatlas::program_test
