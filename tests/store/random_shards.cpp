// Random rows, shards and files, and the merge rule on plain maps.
// Always holds: what is drawn keeps the invariants of store/shard.h.
#include "tests/store/random_shards.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace somatlas::store {

std::uint64_t draw(Random& random, std::uint64_t below) {
  return random() % below;
}

PlainRow random_row(Random& random, const FileKey& key) {
  PlainRow row;
  row.version = static_cast<std::uint16_t>(draw(random, 16) == 0 ? draw(random, 65'536)
                                                                 : 1 + draw(random, 3));
  row.key = key;
  row.records = static_cast<std::uint32_t>(1 + draw(random, 2));
  const std::uint64_t kind = draw(random, 8);
  if (kind == 0) {
    row.state = ArticleState::bare;
  } else if (kind == 1) {
    row.state = ArticleState::deleted;
    row.records = static_cast<std::uint32_t>(draw(random, 3));
  } else {
    row.year = static_cast<std::uint16_t>(draw(random, 10) == 0   ? 0
                                          : draw(random, 50) == 0 ? draw(random, 65'536)
                                                                  : 1960 + draw(random, 66));
    const std::uint64_t most = draw(random, 200) == 0 ? descriptors_per_article_limit : 20;
    std::set<DescriptorCode> codes;
    const std::uint64_t wanted = 1 + draw(random, most);
    while (codes.size() < wanted) {
      const std::uint64_t form = draw(random, 20);
      codes.insert(
          form == 0  ? descriptor_code(static_cast<std::uint32_t>(draw(random, 1'000'000'000)), 9)
          : form < 4 ? descriptor_code(static_cast<std::uint32_t>(65'000 + draw(random, 10'000)), 9)
                     : descriptor_code(static_cast<std::uint32_t>(draw(random, 30'000)), 6));
    }
    for (const DescriptorCode code : codes)
      row.descriptors.emplace_back(code, static_cast<std::uint8_t>(draw(random, 3) == 0));
  }
  return row;
}

PlainRows random_rows(Random& random, const std::vector<FileKey>& keys, std::size_t rows,
                      std::uint32_t span) {
  PlainRows out;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto low = static_cast<std::uint16_t>(draw(random, span));
    out[low] = random_row(random, keys[draw(random, keys.size())]);
  }
  return out;
}

Shard to_shard(std::uint32_t range, const PlainRows& rows) {
  Shard shard;
  shard.range = range;
  std::set<FileKey> keys;
  for (const auto& [low, row] : rows)
    keys.insert(row.key);
  shard.keys.assign(keys.begin(), keys.end());
  shard.offsets.push_back(0);
  for (const auto& [low, row] : rows) {
    shard.low.push_back(low);
    shard.version.push_back(row.version);
    shard.year.push_back(row.year);
    shard.state.push_back(row.state);
    shard.records.push_back(row.records);
    const auto place = std::lower_bound(shard.keys.begin(), shard.keys.end(), row.key);
    shard.key.push_back(static_cast<std::uint32_t>(place - shard.keys.begin()));
    for (const auto& [code, major] : row.descriptors) {
      shard.descriptors.push_back(code);
      shard.major.push_back(major);
    }
    shard.offsets.push_back(static_cast<std::uint32_t>(shard.descriptors.size()));
  }
  return shard;
}

PlainRows to_rows(const Shard& shard) {
  PlainRows rows;
  for (std::size_t r = 0; r < shard.rows(); ++r) {
    PlainRow& row = rows[shard.low[r]];
    row = {shard.version[r],         shard.year[r],    shard.state[r],
           shard.keys[shard.key[r]], shard.records[r], {}};
    for (std::uint32_t d = shard.offsets[r]; d < shard.offsets[r + 1]; ++d)
      row.descriptors.emplace_back(shard.descriptors[d], shard.major[d]);
  }
  return rows;
}

void merge_rows(PlainRows& older, const PlainRows& newer) {
  for (const auto& [low, row] : newer) {
    const auto found = older.find(low);
    if (found == older.end()) {
      older[low] = row;
      continue;
    }
    const std::uint32_t records = found->second.records + row.records;
    if (std::tie(row.version, row.key) >= std::tie(found->second.version, found->second.key))
      found->second = row;
    found->second.records = records;
  }
}

FileKey baseline_key(std::uint64_t number) {
  std::string digits = std::to_string(number);
  return {26, number,
          "pubmed26n" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits +
              ".xml.gz"};
}

PlainFile random_file(Random& random, const FileKey& key, std::uint32_t ranges, std::size_t rows) {
  PlainFile file;
  file.key = key;
  for (char& c : file.md5)
    c = "0123456789abcdef"[draw(random, 16)];
  for (std::uint32_t range = 0; range < ranges; ++range)
    if (draw(random, 4) != 0)
      file.ranges[range] = random_rows(random, {key}, rows, static_cast<std::uint32_t>(4 * rows));
  return file;
}

std::vector<Shard> deltas_of(const PlainFile& file) {
  std::vector<Shard> deltas;
  for (const auto& [range, rows] : file.ranges)
    deltas.push_back(to_shard(range, rows));
  return deltas;
}

LedgerEntry entry_of(const PlainFile& file) {
  LedgerEntry entry;
  entry.key = file.key;
  entry.md5 = file.md5;
  entry.file_bytes = 1'000;
  entry.xml_bytes = 10'000;
  entry.left_out = {2, 1, 0};
  entry.citations = 3;
  entry.taken_at = 1'700'000'000;
  for (const auto& [range, rows] : file.ranges)
    for (const auto& [low, row] : rows) {
      entry.citations += row.records;
      entry.with_descriptors += row.state == ArticleState::article ? 1 : 0;
      entry.deletions += row.state == ArticleState::deleted ? 1 : 0;
    }
  return entry;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "somatlas-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("cannot make a temporary directory");
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace somatlas::store
