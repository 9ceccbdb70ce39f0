// Random rows, shards and files for the tests, and the merge rule said again for plain maps.
// Always holds: what is drawn from one generator is the same in every process.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "store/shard.h"
#include "store/store.h"
#include "store/store_error.h"
#include "tests/seed.h"

namespace somatlas::store {

using Random = std::mt19937_64;

/// A number in [0, below).
[[nodiscard]] std::uint64_t draw(Random& random, std::uint64_t below);

/// One row as a plain record.
struct PlainRow {
  std::uint16_t version = 1;
  std::uint16_t year = 0;
  ArticleState state = ArticleState::article;
  FileKey key;
  std::uint32_t records = 1;
  std::vector<std::pair<DescriptorCode, std::uint8_t>> descriptors;  // ascending, with major marks
  friend bool operator==(const PlainRow&, const PlainRow&) = default;
};
using PlainRows = std::map<std::uint16_t, PlainRow>;  // by PMID % 65,536

[[nodiscard]] PlainRow random_row(Random& random, const FileKey& key);
[[nodiscard]] PlainRows random_rows(Random& random, const std::vector<FileKey>& keys,
                                    std::size_t rows, std::uint32_t span);
[[nodiscard]] Shard to_shard(std::uint32_t range, const PlainRows& rows);
[[nodiscard]] PlainRows to_rows(const Shard& shard);

/// The merge rule said again, for a map: the later argument is the newer side.
void merge_rows(PlainRows& older, const PlainRows& newer);

[[nodiscard]] FileKey baseline_key(std::uint64_t number);

/// What one file brings: its deltas by range, and a ledger entry that counts them.
struct PlainFile {
  FileKey key;
  std::map<std::uint32_t, PlainRows> ranges;
  std::string md5 = std::string(32, '0');
};
[[nodiscard]] PlainFile random_file(Random& random, const FileKey& key, std::uint32_t ranges,
                                    std::size_t rows);
[[nodiscard]] std::vector<Shard> deltas_of(const PlainFile& file);
[[nodiscard]] LedgerEntry entry_of(const PlainFile& file);

/// A directory of its own that goes away with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The what() of the StoreError that the call throws; fails the test where it throws none.
template <typename Call>
[[nodiscard]] std::string store_error_of(Call&& call) {
  try {
    call();
  } catch (const StoreError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no StoreError";
  return {};
}

}  // namespace somatlas::store
