// Opening, reading, checking and compacting one RocksDB directory.
// Always holds: a reader keeps every table file open, so a writer beside it cannot take one away;
// an opening that fails beside a live writer is tried again before it is believed.
#include "store/rocks_directory.h"

#include <rocksdb/convenience.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/table.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "store/publish.h"
#include "store/store_error.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* meta_family = "meta";
constexpr const char* format_key = "format";
constexpr const char* unfinished = ".new-";  // behind a directory's name while it is made
// So many files lie over each other before a write puts them together first.
constexpr std::size_t upper_files_limit = 256;
constexpr int open_attempts = 8;  // waits of 2, 4 ... 256 ms between them: half a second in all

/// A log that goes nowhere. A reader may write nothing, and what there is to say comes as a status;
/// and RocksDB's own log file ends the process by an assertion where the disk is full (Debian
/// builds it with assertions on).
class SilentLog : public rocksdb::Logger {
 public:
  SilentLog() : Logger(rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

/// Every table file stays open; the usual soft limit of 1,024 files is too low for a large store
/// that was not compacted yet.
void raise_file_limit() {
  constexpr rlim_t wanted = 65'536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
    return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

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

/// Removes the directories that killed processes began to make: prefix, then the process's id.
void clear_unfinished(const fs::path& prefix) {
  std::error_code error;
  const fs::path parent = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  const std::string begin = prefix.filename().string();
  std::vector<fs::path> dead;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string entry_name = entry->path().filename().string();
    if (!entry_name.starts_with(begin))
      continue;
    const auto process =
        static_cast<pid_t>(std::strtol(entry_name.c_str() + begin.size(), nullptr, 10));
    if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH)
      dead.push_back(entry->path());
  }
  for (const fs::path& path : dead)
    fs::remove_all(path, error);  // what cannot be removed is in nobody's way
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

std::unique_ptr<RocksDirectory> RocksDirectory::open(const std::string& directory, Access access,
                                                     RocksLayout layout) {
  raise_file_limit();
  std::unique_ptr<RocksDirectory> self(
      new RocksDirectory(without_slash(directory), std::move(layout)));
  if (access == Access::create)
    self->create_where_absent();
  const std::string& path = self->directory_;
  const std::string& kind = self->layout_.kind;
  std::error_code error;
  if (!fs::exists(path, error))
    throw StoreError("there is no " + kind + " at '" + path + "': make one with somatlas " +
                     self->layout_.made_by + ", or name the right directory");
  if (!fs::is_directory(path, error) || !fs::exists(path + "/CURRENT", error))
    throw StoreError("'" + path + "' is not a somatlas " + kind +
                     ": name a directory that somatlas " + self->layout_.made_by + " made");
  self->open_checked(false);
  if (access != Access::read) {
    self->close();
    self->open_checked(true);
  }
  return self;
}

RocksDirectory::~RocksDirectory() {
  close();
}

void RocksDirectory::close() {
  if (!db_)
    return;
  for (const auto& [family_name, handle] : handles_)
    db_->DestroyColumnFamilyHandle(handle);
  handles_.clear();
  db_->Close();
  db_.reset();
}

void RocksDirectory::create_where_absent() {
  std::error_code error;
  if (fs::exists(directory_, error)) {
    const bool empty = fs::is_directory(directory_, error) && fs::is_empty(directory_, error);
    if (!empty || error)
      return;  // open() says what it is
    if (::rmdir(directory_.c_str()) != 0)
      throw StoreError("cannot make a " + layout_.kind + " at '" + directory_ +
                       "': " + std::generic_category().message(errno));
  }
  const fs::path parent = fs::path(directory_).parent_path();
  if (!parent.empty())
    fs::create_directories(parent, error);
  if (error)
    throw StoreError("cannot make the directory '" + parent.string() + "': " + error.message());
  clear_unfinished(directory_ + unfinished);
  const std::string fresh = unique_name(directory_ + unfinished);
  try {
    build_new(fresh);
    publish_directory(fresh, directory_, false);
  } catch (const StoreError&) {
    fs::remove_all(fresh, error);
    if (!fs::exists(directory_ + "/CURRENT", error))  // else another process was first
      throw;
  }
}

void RocksDirectory::build_new(const std::string& at) {
  RocksDirectory fresh(at, layout_);
  rocksdb::Options db_options = fresh.options();
  db_options.create_if_missing = true;
  db_options.create_missing_column_families = true;
  db_options.error_if_exists = true;
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& family_name : fresh.family_names())
    descriptors.emplace_back(family_name, fresh.family_options(family_name));
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* raw = nullptr;
  fresh.check(rocksdb::DB::Open(db_options, at, descriptors, &handles, &raw), "be made");
  fresh.db_.reset(raw);
  for (rocksdb::ColumnFamilyHandle* handle : handles)
    fresh.handles_[handle->GetName()] = handle;
  fresh.writable_ = true;
  fresh.clear_incoming();
  std::map<std::string, std::string> meta =
      layout_.first_meta ? layout_.first_meta() : std::map<std::string, std::string>{};
  meta[format_key] = layout_.kind + " " + std::to_string(layout_.format);
  RocksIngestion first(fresh);
  for (const auto& [key, value] : meta)
    first.put(meta_family, key, value);
  first.commit();
}

void RocksDirectory::open_checked(bool writable) {
  for (int attempt = 1;; ++attempt) {
    try {
      connect(writable);
      check_format();
      break;
    } catch (const StoreError&) {
      close();
      if (writable || attempt == open_attempts)
        throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(1 << attempt));
    }
  }
  writable_ = writable;
  if (writable)
    clear_incoming();
}

