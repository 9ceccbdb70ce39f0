// The merge of two shards of one range: a maximum per PMID, in one pass over both.
// Always holds: the result keeps every invariant if both sides do; associative whatever the sides.
#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "store/shard.h"
#include "store/store_error.h"

namespace somatlas::store {
namespace {

/// Both sides' keys in one ascending list, and where each side's keys are in it.
struct JoinedKeys {
  std::vector<FileKey> keys;
  std::vector<std::uint32_t> of_older;
  std::vector<std::uint32_t> of_newer;
};

JoinedKeys join_keys(const std::vector<FileKey>& older, const std::vector<FileKey>& newer) {
  JoinedKeys joined;
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < older.size() || b < newer.size()) {
    const bool take_a = b == newer.size() || (a < older.size() && older[a] <= newer[b]);
    const bool take_b = a == older.size() || (b < newer.size() && newer[b] <= older[a]);
    const auto place = static_cast<std::uint32_t>(joined.keys.size());
    joined.keys.push_back(take_a ? older[a] : newer[b]);
    if (take_a) {
      joined.of_older.push_back(place);
      ++a;
    }
    if (take_b) {
      joined.of_newer.push_back(place);
      ++b;
    }
  }
  return joined;
}

/// A sum that stays at the largest number: still associative.
std::uint32_t add_records(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t sum = std::uint64_t{a} + b;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
}

void append_row(Shard& out, const Shard& from, std::size_t r, std::uint32_t key,
                std::uint32_t records) {
  out.low.push_back(from.low[r]);
  out.version.push_back(from.version[r]);
  out.year.push_back(from.year[r]);
  out.state.push_back(from.state[r]);
  out.key.push_back(key);
  out.records.push_back(records);
  const auto begin = static_cast<std::ptrdiff_t>(from.offsets[r]);
  const auto end = static_cast<std::ptrdiff_t>(from.offsets[r + 1]);
  out.descriptors.insert(out.descriptors.end(), from.descriptors.begin() + begin,
                         from.descriptors.begin() + end);
  out.major.insert(out.major.end(), from.major.begin() + begin, from.major.begin() + end);
  out.offsets.push_back(static_cast<std::uint32_t>(out.descriptors.size()));
}

void reserve_rows(Shard& out, std::size_t rows, std::size_t descriptors) {
  out.low.reserve(rows);
  out.version.reserve(rows);
  out.year.reserve(rows);
  out.state.reserve(rows);
  out.key.reserve(rows);
  out.records.reserve(rows);
  out.offsets.reserve(rows + 1);
  out.descriptors.reserve(descriptors);
  out.major.reserve(descriptors);
}

/// Takes out of the list the keys that no row names any more.
void drop_unused_keys(Shard& shard) {
  constexpr std::uint32_t unused = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> place(shard.keys.size(), unused);
  for (const std::uint32_t key : shard.key)
    place[key] = 0;
  std::vector<FileKey> kept;
  for (std::size_t k = 0; k < shard.keys.size(); ++k) {
    if (place[k] == unused)
      continue;
    place[k] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(std::move(shard.keys[k]));
  }
  for (std::uint32_t& key : shard.key)
    key = place[key];
  shard.keys = std::move(kept);
}

}  // namespace

Shard merge(const Shard& older, const Shard& newer) {
  if (older.range != newer.range)
    throw StoreError("shards of the ranges " + std::to_string(older.range) + " and " +
                     std::to_string(newer.range) + " cannot be merged");
  JoinedKeys joined = join_keys(older.keys, newer.keys);
  Shard out;
  out.range = older.range;
  reserve_rows(out, std::min<std::size_t>(older.rows() + newer.rows(), pmids_per_shard),
               older.descriptors.size() + newer.descriptors.size());
  out.offsets.push_back(0);
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < older.rows() || b < newer.rows()) {
    if (b == newer.rows() || (a < older.rows() && older.low[a] < newer.low[b])) {
      append_row(out, older, a, joined.of_older[older.key[a]], older.records[a]);
      ++a;
    } else if (a == older.rows() || newer.low[b] < older.low[a]) {
      append_row(out, newer, b, joined.of_newer[newer.key[b]], newer.records[b]);
      ++b;
    } else {
      const std::uint32_t key_a = joined.of_older[older.key[a]];
      const std::uint32_t key_b = joined.of_newer[newer.key[b]];
      const std::uint32_t records = add_records(older.records[a], newer.records[b]);
      if (std::tie(older.version[a], key_a) > std::tie(newer.version[b], key_b))
        append_row(out, older, a, key_a, records);
      else
        append_row(out, newer, b, key_b, records);
      ++a;
      ++b;
    }
  }
  out.keys = std::move(joined.keys);
  drop_unused_keys(out);
  return out;
}

Shard merge_all(std::vector<Shard> oldest_first) {
  if (oldest_first.empty())
    throw StoreError("there is nothing to merge");
  while (oldest_first.size() > 1) {
    std::vector<Shard> merged;
    merged.reserve((oldest_first.size() + 1) / 2);
    for (std::size_t i = 0; i + 1 < oldest_first.size(); i += 2)
      merged.push_back(merge(oldest_first[i], oldest_first[i + 1]));
    if (oldest_first.size() % 2 != 0)
      merged.push_back(std::move(oldest_first.back()));
    oldest_first = std::move(merged);
  }
  return std::move(oldest_first.front());
}

}  // namespace somatlas::store
