// The article store: one RocksDB directory with shards, ledger, descriptors and meta.
// Always holds: a file's articles and its ledger entry appear in one atomic step; nothing
// acknowledged lives only in RocksDB's log (every commit ingests SST files of unique names); what
// is read was checked against its checksums.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/descriptor_code.h"
#include "store/entry_words.h"
#include "store/file_key.h"
#include "store/mesh_changes.h"
#include "store/shard.h"

namespace somatlas::store {

/// Raised whenever the layout of the store's directory changes. A store of another number is
/// refused. Its column families:
///
///   shards       range, 4 bytes big-endian -> a shard (store/shard.h)
///   ledger       year, number and name of a file -> its entry (store/ledger_codec.h)
///   descriptors  UI -> name and tree numbers (store/descriptor_codec.h)
///   meta         "format" -> "store " and this number; "id" -> 32 hexadecimal digits;
///                "digest/ledger", "digest/descriptors" -> sealed, the digest of all entries of
///                that family (store/frame.h; where there is none, they have none);
///                "mesh_changes" -> the lists of changed descriptors (store/mesh_changes.h; none
///                where none was ever given); "entry_words" -> those of the table
///                (store/entry_words.h; none where no table gave any)
///
/// RocksDB's own family "default" stays empty.
inline constexpr std::uint32_t store_format = 3;

/// One source file that was taken.
struct LedgerEntry {
  FileKey key;
  std::uint64_t file_bytes = 0;
  std::string md5;  // of the file as it was, 32 hexadecimal digits
  std::uint64_t xml_bytes = 0;
  std::uint64_t citations = 0;  // records read, those left out included
  std::uint64_t with_descriptors = 0;
  std::uint64_t deletions = 0;
  std::uint64_t books = 0;
  std::array<std::uint64_t, 3>
      left_out{};  // by reason: no PMID, unusable PMID or version, too many descriptors
  std::uint64_t unknown_headings = 0;
  std::uint64_t earlier_citations = 0;  // of this file's earlier texts, where it was taken again
  std::uint64_t earlier_left_out = 0;
  std::int64_t taken_at = 0;  // seconds since 1970, UTC; not part of the state id
  friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

struct DescriptorEntry {
  DescriptorCode code = 0;
  std::string name;
  std::vector<std::string> tree_numbers;
  friend bool operator==(const DescriptorEntry&, const DescriptorEntry&) = default;
};

/// A fault that verify() found: where, and what to ingest again.
struct Fault {
  std::string where;
  std::string what;
};

class Store {
 public:
  enum class Access : std::uint8_t { read, write, create, fill };

  /// read: needs no write permission, sees the state at opening; write: one process at a time;
  /// create: makes the directory where there is none; fill: and takes it away with the object where
  /// nothing was put into it. Throws StoreError.
  [[nodiscard]] static std::unique_ptr<Store> open(const std::string& directory, Access access);
  virtual ~Store() = default;

  [[nodiscard]] virtual const std::string& directory() const = 0;
  /// Random, made at creation: tells two stores apart. Hexadecimal.
  [[nodiscard]] virtual std::string id() const = 0;
  /// XXH3-128 over the ledger (times left out) and the view: the same files and changes of
  /// descriptors give the same state, in whatever order they came. Hexadecimal.
  [[nodiscard]] virtual std::string state_id() = 0;

  /// Takes one file: its deltas (one a range, ascending) and its ledger entry, atomically and
  /// durably.
  virtual void commit(std::span<const EncodedDelta> deltas, const LedgerEntry& entry) = 0;
  /// The same, encoding them first.
  void commit(std::span<const Shard> deltas, const LedgerEntry& entry);
  /// Adds or replaces descriptors by code, and entry words of those that words names, atomically
  /// and durably.
  virtual void put_descriptors(std::span<const DescriptorEntry> descriptors,
                               std::span<const EntryWords> words) = 0;
  /// The same; all entry words stay.
  void put_descriptors(std::span<const DescriptorEntry> descriptors);
  /// Replaces the lists of changed descriptors, atomically and durably; shards and table stay as
  /// they are filed. Throws StoreError where the changes go in a circle.
  virtual void put_mesh_changes(std::span<const MeshChangeList> lists) = 0;

  /// Entries in key order.
  [[nodiscard]] virtual std::vector<LedgerEntry> ledger() = 0;
  [[nodiscard]] virtual std::optional<LedgerEntry> ledger_entry(const FileKey& key) = 0;
  /// What the lists of changed descriptors make of what was filed.
  [[nodiscard]] virtual std::shared_ptr<const MeshView> mesh_view() = 0;
  /// The table in UI order, as it was put.
  [[nodiscard]] virtual std::vector<DescriptorEntry> descriptors_as_filed() = 0;
  /// The table through the view.
  [[nodiscard]] std::vector<DescriptorEntry> descriptors();
  /// By ascending code, as they were put; none in a store whose tables gave none.
  [[nodiscard]] virtual std::vector<EntryWords> entry_words_as_filed() = 0;
  /// The same through the view.
  [[nodiscard]] std::vector<EntryWords> entry_words();
  /// Ranges that have a shard, ascending.
  [[nodiscard]] virtual std::vector<std::uint32_t> ranges() = 0;
  /// The shard of a range as its files gave it; nothing where there is none. Safe from several
  /// threads.
  [[nodiscard]] virtual std::optional<Shard> shard_as_filed(std::uint32_t range) = 0;
  /// The shard through the view, which is what all use is made of.
  [[nodiscard]] std::optional<Shard> shard(std::uint32_t range);

  /// Merges what is layered and gives space back.
  virtual void compact() = 0;
  /// Bytes of the SST files, by column family.
  [[nodiscard]] virtual std::map<std::string, std::uint64_t> disk_parts() = 0;
  /// The same in all.
  [[nodiscard]] std::uint64_t disk_bytes();
  /// Every checksum and every invariant; calls fault for each breach and goes on.
  virtual void verify(const std::function<void(const Fault&)>& fault) = 0;
};

}  // namespace somatlas::store
