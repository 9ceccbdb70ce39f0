// Every check that a store can be put to: RocksDB's, each value's own, and the sums between them.
// Always holds: one breach does not hide the others; nothing is changed.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/descriptor_codec.h"
#include "store/frame.h"
#include "store/rocks_store.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

constexpr std::size_t named_files_limit = 8;

/// What to do where these files are concerned; none: all of them.
std::string remedy(const std::vector<std::string>& files) {
  if (files.empty())
    return "; ingest all files again into a new store, or restore a copy";
  std::string text = "; ingest again into a new store, or restore a copy: its rows came from ";
  for (std::size_t i = 0; i < std::min(files.size(), named_files_limit); ++i)
    text += (i == 0 ? "" : ", ") + files[i];
  if (files.size() > named_files_limit)
    text += " and " + std::to_string(files.size() - named_files_limit) + " more";
  return text;
}

Shard decode_under(std::string_view key, const std::string& value) {
  Shard shard = decode(value);
  if (range_key(shard.range) != key)
    throw StoreError("it is the shard of another range");
  return shard;
}

}  // namespace

void RocksStore::verify(const std::function<void(const Fault&)>& fault) {
  rocks_->verify_files(fault);

  // The small families. A scan may skip an unreadable entry, so each is held against its digest.
  Ledger ledger;
  std::map<std::uint32_t, std::vector<std::string>> files_of;
  bool ledger_whole = true;
  const auto check_family = [&](const char* family, const char* digest_key, const auto& entry) {
    std::map<std::string, std::string> values;
    try {
      rocks_->for_each(family, [&](std::string_view key, std::string_view value) {
        values.emplace(key, value);
        entry(key, value);
      });
      check_digest(digest_key, digest_of(values));
      return true;
    } catch (const StoreError& error) {
      fault({directory() + ", " + family, error.what() + remedy({})});
      return false;
    }
  };
  const auto ledger_entry = [&](std::string_view key, std::string_view value) {
    try {
      LedgerRecord record = decode_ledger_value(key, value);
      for (const std::uint32_t range : record.ranges)
        files_of[range].push_back(record.entry.key.name);
      FileKey file = record.entry.key;
      ledger.emplace(std::move(file), std::move(record));
    } catch (const StoreError& error) {
      ledger_whole = false;
      const std::string name(key.substr(std::min<std::size_t>(key.size(), 12)));
      fault({directory() + ", ledger entry '" + name + "'", error.what() + remedy({name})});
    }
  };
  if (!check_family("ledger", ledger_digest_key, ledger_entry))
    ledger_whole = false;
  check_family(
      "descriptors", descriptors_digest_key, [&](std::string_view key, std::string_view value) {
        try {
          (void)decode_descriptor_value(key, value);
        } catch (const StoreError& error) {
          fault(
              {directory() + ", descriptor '" + std::string(key) + "'", error.what() + remedy({})});
        }
      });

  try {
    (void)read_mesh_changes();
  } catch (const StoreError& error) {
    fault({directory() + ", changes of descriptors", error.what() + remedy({})});
  }
  try {
    (void)read_entry_words();
  } catch (const StoreError& error) {
    fault({directory() + ", entry words", error.what() + remedy({})});
  }

  std::uint64_t records = 0;
  bool shards_whole = true;
  std::set<std::string> unknown_files;
  const auto shard_fault = [&](std::string_view key, const std::string& what) {
    shards_whole = false;
    if (key.size() != 4)
      return fault({directory() + ", shards", what + remedy({})});
    const auto range = static_cast<std::uint32_t>(ByteReader(key).big_endian(4));
    fault({directory() + ", " + range_name(range), what + remedy(files_of[range])});
  };
  const auto check_shard = [&](std::string_view key, const std::string& value) {
    try {
      const Shard shard = decode_under(key, value);
      for (const std::uint32_t count : shard.records)
        records += count;
      for (const FileKey& file : shard.keys) {
        const auto entry = ledger.find(file);
        if (entry == ledger.end())
          unknown_files.insert(file.name);
        else if (!std::binary_search(entry->second.ranges.begin(), entry->second.ranges.end(),
                                     shard.range))
          shard_fault(key, "the ledger does not say that '" + file.name + "' has rows in it");
      }
    } catch (const StoreError& error) {
      shard_fault(key, error.what());
    }
  };
  std::vector<std::string> expected_keys;
  for (const auto& [range, files] : files_of)
    expected_keys.push_back(range_key(range));
  rocks_->scan("shards", "", expected_keys, check_shard, shard_fault);
  if (!unknown_files.empty())
    fault({directory() + ", ledger", "it lacks files that shards have rows of" +
                                         remedy({unknown_files.begin(), unknown_files.end()})});

  std::uint64_t expected = 0;
  for (const auto& [key, record] : ledger) {
    const LedgerEntry& entry = record.entry;
    expected += entry.citations + entry.earlier_citations - entry.earlier_left_out;
    for (const std::uint64_t count : entry.left_out)
      expected -= count;
  }
  if (ledger_whole && shards_whole && records != expected)
    fault({directory() + ", ledger", "the files brought " + std::to_string(expected) +
                                         " records and the shards hold " + std::to_string(records) +
                                         remedy({})});
}

}  // namespace somatlas::store
