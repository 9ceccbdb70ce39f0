// What a shard must be, checked before it is written and after it is read.
// Always holds: the check reads every column once and changes nothing.
#include <string>

#include "store/shard.h"
#include "store/store_error.h"

namespace somatlas::store {
namespace {

constexpr std::uint32_t range_limit = 65'535;  // PMIDs have 32 bits
constexpr std::size_t name_limit = 65'535;

void require(bool holds, const char* breach) {
  if (!holds)
    throw StoreError(breach);
}

void check_columns(const Shard& shard) {
  const std::size_t rows = shard.rows();
  require(shard.range <= range_limit, "its range is past the last PMID");
  require(rows <= pmids_per_shard, "it has more rows than PMIDs");
  require(shard.version.size() == rows && shard.year.size() == rows && shard.state.size() == rows &&
              shard.key.size() == rows && shard.records.size() == rows &&
              shard.offsets.size() == rows + 1 && shard.major.size() == shard.descriptors.size(),
          "its columns are not of one length");
  require(shard.offsets.front() == 0 && shard.offsets.back() == shard.descriptors.size(),
          "its descriptors do not begin or end with its rows");
}

void check_keys(const Shard& shard) {
  std::vector<std::uint8_t> used(shard.keys.size());
  for (const std::uint32_t key : shard.key) {
    require(key < shard.keys.size(), "a row names a file that it does not list");
    used[key] = 1;
  }
  for (std::size_t k = 0; k < shard.keys.size(); ++k) {
    require(used[k] != 0, "it lists a file that no row names");
    require(k == 0 || shard.keys[k - 1] < shard.keys[k], "its files are not in order");
    require(shard.keys[k].name.size() <= name_limit, "a file's name is too long");
  }
}

void check_row(const Shard& shard, std::size_t r) {
  require(r == 0 || shard.low[r - 1] < shard.low[r], "its PMIDs are not in order");
  require(
      shard.offsets[r] <= shard.offsets[r + 1] && shard.offsets[r + 1] <= shard.descriptors.size(),
      "its rows overlap");
  const std::span<const DescriptorCode> row = shard.row(r);
  if (shard.state[r] == ArticleState::article) {
    require(!row.empty() && row.size() <= descriptors_per_article_limit,
            "an article has no or too many descriptors");
  } else {
    require(shard.state[r] <= ArticleState::deleted, "a row has an unknown state");
    require(row.empty() && shard.year[r] == 0,
            "a row that is no article has a year or descriptors");
  }
  require(shard.state[r] == ArticleState::deleted || shard.records[r] > 0,
          "a citation has no record");
  for (std::size_t i = 0; i < row.size(); ++i) {
    require(is_descriptor_code(row[i]), "a descriptor has no UI");
    require(i == 0 || row[i - 1] < row[i], "an article's descriptors are not in order");
  }
}

}  // namespace

void check_invariants(const Shard& shard) {
  check_columns(shard);
  check_keys(shard);
  for (std::size_t r = 0; r < shard.rows(); ++r)
    check_row(shard, r);
  for (const std::uint8_t major : shard.major)
    require(major <= 1, "a major-topic mark is neither 0 nor 1");
}

}  // namespace somatlas::store
