// A changed length in the last records of the list of files: RocksDB would take it for a write that
// was cut off, and lose what was committed without a word.
#include "store/manifest_tail.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "store/store.h"
#include "tests/seed.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ManifestTail : public testing::Test {
 protected:
  ManifestTail() {
    Random random(test_seed());
    const auto store = Store::open(path_, Store::Access::create);
    for (std::uint64_t number = 1; number <= 3; ++number) {
      const PlainFile file = random_file(random, baseline_key(number), 3, 250);
      store->commit(deltas_of(file), entry_of(file));
    }
  }
  void SetUp() override {
    manifest_ = path_ + "/" + bytes_of(path_ + "/CURRENT");
    manifest_.pop_back();  // the end of the line
    whole_ = bytes_of(manifest_);
    for (std::size_t at = 0; at < whole_.size(); at += 7 + length(at))
      records_.push_back(at);
    ASSERT_LT(whole_.size(), 32'768U);  // one block, so the walk above is right
    ASSERT_GT(records_.size(), 3U);
  }
  [[nodiscard]] std::size_t length(std::size_t at) const {
    return static_cast<unsigned char>(whole_[at + 4]) +
           256U * static_cast<unsigned char>(whole_[at + 5]);
  }
  void write(const std::string& bytes) const {
    std::ofstream(manifest_, std::ios::binary | std::ios::trunc) << bytes;
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_ / "store";
  std::string manifest_;
  std::string whole_;
  std::vector<std::size_t> records_;
};

TEST_F(ManifestTail, EveryLengthThatPassesTheEndIsSeen) {
  EXPECT_FALSE(manifest_ends_in_changed_length(path_));
  std::size_t past = 0;
  for (const std::size_t at : records_)
    for (int bit = 0; bit < 16; ++bit) {
      const std::size_t changed = length(at) ^ (std::size_t{1} << bit);
      if (at + 7 + changed <= whole_.size())
        continue;  // its checksum does not fit then, which RocksDB sees
      std::string bytes = whole_;
      bytes[at + 4] = static_cast<char>(changed & 0xFF);
      bytes[at + 5] = static_cast<char>(changed >> 8);
      write(bytes);
      EXPECT_TRUE(manifest_ends_in_changed_length(path_)) << at << ", bit " << bit;
      ++past;
    }
  EXPECT_GT(past, records_.size());
}

TEST_F(ManifestTail, AWriteThatWasCutOffIsNone) {
  for (std::size_t size = records_[records_.size() - 2]; size < whole_.size(); ++size) {
    write(whole_.substr(0, size));
    EXPECT_FALSE(manifest_ends_in_changed_length(path_)) << size;
  }
}

TEST_F(ManifestTail, AnyNameInCurrentIsSaidToBeWrong) {
  for (const std::string name : {"", ".", "/", "..", "\r", "MANIFEST", "MANIFEST-", "/dev/zero"}) {
    std::ofstream(path_ + "/CURRENT", std::ios::trunc) << name << '\n';
    EXPECT_FALSE(manifest_ends_in_changed_length(path_)) << name;
    EXPECT_THROW((void)Store::open(path_, Store::Access::read), StoreError) << name;
  }
}

TEST_F(ManifestTail, AStoreThatWouldLoseItsLastFileIsDamaged) {
  std::string bytes = whole_;
  bytes[records_.back() + 5] ^= 0x40;
  write(bytes);
  for (const Store::Access access : {Store::Access::read, Store::Access::write}) {
    const std::string said = store_error_of([&] { (void)Store::open(path_, access); });
    EXPECT_NE(said.find("is damaged (a byte of the list of its files has changed)"),
              std::string::npos)
        << said;
  }
  write(whole_);
  EXPECT_EQ(Store::open(path_, Store::Access::read)->ledger().size(), 3U);
}

}  // namespace
}  // namespace somatlas::store
