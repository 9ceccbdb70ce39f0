// Opening and making one RocksDB directory, and what it says where that cannot be.
// Always holds: a directory appears whole under its name or not at all; an opening that fails
// beside a live writer is tried again before it is believed; what the file system refuses is told
// with its reason and never taken for damage.
#include <fcntl.h>
#include <rocksdb/transaction_log.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

#include "store/manifest_tail.h"
#include "store/opening_room.h"
#include "store/publish.h"
#include "store/rocks_directory.h"
#include "store/store_error.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* format_key = "format";
constexpr const char* unfinished = ".new-";  // behind a directory's name while it is made

/// What was read whole and is not what is wanted: another look would say the same.
class Mismatch : public StoreError {
 public:
  using StoreError::StoreError;
};

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// What is there, links followed; name: what it is called where that cannot be told.
fs::file_type type_of(const std::string& path, const std::string& name) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type == fs::file_type::none)
    throw StoreError(name + " cannot be looked at (" + error.message() +
                     "): check its path, and who may read the folders on it");
  return type;
}

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

}  // namespace

std::unique_ptr<RocksDirectory> RocksDirectory::open(const std::string& directory, Access access,
                                                     RocksLayout layout) {
  raise_file_limit();
  std::unique_ptr<RocksDirectory> self(
      new RocksDirectory(without_slash(directory), std::move(layout)));
  if (self->directory_.empty())
    throw StoreError("the name of the " + self->layout_.kind + " is empty: name a directory");
  if (access == Access::create)
    self->create_where_absent();
  self->require_present();
  self->open_checked(false);
  if (access != Access::read) {
    self->require_right(W_OK, "written");
    self->close();
    self->open_checked(true);
  }
  return self;
}

RocksDirectory::~RocksDirectory() {
  if (left_new_ && !layout_.kept_empty)
    remove_where_left_new();
  close();
}

// It loses its name before its lock, so nobody can put anything there meanwhile; who did so before
// it was locked left another table file.
void RocksDirectory::remove_where_left_new() {
  std::vector<rocksdb::LiveFileMetaData> files;
  if (writable_)
    db_->GetLiveFilesMetaData(&files);
  const std::string gone = unique_name(directory_ + unfinished);
  if (files.size() != 1 || std::rename(directory_.c_str(), gone.c_str()) != 0)
    return;
  close();
  std::error_code error;
  fs::remove_all(gone, error);
  if (folder_before_ && ::mkdir(directory_.c_str(), 0777) == 0)
    fs::permissions(directory_, *folder_before_, error);
  if (first_made_.empty())
    return;
  for (fs::path above = fs::path(directory_).parent_path();
       above.filename() == "." || ::rmdir(above.c_str()) == 0; above = above.parent_path())
    if (above == first_made_)
      return;
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

void RocksDirectory::require_present() const {
  const fs::file_type type = type_of(directory_, name());
  if (type == fs::file_type::not_found)
    throw StoreError("there is no " + layout_.kind + " at '" + directory_ +
                     "': make one with somatlas " + layout_.made_by +
                     ", or name the right directory");
  if (type == fs::file_type::directory) {
    require_right(R_OK | X_OK, "read");
    if (type_of(directory_ + "/CURRENT", name()) == fs::file_type::not_found &&
        type_of(directory_ + "/IDENTITY", name()) != fs::file_type::not_found)
      throw StoreError(name() +
                       " lacks its file CURRENT, so it is damaged: restore a copy, or make "
                       "it anew elsewhere with somatlas " +
                       layout_.made_by);
  }
  if (type != fs::file_type::directory ||
      type_of(directory_ + "/CURRENT", name()) == fs::file_type::not_found)
    throw StoreError("'" + directory_ + "' is not a somatlas " + layout_.kind +
                     ": name a directory that somatlas " + layout_.made_by + " made");
}

void RocksDirectory::require_right(int right, const char* done) const {
  if (::faccessat(AT_FDCWD, directory_.c_str(), right, AT_EACCESS) != 0)
    throw StoreError(name() + " cannot be " + done + " (" + reason(errno) +
                     "): " + remedy_of(reason(errno)));
}

StoreError RocksDirectory::not_made(const std::string& why, const std::string& remedy) const {
  return StoreError("cannot make " + name() + ": " + why + ": " + remedy);
}

void RocksDirectory::create_where_absent() {
  std::error_code error;
  if (const fs::file_type type = type_of(directory_, name()); type != fs::file_type::not_found) {
    if (type != fs::file_type::directory || !fs::is_empty(directory_, error) || error)
      return;  // open() says what it is
    const fs::perms before = fs::status(directory_, error).permissions();
    if (::rmdir(directory_.c_str()) != 0)
      throw not_made("the empty folder there cannot be replaced (" + reason(errno) + ")",
                     "name a new folder inside it, or one elsewhere");
    folder_before_ = before;
  } else if (fs::is_symlink(fs::symlink_status(directory_, error))) {
    throw not_made("that is a link to what is not there",
                   "make the folder that it points to, or name another one");
  }
  const fs::path parent = fs::path(directory_).parent_path();
  for (fs::path above = parent; !above.empty() && !fs::exists(above, error);
       above = above.parent_path())
    first_made_ = above;
  if (!parent.empty())
    fs::create_directories(parent, error);
  if (!parent.empty() && error)
    throw not_made(
        "the folder '" + parent.string() + "' cannot be created (" + error.message() + ")",
        "name a place where folders can be made");
  clear_unfinished(directory_ + unfinished);
  const std::string fresh = unique_name(directory_ + unfinished);
  try {
    build_new(fresh);
    publish_directory(fresh, directory_, false);
    left_new_ = true;
  } catch (const StoreError&) {
    const bool renamed = !fs::exists(fresh, error);  // but the name may not outlive a power cut
    fs::remove_all(fresh, error);
    if (renamed || !fs::exists(directory_ + "/CURRENT", error))  // else another process was first
      throw;
  }
}

void RocksDirectory::build_new(const std::string& at) {
  if (::mkdir(at.c_str(), 0777) != 0)
    throw not_made("its folder cannot be created (" + reason(errno) + ")",
                   "name a place where folders can be made");
  RocksDirectory fresh(at, layout_);
  fresh.called_ = directory_;
  rocksdb::DBOptions db_options = fresh.database_options();
  require_opening_room(db_options.max_background_jobs);
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
      if (manifest_ends_in_changed_length(directory_))
        throw damaged_whole("a byte of the list of its files has changed");
      connect(writable);
      check_format();
      break;
    } catch (const Mismatch&) {
      close();
      throw;
    } catch (const StoreError&) {
      close();
      if (writable || attempt == open_attempts)
        throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(1 << attempt));
    }
  }
  writable_ = writable;
  if (writable) {
    clear_incoming();
    clear_logs();
  }
}

