// Every check that a store can be put to: RocksDB's, each value's own, and the sums between them.
// Always holds: one breach does not hide the others; nothing is changed.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "store/descriptor_codec.h"
#include "store/rocks_store.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

constexpr std::size_t named_files_limit = 8;

/// "ingest these again into a new store: a.xml.gz, b.xml.gz and 3 more".
std::string remedy(const std::vector<std::string>& files) {
  if (files.empty())
    return "; no readable ledger entry names a file of it, so ingest all files again into a new "
           "store";
  std::string text = "; ingest again into a new store, or restore a copy: its rows came from ";
  for (std::size_t i = 0; i < std::min(files.size(), named_files_limit); ++i)
    text += (i == 0 ? "" : ", ") + files[i];
  if (files.size() > named_files_limit)
    text += " and " + std::to_string(files.size() - named_files_limit) + " more";
  return text;
}

}  // namespace

void RocksStore::verify(const std::function<void(const Fault&)>& fault) {
  rocks_->verify_files(fault);

  Ledger ledger;
  std::map<std::uint32_t, std::vector<std::string>> files_of;
  bool ledger_whole = true;
  const auto read_family = [&](const char* family, const auto& entry) {
    try {
      rocks_->for_each(family, entry);
      return true;
    } catch (const StoreError& error) {
      fault({directory() + ", " + family, error.what()});
      return false;
    }
  };
  ledger_whole =
      read_family(
          "ledger",
          [&](std::string_view key, std::string_view value) {
            try {
              LedgerRecord record = decode_ledger_value(key, value);
              for (const std::uint32_t range : record.ranges)
                files_of[range].push_back(record.entry.key.name);
              FileKey file = record.entry.key;
              ledger.emplace(std::move(file), std::move(record));
            } catch (const StoreError& error) {
              ledger_whole = false;
              const std::string name(key.substr(std::min<std::size_t>(key.size(), 12)));
              fault({directory() + ", ledger entry '" + name + "'",
                     std::string(error.what()) + "; ingest '" + name + "' again into a new store"});
            }
          }) &&
      ledger_whole;
  read_family("descriptors", [&](std::string_view key, std::string_view value) {
    try {
      (void)decode_descriptor_value(key, value);
    } catch (const StoreError& error) {
      fault({directory() + ", descriptor '" + std::string(key) + "'",
             std::string(error.what()) + "; give the descriptor table again with --mesh"});
    }
  });

  // The shards that are there, then those that should be: a missing one is a fault too.
  std::set<std::uint32_t> todo;
  for (const auto& [range, files] : files_of)
    todo.insert(range);
  std::uint64_t records = 0;
  bool shards_whole = true;
  const auto shard_fault = [&](std::uint32_t range, const std::string& what) {
    shards_whole = false;
    fault({directory() + ", " + range_name(range), what + remedy(files_of[range])});
  };
  const auto check_shard = [&](std::uint32_t range) {
    try {
      const std::optional<Shard> shard = read_shard(range);
      if (!shard)
        return shard_fault(range, "the shard is missing");
      for (const std::uint32_t count : shard->records)
        records += count;
      for (const FileKey& key : shard->keys) {
        const auto entry = ledger.find(key);
        if (ledger_whole && entry == ledger.end())
          shard_fault(range, "rows came from '" + key.name + "', which the ledger lacks");
        else if (entry != ledger.end() && !std::binary_search(entry->second.ranges.begin(),
                                                              entry->second.ranges.end(), range))
          shard_fault(range, "the ledger does not say that '" + key.name + "' has rows in it");
      }
    } catch (const StoreError& error) {
      shard_fault(range, error.what());
    }
  };
  std::uint64_t next = 0;
  while (next <= 0xFFFF'FFFF) {
    std::optional<std::uint32_t> found;
    try {
      const auto entry = rocks_->first_from("shards", range_key(static_cast<std::uint32_t>(next)));
      if (entry && entry->key.size() == 4)
        found = static_cast<std::uint32_t>(ByteReader(entry->key).big_endian(4));
      else if (entry)
        shard_fault(0, "a shard has an unusable key");
      if (!found)
        break;
    } catch (const StoreError&) {
      // Some shard from here on cannot be read: go on with the next one that the ledger knows.
      const auto known = todo.lower_bound(static_cast<std::uint32_t>(next));
      if (known == todo.end())
        break;
      found = *known;
    }
    if (!todo.contains(*found) && ledger_whole)
      shard_fault(*found, "the ledger does not know the shard");
    todo.erase(*found);
    check_shard(*found);
    next = std::uint64_t{*found} + 1;
  }
  for (const std::uint32_t range : std::set<std::uint32_t>(todo))
    check_shard(range);

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
                                         "; ingest all files again into a new store"});
}

}  // namespace somatlas::store