void RocksDirectory::connect(bool writable) {
  const rocksdb::Options db_options = options();
  std::vector<std::string> present;
  check(rocksdb::DB::ListColumnFamilies(db_options, directory_, &present), "be read");
  std::vector<std::string> wanted = family_names();
  std::sort(wanted.begin(), wanted.end());
  std::sort(present.begin(), present.end());
  if (std::find(present.begin(), present.end(), meta_family) == present.end())
    throw StoreError("'" + directory_ + "' is not a somatlas " + layout_.kind +
                     ": it is a database of another program");
  // Those of another format are opened too, so that its number can be read.
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& family_name : present)
    descriptors.emplace_back(family_name, family_options(family_name));
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* raw = nullptr;
  check(writable
            ? rocksdb::DB::Open(db_options, directory_, descriptors, &handles, &raw)
            : rocksdb::DB::OpenForReadOnly(db_options, directory_, descriptors, &handles, &raw),
        writable ? "be written" : "be opened");
  db_.reset(raw);
  for (rocksdb::ColumnFamilyHandle* handle : handles)
    handles_[handle->GetName()] = handle;
}

void RocksDirectory::check_format() {
  std::optional<std::string> format;
  try {
    format = get(meta_family, format_key);
  } catch (const StoreError& error) {
    throw damaged(std::string("its format number: ") + error.what());
  }
  if (!format)
    throw damaged("it has no format number");
  const std::string wanted = layout_.kind + " " + std::to_string(layout_.format);
  if (*format != wanted) {
    const std::string kind = format->substr(0, format->find(' '));
    if (kind != layout_.kind)
      throw StoreError("'" + directory_ + "' is not a somatlas " + layout_.kind + ": it is a " +
                       "directory of the kind '" + kind + "'");
    throw StoreError(name() + " has format number " + format->substr(kind.size() + 1) +
                     " and this program reads " + std::to_string(layout_.format) +
                     ": make it again with somatlas " + layout_.made_by +
                     ", or use the program that made it");
  }
  std::vector<std::string> wanted_families = family_names();
  for (const std::string& family_name : wanted_families)
    if (handles_.find(family_name) == handles_.end())
      throw damaged("its part '" + family_name + "' is missing");
}

void RocksDirectory::clear_incoming() {
  std::error_code error;
  fs::create_directory(incoming(), error);
  for (fs::directory_iterator entry(incoming(), error), end; !error && entry != end;
       entry.increment(error))
    fs::remove(entry->path(), error);  // unlinked, never truncated: it may be a link to a table
  if (error)
    throw StoreError("cannot clear '" + incoming() + "': " + error.message());
}

rocksdb::Options RocksDirectory::options() const {
  rocksdb::Options options(rocksdb::DBOptions(), family_options(""));
  options.max_open_files = -1;
  options.max_file_opening_threads = 2;
  options.paranoid_checks = true;
  options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
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

std::uint64_t RocksDirectory::disk_bytes() {
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::uint64_t bytes = 0;
  for (const rocksdb::LiveFileMetaData& file : files)
    bytes += file.size;
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
  if (status.IsCorruption() || status.IsPathNotFound())
    throw StoreError(name() + " is damaged (" + status.ToString() + "): " + layout_.remedy);
  throw StoreError(name() + " cannot " + doing + " (" + status.ToString() +
                   "): see who owns it and which rights it has");
}

}  // namespace somatlas::store
