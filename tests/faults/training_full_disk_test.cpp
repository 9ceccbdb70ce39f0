// A disk that fills up in the middle of a training: one sentence that says how to go on, and with
// room again that ends in the atlas that an undisturbed run makes.
#include <filesystem>
#include <iostream>

#include "tests/faults/training_fixture.h"
#include "tests/repetitions.h"
#include "tests/store/small_disk.h"

namespace somatlas::fault_test {
namespace {

namespace fs = std::filesystem;

TEST_F(TrainingFaultTest, AFullDiskIsSaidWithTheWayToGoOn) {
  std::uint64_t needed = 0;
  for (const auto& entry : fs::directory_iterator(scratch_ / "atlas")) {
    needed += entry.is_regular_file() ? entry.file_size() : 0;
  }
  const int sizes = repetitions(8, 60);
  int resumed = 0;
  for (int i = 0; i < sizes; ++i) {
    // The first is surely too small.
    const std::uint64_t share = 2 * needed / static_cast<std::uint64_t>(sizes);
    const std::uint64_t bytes =
        i == 0 ? 65'536 : 65'536 + share * static_cast<std::uint64_t>(i) + random_() % share;
    const std::string mount = scratch_ / ("disk" + std::to_string(i));
    store::SmallDisk disk(mount, bytes);
    if (!disk.mounted()) {
      GTEST_SKIP() << "this process may not mount a file system";
    }
    const std::string atlas = mount + "/atlas";
    const Ending ending = run_somatlas(train(atlas));
    if (ending.exit_code != 0) {
      const std::string sentence = ending.err.substr(ending.err.rfind("somatlas: "));
      EXPECT_EQ(ending.exit_code, 1);
      EXPECT_NE(sentence.find("the disk is full"), std::string::npos) << ending.err;
      EXPECT_TRUE(
          sentence.ends_with("free some space, then run the same command again, with --resume\n"))
          << sentence;
      std::cout << bytes << " bytes: " << sentence;
      ++resumed;
    }
    ASSERT_TRUE(disk.grow(std::uint64_t{64} << 20U));
    finish_training(atlas);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(resumed, 0);
}

}  // namespace
}  // namespace somatlas::fault_test
