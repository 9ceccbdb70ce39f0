// What the tests of a disturbed training share: a small store, the command, and the atlas that an
// undisturbed run makes of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/faults/ingest_fixture.h"
#include "tests/pipeline/training_fixture.h"

namespace somatlas::fault_test {

class TrainingFaultTest : public IngestFaultTest {
 protected:
  void SetUp() override {
    set_up({300, 100});
    const auto begin = std::chrono::steady_clock::now();
    const Ending ending = run_somatlas(train(scratch_ / "atlas"), with({}));
    training_duration_ = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - begin);
    ASSERT_EQ(ending.exit_code, 0) << ending.err;
    training_trace_ = read_trace(scratch_ / "trace");
    expected_ = pipeline::read_content(scratch_ / "atlas");
  }

  /// The command for what is there: anew, or --resume where a training was begun.
  [[nodiscard]] std::vector<std::string> train(const std::string& atlas) const {
    std::vector<std::string> words{"train",
                                   "--store",
                                   scratch_ / "whole",
                                   "--atlas",
                                   atlas,
                                   "--side",
                                   "5",
                                   "--epochs",
                                   "6",
                                   "--threads",
                                   "1",
                                   "--device",
                                   "cpu",
                                   "--min-descriptors",
                                   "1"};
    if (std::filesystem::exists(atlas + ".partial")) {
      words.emplace_back("--resume");
    }
    return words;
  }

  /// The command again, where there is no atlas yet, ends in the undisturbed run's.
  void finish_training(const std::string& atlas) const {
    if (!std::filesystem::exists(atlas)) {
      const Ending ending = run_somatlas(train(atlas));
      ASSERT_EQ(ending.exit_code, 0) << ending.err;
    }
    EXPECT_TRUE(pipeline::read_content(atlas) == expected_) << atlas;
    EXPECT_FALSE(std::filesystem::exists(atlas + ".partial"));
    expect_no_unfinished_folders(atlas);
  }

  std::chrono::microseconds training_duration_{};
  std::vector<Call> training_trace_;
  pipeline::AtlasContent expected_;
};

}  // namespace somatlas::fault_test
