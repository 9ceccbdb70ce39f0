// Reading, checking and compacting one RocksDB directory, and its settings.
// Always holds: a reader keeps every table file open, so a writer beside it cannot take one away;
// what RocksDB's status means is said in a user's words.
#include "store/rocks_directory.h"

#include <rocksdb/convenience.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "store/file_checksum.h"
#include "store/store_error.h"
#include "store/table_tail.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;

// So many files lie over each other before a write puts them together first.
constexpr std::size_t upper_files_limit = 256;

/// A log that goes nowhere. A reader may write nothing, and what there is to say comes as a status;
/// and RocksDB's own log file ends the process by an assertion where the disk is full (Debian
/// builds it with assertions on).
class SilentLog : public rocksdb::Logger {
 public:
  SilentLog() : Logger(rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::ReadOptions read_options() {
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  options.fill_cache = false;
  return options;
}

void require_read(const rocksdb::Status& status) {
  if (!status.ok())
    throw StoreError(status.ToString());
}

/// Another process, or another object of this one, holds the lock. The words are RocksDB's; "lock"
/// alone would match a path, or a directory where no lock can be made.
bool is_lock_refusal(const rocksdb::Status& status) {
  const std::string text = status.ToString();
  return status.IsIOError() && (text.find("lock hold by current process") != std::string::npos ||
                                (text.find("While lock file") != std::string::npos &&
                                 text.find("temporarily unavailable") != std::string::npos));
}

}  // namespace

std::string RocksDirectory::remedy_of(const std::string& status) {
  static constexpr std::pair<std::string_view, std::string_view> remedies[]{
      {"Input/output error",
       "the disk may be failing, which the system's log tells; then run the same command again"},
      {"File too large",
       "raise the limit on the size of files (ulimit -f), then run the same command again"},
      {"Disk quota exceeded", "free some of the quota, then run the same command again"},
      {"Too many open files",
       "raise the limit on open files (ulimit -n), then run the same command again"},
      {"Read-only file system", "mount its disk for writing, or name a place on another"}};
  for (const auto& [words, remedy] : remedies)
    if (status.find(words) != std::string::npos)
      return std::string(remedy);
  return "see who owns it and which rights it has";
}

rocksdb::DBOptions RocksDirectory::database_options() const {
  rocksdb::DBOptions options;
  options.env = files_.get();
  options.max_open_files = -1;
  options.max_file_opening_threads = 1;  // in another, what is thrown would end the process
  options.paranoid_checks = true;
  options.file_checksum_gen_factory = file_checksums();
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  options.max_background_jobs =
      static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 2U, 8U));
  options.max_subcompactions = 1;
  options.bytes_per_sync = std::uint64_t{1} << 20;
  options.info_log = std::make_shared<SilentLog>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

rocksdb::ColumnFamilyOptions RocksDirectory::family_options(const std::string& family_name) const {
  rocksdb::ColumnFamilyOptions options;
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;  // values are large and read once a pass
  table.checksum = rocksdb::kXXH3;
  table.format_version = table_format_version;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kNoCompression;  // values are compressed already
  // RocksDB 7.8 can lose an unreadable entry in a compaction and in a scan, with no error (its pull
  // request 11782). So it compacts only when compact() has read every file, and a scan is held
  // against keys or a digest that were read by themselves.
  options.disable_auto_compactions = true;
  options.level0_slowdown_writes_trigger = 1 << 30;
  options.level0_stop_writes_trigger = 1 << 30;
  options.paranoid_file_checks = true;
  options.write_buffer_size = std::size_t{1} << 20;  // memtables stay empty
  options.target_file_size_base = std::uint64_t{64} << 20;
  options.max_bytes_for_level_base = std::uint64_t{256} << 20;
  if (!family_name.empty() && family_name == layout_.merged_family)
    options.merge_operator = layout_.merge_operator;
  return options;
}

std::vector<std::string> RocksDirectory::family_names() const {
  std::vector<std::string> names{rocksdb::kDefaultColumnFamilyName, meta_family};
  names.insert(names.end(), layout_.families.begin(), layout_.families.end());
  return names;
}

rocksdb::ColumnFamilyHandle* RocksDirectory::family(const std::string& family_name) const {
  return handles_.at(family_name);
}

std::optional<std::string> RocksDirectory::get(const std::string& family_name,
                                               std::string_view key) {
  std::string value;
  const rocksdb::Status status =
      db_->Get(read_options(), family(family_name), rocksdb::Slice(key.data(), key.size()), &value);
  if (status.IsNotFound())
    return std::nullopt;
  require_read(status);
  return value;
}

void RocksDirectory::for_each(
    const std::string& family_name,
    const std::function<void(std::string_view, std::string_view)>& entry) {
  const std::unique_ptr<rocksdb::Iterator> it(
      db_->NewIterator(read_options(), family(family_name)));
  for (it->SeekToFirst(); it->Valid(); it->Next())
    entry(it->key().ToStringView(), it->value().ToStringView());
  require_read(it->status());
}

