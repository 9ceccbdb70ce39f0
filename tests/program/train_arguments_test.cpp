// The command line of train: what contradicts itself is refused before anything is touched, and a
// store with nothing to train on is refused by name.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

struct Wrong {
  std::vector<std::string> options;
  std::string names;  // what the sentence speaks of
};

TEST(TrainArguments, WrongOnesAreRefusedBeforeAnythingIsTouched) {
  const ScratchDirectory scratch;
  const std::vector<Wrong> all{
      {{"--side", "0"}, "--side"},
      {{"--side", "-1"}, "--side"},
      {{"--side", "32769"}, "--side"},
      {{"--side", "wide"}, "--side"},
      {{"--epochs", "0"}, "--epochs"},
      {{"--threads", "0"}, "--threads"},
      {{"--tile-rows", "0"}, "--tile-rows"},
      {{"--min-descriptors", "0"}, "--min-descriptors"},
      {{"--holdout", "1"}, "--holdout"},
      {{"--holdout", "-0.1"}, "--holdout"},
      {{"--seed", "-1"}, "--seed"},
      {{"--seed", "18446744073709551616"}, "--seed"},
      {{"--init", "zeros"}, "--init"},
      {{"--device", "tpu"}, "--device"},
      {{"--host-memory", "8 parsecs"}, "--host-memory"},
      {{"--device-memory", "-1GiB"}, "--device-memory"},
      {{"--host-memory", "0"}, "--host-memory"},
      {{"--host-memory", "00"}, "--host-memory"},
      {{"--host-memory", "0GiB"}, "--host-memory"},
      {{"--device-memory", "0"}, "--device-memory"},
      {{"--device-memory", "0 KB"}, "--device-memory"},
      {{"--device-cache", "some"}, "--device-cache"},
      {{"--device-cache", "-1"}, "--device-cache"},
      {{"--device-cache", "2 parsecs"}, "--device-cache"},
      {{"--from", "other", "--side", "8"}, "--side"},
      {{"--from", "other", "--seed", "2"}, "--seed"},
      {{"--from", "other", "--init", "random"}, "--init"},
  };
  for (const Wrong& wrong : all) {
    std::vector<std::string> arguments{"train", "--store", scratch / "store", "--atlas",
                                       scratch / "atlas"};
    arguments.insert(arguments.end(), wrong.options.begin(), wrong.options.end());
    const Ending ending = run_somatlas(arguments);
    EXPECT_EQ(ending.exit_code, 2) << wrong.names;
    EXPECT_EQ(ending.out, "") << wrong.names;
    EXPECT_TRUE(ending.err.starts_with("somatlas: ")) << ending.err;
    EXPECT_NE(ending.err.find(wrong.names), std::string::npos) << ending.err;
  }
  EXPECT_EQ(run_somatlas({"train", "--store", scratch / "store"}).exit_code, 2);
  EXPECT_EQ(run_somatlas({"train", "--atlas", scratch / "atlas"}).exit_code, 2);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST(TrainArguments, ThePlanIsATableOfWhatIsNeededAndThere) {
  const ScratchDirectory scratch;
  ASSERT_EQ(
      run_somatlas({"ingest", "--store", scratch / "store", data("cases/id_forms.xml")}).exit_code,
      0);
  const auto plan = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"train", "--store", scratch / "store", "--atlas", scratch / "atlas", "--device",
                 "cpu", "--min-descriptors", "1", "--side", "7", "--holdout", "0", "--plan"});
    const Ending ending = run_somatlas(more);
    EXPECT_EQ(ending.exit_code, 0);
    EXPECT_EQ(ending.err, "");
    return ending.out;
  };
  const std::string free = plan({});
  for (const char* text :
       {"side                      7\n", "device                    cpu\n",
        "host memory               needs ", ", available ", "  codebook and bounds     ",
        "  tiles in flight         ", "  places of articles      ",
        "tiles that stay           1 of 1\n", "fits  ", "largest side that fits    "}) {
    EXPECT_NE(free.find(text), std::string::npos) << text << " in\n" << free;
  }
  EXPECT_EQ(free.find("device memory"), std::string::npos) << free;  // the CPU has none of its own
  EXPECT_NE(plan({"--device-cache", "0"}).find("tiles that stay           0 of 1\n"),
            std::string::npos);
  const auto json = nlohmann::json::parse(plan({"--json"}));
  std::uint64_t host_bytes = 0;
  for (const auto& part : json.at("parts")) {
    host_bytes += part.at("host_bytes").get<std::uint64_t>();
    EXPECT_EQ(part.at("device_bytes"), 0);
  }
  EXPECT_EQ(json.at("host_bytes"), host_bytes);
  EXPECT_EQ(json.at("tiles_that_stay"), 1);
  const std::string capped = plan({"--host-memory", "3GiB"});
  EXPECT_NE(capped.find(", cap 3.0 GiB\n"), std::string::npos) << capped;
  const std::string small = plan({"--host-memory", "100"});
  EXPECT_NE(small.find("fits                      no\nlargest side that fits    none\n"),
            std::string::npos)
      << small;
  EXPECT_FALSE(std::filesystem::exists(scratch / "atlas"));
}

TEST(TrainArguments, AnEmptyOrMissingStoreIsRefused) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  write_file(scratch / "table.tsv", "ui\tname\ttree_numbers\nD006801\tHumans\tB01.050\n");
  ASSERT_EQ(run_somatlas({"ingest", "--store", store, "--mesh", scratch / "table.tsv"}).exit_code,
            0);
  for (const std::string& name : {store, scratch / "none"}) {
    const Ending ending =
        run_somatlas({"train", "--store", name, "--atlas", scratch / "atlas", "--side", "4"});
    EXPECT_EQ(ending.exit_code, 1) << name;
    EXPECT_EQ(ending.out, "") << name;
    EXPECT_NE(ending.err.find(name), std::string::npos) << ending.err;
    EXPECT_FALSE(std::filesystem::exists(scratch / "atlas"));
  }
}

}  // namespace
}  // namespace somatlas::program_test
