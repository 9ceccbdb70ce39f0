// Trainings stay within the memory that their plan says, whether tiles stream or stay. The longer
// run: a store larger than that memory. No sanitizer's build has these tests: what it adds to a
// program's memory is in no plan.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/program/running_program.h"
#include "tests/repetitions.h"

namespace somatlas::program_test {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

std::uint64_t bytes_below(const std::string& directory) {
  std::uint64_t sum = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    sum += entry.is_regular_file() ? entry.file_size() : 0;
  }
  return sum;
}

TEST(TrainingMemory, StaysWithinThePlan) {
  constexpr int many = 30'000'000;
  const int articles = repetitions(300'000, many);
  const ScratchDirectory scratch;
  ASSERT_EQ(run_somatlas({"synth", "--articles", std::to_string(articles), "--seed", "5", "--store",
                          scratch / "store"})
                .exit_code,
            0);
  std::vector<std::string> words{"train",
                                 "--store",
                                 scratch / "store",
                                 "--atlas",
                                 scratch / "atlas",
                                 "--side",
                                 "8",
                                 "--device",
                                 "cpu",
                                 "--threads",
                                 "2",
                                 "--epochs",
                                 "2",
                                 "--overwrite",
                                 "--json"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto plan_of = [&](const std::vector<std::string>& all) {
    auto planned = all;
    planned.push_back("--plan");
    return nlohmann::json::parse(run_somatlas(planned).out);
  };
  const auto streaming = plan_of(with({"--device-cache", "0"}));
  const auto least = streaming.at("host_bytes").get<std::uint64_t>();
  std::string meta;
  for (const std::uint64_t cap : {least, least + 8 * mebibyte, 2 * least}) {
    const auto capped = with({"--host-memory", std::to_string(cap)});
    const auto plan = plan_of(capped);
    EXPECT_EQ(plan.at("tiles_that_stay") == 0, cap == least);
    if (cap == 2 * least || plan.at("tiles") > 2) {  // the second cap leaves room for two
      EXPECT_EQ(plan.at("tiles_that_stay") == plan.at("tiles"), cap == 2 * least);
    }
    EXPECT_LE(plan.at("host_bytes"), cap);
    Surroundings surroundings;
    surroundings.limit = std::chrono::seconds(3'600);
    const Ending ending = run_somatlas(capped, surroundings);
    ASSERT_EQ(ending.exit_code, 0) << ending.err;
    EXPECT_LE(ending.peak_bytes, cap);
    std::cout << articles << " articles, a store of " << bytes_below(scratch / "store") / mebibyte
              << " MiB, a cap of " << cap / mebibyte << ": " << plan.at("tiles_that_stay") << " of "
              << plan.at("tiles") << " tiles stay, " << ending.peak_bytes / mebibyte
              << " MiB at most\n";
    auto json = nlohmann::json::parse(ending.out);
    EXPECT_GE(json.at("seconds").at("search"), json.at("seconds").at("of_that_waiting"));
    json.erase("seconds");
    EXPECT_TRUE(meta.empty() || meta == json.dump());
    meta = json.dump();
  }
  if (articles == many) {
    EXPECT_LT(least, bytes_below(scratch / "store"));
  }
}

}  // namespace
}  // namespace somatlas::program_test
