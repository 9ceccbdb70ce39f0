// The store over RocksDB; made by Store::open.
// Always holds: the ledger names every range that has a shard, so a shard that went missing is
// noticed; the ledger in memory is the one on disk.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "store/ledger_codec.h"
#include "store/rocks_directory.h"
#include "store/store.h"

namespace somatlas::store {

class RocksStore : public Store {
 public:
  explicit RocksStore(std::unique_ptr<RocksDirectory> rocks) : rocks_(std::move(rocks)) {}

  static RocksLayout layout();

  [[nodiscard]] const std::string& directory() const override { return rocks_->directory(); }
  [[nodiscard]] std::string id() const override;
  [[nodiscard]] std::string state_id() override;
  void commit(std::span<const EncodedDelta> deltas, const LedgerEntry& entry) override;
  void put_descriptors(std::span<const DescriptorEntry> descriptors,
                       std::span<const EntryWords> words) override;
  void put_mesh_changes(std::span<const MeshChangeList> lists) override;
  [[nodiscard]] std::vector<LedgerEntry> ledger() override;
  [[nodiscard]] std::optional<LedgerEntry> ledger_entry(const FileKey& key) override;
  [[nodiscard]] std::shared_ptr<const MeshView> mesh_view() override;
  [[nodiscard]] std::vector<DescriptorEntry> descriptors_as_filed() override;
  [[nodiscard]] std::vector<EntryWords> entry_words_as_filed() override;
  [[nodiscard]] std::vector<std::uint32_t> ranges() override;
  [[nodiscard]] std::optional<Shard> shard_as_filed(std::uint32_t range) override;
  void compact() override { rocks_->compact(); }
  [[nodiscard]] std::map<std::string, std::uint64_t> disk_parts() override {
    return rocks_->disk_parts();
  }
  void verify(const std::function<void(const Fault&)>& fault) override;

 private:
  /// The ledger and its ranges, read once. Call with mutex_ held.
  const Ledger& loaded();
  /// The lists of changed descriptors, those of none where there was never one; faults come without
  /// a hint what to do.
  [[nodiscard]] MeshView read_mesh_changes() const;
  /// Those of the table; faults come as those of changes do.
  [[nodiscard]] std::vector<EntryWords> read_entry_words() const;
  /// Throws StoreError where a digest is not the one in meta.
  void check_digest(const char* key, const std::string& digest) const;
  /// Reads and checks a shard; its faults come without a hint what to do.
  [[nodiscard]] std::optional<Shard> read_shard(std::uint32_t range);
  [[nodiscard]] bool expects(std::uint32_t range);

  std::unique_ptr<RocksDirectory> rocks_;
  std::mutex mutex_;
  std::optional<Ledger> ledger_;
  std::set<std::uint32_t> ranges_;
  std::shared_ptr<const MeshView> view_;  // read once; mutex_ guards it too
};

// Digests of the two small families, in meta, so that a scan of them is known to be whole.
inline constexpr const char* ledger_digest_key = "digest/ledger";
inline constexpr const char* descriptors_digest_key = "digest/descriptors";
inline constexpr const char* mesh_changes_key = "mesh_changes";
inline constexpr const char* entry_words_key = "entry_words";

/// "PMIDs 65536 to 131071".
[[nodiscard]] std::string range_name(std::uint32_t range);

/// The key of a range's entry: 4 bytes, big-endian.
[[nodiscard]] std::string range_key(std::uint32_t range);

}  // namespace somatlas::store
