// A disk that fills up in the middle of commits: the file is refused in words, what was
// acknowledged stays, and with space again the same work goes on.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "store/store.h"
#include "tests/store/random_shards.h"
#include "tests/store/small_disk.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;

TEST(StoreFullDisk, KeepsWhatWasAcknowledgedAndGoesOn) {
  const std::uint64_t seed = test_seed();
  int refused = 0;
  for (const std::uint64_t kibibytes : {64, 128, 256, 512, 1'024, 1'536}) {
    const TemporaryDirectory directory;
    SmallDisk disk(directory / "disk", kibibytes << 10);
    if (!disk.mounted())
      GTEST_SKIP() << "this process may not mount a file system";
    const std::string path = directory / "disk/store";
    Random random(seed + kibibytes);
    std::map<std::uint32_t, PlainRows> plain;
    std::vector<LedgerEntry> taken;
    const auto check = [&] {
      const auto store = Store::open(path, Store::Access::read);
      ASSERT_EQ(store->ledger(), taken);
      for (const auto& [range, rows] : plain)
        ASSERT_EQ(to_rows(store->shard(range).value()), rows);
      store->verify([](const Fault& fault) { ADD_FAILURE() << fault.where << ": " << fault.what; });
    };
    std::string message;
    std::uint64_t number = 0;
    const auto commit_until_refused = [&](std::uint64_t last) {
      const auto store = Store::open(path, Store::Access::create);
      while (number < last) {
        const PlainFile file = random_file(random, baseline_key(++number), 4, 400);
        store->commit(deltas_of(file), entry_of(file));
        taken.push_back(entry_of(file));
        for (const auto& [range, rows] : file.ranges)
          merge_rows(plain[range], rows);
      }
    };
    try {
      commit_until_refused(1'000);
      FAIL() << "the disk never filled up";
    } catch (const StoreError& error) {
      message = error.what();
      ++refused;
    }
    EXPECT_NE(message.find("disk is full"), std::string::npos) << message;
    if (!taken.empty()) {
      ASSERT_NO_FATAL_FAILURE(check());
    }
    ASSERT_TRUE(disk.grow(std::uint64_t{64} << 20));
    ASSERT_NO_THROW(commit_until_refused(number + 3));
    ASSERT_NO_FATAL_FAILURE(check());
    EXPECT_TRUE(fs::is_empty(path + "/incoming"));
    EXPECT_EQ(std::distance(fs::directory_iterator(directory / "disk"), {}), 1);
    std::cout << kibibytes << " KiB: " << taken.size() - 3 << " files, then: " << message << "\n";
  }
  EXPECT_EQ(refused, 6);
}

}  // namespace
}  // namespace somatlas::store