void RocksDirectory::scan(const std::string& family_name, const std::string& prefix,
                          const std::vector<std::string>& expected,
                          const std::function<void(std::string_view, const std::string&)>& entry,
                          const Bad& bad) {
  const auto alone = [&](const std::string& key) {
    try {
      if (const std::optional<std::string> value = get(family_name, prefix + key))
        entry(key, *value);
      else
        bad(key, "it is missing");
    } catch (const StoreError& error) {
      bad(key, error.what());
    }
  };
  auto next = expected.begin();
  std::string from = prefix;
  std::unique_ptr<rocksdb::Iterator> it;
  while (true) {
    if (!it) {
      it.reset(db_->NewIterator(read_options(), family(family_name)));
      it->Seek(from);
    }
    if (it->Valid() && it->key().starts_with(prefix)) {
      const std::string key(it->key().ToStringView().substr(prefix.size()));
      for (; next != expected.end() && *next < key; ++next)
        alone(*next);
      if (next != expected.end() && *next == key)
        ++next;
      else
        bad(key, "nothing refers to it");
      entry(key, it->value().ToString());
      it->Next();
      continue;
    }
    if (it->Valid() || it->status().ok())
      break;
    // What comes next cannot be read: ask for the next expected entry alone, and go on behind it.
    if (next == expected.end()) {
      bad("", it->status().ToString());
      return;
    }
    alone(*next);
    from = prefix + *next++ + '\0';
    it.reset();
  }
  for (; next != expected.end(); ++next)
    alone(*next);
}

void RocksDirectory::drop_files(const std::string& family_name, const std::string& begin,
                                const std::string& end) {
  require_writable();
  const rocksdb::Slice first(begin);
  const rocksdb::Slice last(end);
  check(rocksdb::DeleteFilesInRange(db_.get(), family(family_name), &first, &last, false),
        "be changed");
}

void RocksDirectory::compact() {
  require_writable();
  check(db_->VerifyFileChecksums(read_options()), "be compacted");
  for (const auto& [family_name, handle] : handles_)
    compact_verified(handle);
}

void RocksDirectory::compact_where_layered() {
  for (const auto& [family_name, handle] : handles_) {
    rocksdb::ColumnFamilyMetaData files;
    db_->GetColumnFamilyMetaData(handle, &files);
    std::size_t upper = 0;  // files above the bottom level
    for (const rocksdb::LevelMetaData& level : files.levels)
      upper += level.level + 1 < db_->NumberLevels(handle) ? level.files.size() : 0;
    if (upper <= upper_files_limit)
      continue;
    check(db_->VerifyFileChecksums(read_options()), "be compacted");
    compact_verified(handle);
  }
}

void RocksDirectory::compact_verified(rocksdb::ColumnFamilyHandle* handle) {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.max_subcompactions = std::max(1U, std::thread::hardware_concurrency());
  check(db_->CompactRange(options, handle, nullptr, nullptr), "be compacted");
}

std::map<std::string, std::uint64_t> RocksDirectory::disk_parts() {
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::map<std::string, std::uint64_t> parts{{meta_family, 0}};
  for (const std::string& family_name : layout_.families)
    parts[family_name] = 0;
  for (const rocksdb::LiveFileMetaData& file : files)
    parts[file.column_family_name] += file.size;
  return parts;
}

std::uint64_t sum_of(const std::map<std::string, std::uint64_t>& parts) {
  std::uint64_t bytes = 0;
  for (const auto& [family_name, size] : parts)
    bytes += size;
  return bytes;
}

void RocksDirectory::verify_files(const std::function<void(const Fault&)>& fault) {
  const auto report = [&](const rocksdb::Status& status, const char* what) {
    if (!status.ok())
      fault({directory_, std::string(what) + " (" + status.ToString() + "); " + layout_.remedy});
  };
  // These two open the files by name. A writer beside this reader may have replaced one meanwhile:
  // then the directory as it is now is looked at, and only what stays is believed.
  std::unique_ptr<RocksDirectory> again;
  rocksdb::DB* db = db_.get();
  for (int attempt = 1;; ++attempt) {
    const rocksdb::Status files = db->VerifyFileChecksums(read_options());
    const rocksdb::Status blocks = db->VerifyChecksum(read_options());
    const bool vanished = files.IsPathNotFound() || blocks.IsPathNotFound();
    if (vanished && !writable_ && attempt < open_attempts) {
      try {
        again.reset();
        again = open(directory_, Access::read, layout_);
        db = again->db_.get();
        continue;
      } catch (const StoreError& error) {
        fault({directory_, error.what()});
        return;
      }
    }
    report(files, "a table file has changed");
    report(blocks, "a block of a table file has changed");
    return;
  }
}

StoreError RocksDirectory::damaged(const std::string& detail) const {
  return StoreError(name() + " is damaged (" + detail + "): somatlas verify --" + layout_.kind +
                    " '" + directory_ + "' says what to make again");
}

StoreError RocksDirectory::damaged_whole(const std::string& detail) const {
  return StoreError(name() + " is damaged (" + detail + "): " + layout_.remedy);
}

void RocksDirectory::require_writable() const {
  if (!writable_)
    throw StoreError(name() + " was opened for reading and cannot be changed");
}

void RocksDirectory::check(const rocksdb::Status& status, const char* doing) const {
  if (status.ok())
    return;
  if (is_lock_refusal(status))
    throw StoreError(name() +
                     " is in use by another process that writes it: wait until that ends, "
                     "then run the same command again");
  if (status.IsNoSpace() || status.ToString().find("No space left") != std::string::npos)
    throw StoreError(name() + " cannot " + doing +
                     ", the disk is full: free some space, then run the same command again");
  // Without CURRENT the whole directory is gone, or was never made: then no part of it is damaged.
  std::error_code error;
  const bool refused = status.ToString().find("Permission denied") != std::string::npos;
  const bool lost = status.IsPathNotFound() && fs::exists(directory_ + "/CURRENT", error);
  if (!refused && (status.IsCorruption() || lost))
    throw damaged_whole(status.ToString());
  throw StoreError(name() + " cannot " + doing + " (" + status.ToString() +
                   "): " + remedy_of(status.ToString()));
}

}  // namespace somatlas::store
