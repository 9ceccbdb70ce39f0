// What the tests of whole trainings share: a store and atlases in a folder of their own, an
// observer that remembers and can ask to stop, and everything an atlas holds as values that
// compare.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "pipeline/training.h"
#include "store/atlas.h"
#include "tests/pipeline/training_oracle.h"
#include "tests/seed.h"

namespace somatlas::pipeline {

/// Remembers what it is shown; asks to stop after an epoch where told to.
class Recorder : public TrainingObserver {
 public:
  void plan(const MemoryPlan& plan) override { plan_ = plan; }
  void epoch(const EpochFigures& figures) override {
    epochs_.push_back(figures);
    if (figures.epoch == stop_after_) {
      stop_.request_stop();
    }
  }
  void checkpoint(std::uint32_t next_epoch) override { last_checkpoint_ = next_epoch; }
  void changes(const ArticleChanges& changes) override { changes_ = changes; }
  void note(const std::string& text) override { notes_.push_back(text); }
  void progress(std::uint64_t, std::uint64_t) override {}

  MemoryPlan plan_;
  std::vector<EpochFigures> epochs_;
  std::uint32_t last_checkpoint_ = UINT32_MAX;  // the epoch it goes on with
  std::optional<ArticleChanges> changes_;
  std::vector<std::string> notes_;
  std::stop_source stop_;
  std::uint32_t stop_after_ = UINT32_MAX;
};

/// Everything an atlas holds, as plain values that compare.
struct AtlasContent {
  std::map<std::uint32_t, std::uint32_t> assignment;  // PMID to neuron
  std::map<std::uint32_t, oracle::Place> places;
  std::map<std::uint32_t, std::vector<std::uint16_t>> planes;
  store::AtlasCells cells;
  std::map<std::uint32_t, std::vector<std::uint32_t>> articles;
  std::string meta;
  bool operator==(const AtlasContent&) const = default;
};

/// All that the atlas in `directory` holds; throws as `store::Atlas` does.
AtlasContent read_content(const std::string& directory);

class TrainingTest : public testing::Test {
 protected:
  void SetUp() override {
    // Of a test with a parameter, a name behind a slash.
    std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(test.begin(), test.end(), '/', '-');
    directory_ = std::filesystem::temp_directory_path() /
                 ("somatlas-training-" + std::to_string(::getpid()) + "-" + test);
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] TrainingOptions options(const std::string& atlas) const {
    TrainingOptions result;
    result.store_directory = path("store");
    result.atlas_directory = path(atlas);
    result.device = device_;
    result.settings.side = 5;
    result.settings.holdout = 0.1;
    result.settings.min_descriptors = 2;
    result.settings.epoch_limit = 12;
    return result;
  }

  Device device_ = Device::cpu;
  std::filesystem::path directory_;
  std::mt19937_64 random_{test_seed()};
};

/// "cpu" or "cuda".
[[nodiscard]] std::string device_name(Device device);
inline void PrintTo(Device device, std::ostream* out) {
  *out << device_name(device);
}
/// Sets GTEST_SKIP with the reason where the device cannot be had.
void skip_without(Device device);

/// One test body for every device.
class DeviceTrainingTest : public TrainingTest, public testing::WithParamInterface<Device> {
 protected:
  void SetUp() override {
    TrainingTest::SetUp();
    device_ = GetParam();
    skip_without(device_);
  }
};

/// Both, the absent one too: its tests are skipped with the reason.
inline const auto all_devices = testing::Values(Device::cpu, Device::cuda);
/// Name of a parameter for INSTANTIATE_TEST_SUITE_P.
[[nodiscard]] inline std::string device_parameter(const testing::TestParamInfo<Device>& info) {
  return device_name(info.param);
}

}  // namespace somatlas::pipeline