// Each opening for writing begins a log, and RocksDB gives one up only after it has flushed a
// memtable; as nothing is ever written there, they would gather. One with a byte in it stays.
void RocksDirectory::clear_logs() {
  std::unique_ptr<rocksdb::LogFile> current;
  if (!db_->GetCurrentWalFile(&current).ok() || !current)
    return;
  const std::string kept = fs::path(current->PathName()).filename().string();
  std::error_code error;
  std::vector<fs::path> empty;
  for (fs::directory_iterator entry(directory_, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code unknown;
    if (path.extension() == ".log" && path.filename() != kept &&
        fs::file_size(path, unknown) == 0 && !unknown)
      empty.push_back(path);
  }
  for (const fs::path& path : empty)
    fs::remove(path, error);  // what cannot be removed is in nobody's way
}

void RocksDirectory::connect(bool writable) {
  const rocksdb::DBOptions db_options = database_options();
  require_opening_room(db_options.max_background_jobs);
  std::vector<std::string> present;
  check(rocksdb::DB::ListColumnFamilies(db_options, directory_, &present), "be read");
  std::vector<std::string> wanted = family_names();
  std::sort(wanted.begin(), wanted.end());
  std::sort(present.begin(), present.end());
  if (std::find(present.begin(), present.end(), meta_family) == present.end())
    throw Mismatch("'" + directory_ + "' is not a somatlas " + layout_.kind +
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
    throw damaged_whole(std::string("its format number: ") + error.what());
  }
  if (!format)
    throw damaged_whole("it has no format number");
  const std::string wanted = layout_.kind + " " + std::to_string(layout_.format);
  if (*format != wanted) {
    const std::string kind = format->substr(0, format->find(' '));
    if (kind != layout_.kind)
      throw Mismatch("'" + directory_ + "' is not a somatlas " + layout_.kind + ": it is a " +
                     "directory of the kind '" + kind + "'");
    throw Mismatch(name() + " has format number " + format->substr(kind.size() + 1) +
                   " and this program reads " + std::to_string(layout_.format) +
                   ": make it again with somatlas " + layout_.made_by +
                   ", or use the program that made it");
  }
  std::vector<std::string> wanted_families = family_names();
  for (const std::string& family_name : wanted_families)
    if (handles_.find(family_name) == handles_.end())
      throw damaged_whole("its part '" + family_name + "' is missing");
}

void RocksDirectory::clear_incoming() {
  std::error_code error;
  fs::create_directory(incoming(), error);
  if (error)
    throw StoreError("cannot make '" + incoming() + "' (" + error.message() +
                     "): " + remedy_of(error.message()));
  for (fs::directory_iterator entry(incoming(), error), end; !error && entry != end;
       entry.increment(error))
    fs::remove(entry->path(), error);  // unlinked, never truncated: it may be a link to a table
  if (error)
    throw StoreError("cannot clear '" + incoming() + "' (" + error.message() +
                     "): " + remedy_of(error.message()));
}

}  // namespace somatlas::store
