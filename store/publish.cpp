// Renaming directories with renameat2, and the syncing that makes a rename mean something.
// Always holds: every file and folder is synced before the rename, the parents after it.
#include "store/publish.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <random>
#include <system_error>
#include <vector>

#include "store/store_error.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;

/// A file of this name in a directory outlives everything else there while it is removed. A target
/// has it already before the exchange, after which nothing else would tell the two apart.
constexpr const char* mark = "DISCARDED";

std::string reason(int error) {
  return std::generic_category().message(error);
}

void sync_path(const fs::path& path, bool is_directory) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (is_directory ? O_DIRECTORY : 0));
  if (file < 0)
    throw StoreError("cannot open '" + path.string() + "' to sync it: " + reason(errno));
  const int failed = ::fsync(file) != 0 ? errno : 0;
  ::close(file);
  if (failed != 0)
    throw StoreError("cannot sync '" + path.string() + "' to disk: " + reason(failed));
}

void sync_tree(const fs::path& root) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(root, error), end; entry != end && !error;
       entry.increment(error)) {
    if (entry->is_symlink())
      continue;
    if (entry->is_directory() || entry->is_regular_file())
      sync_path(entry->path(), entry->is_directory());
  }
  if (error)
    throw StoreError("cannot read '" + root.string() + "': " + error.message());
  sync_path(root, true);
}

fs::path parent_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

fs::path without_slash(const std::string& path) {
  std::string text = path;
  while (text.size() > 1 && text.back() == '/')
    text.pop_back();
  return text;
}

void put_mark(const fs::path& directory) {
  const fs::path path = directory / mark;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0)
    throw StoreError("cannot write '" + path.string() + "': " + reason(errno));
  ::close(file);
  sync_path(directory, true);
}

}  // namespace

void publish_directory(const std::string& partial, const std::string& target, bool overwrite) {
  const fs::path from = without_slash(partial);
  const fs::path to = without_slash(target);
  sync_tree(from);
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    sync_path(parent_of(to), true);
    return;
  }
  int error = errno;
  if (error == EEXIST && !overwrite)
    throw StoreError("'" + to.string() +
                     "' exists already: name another directory, or say --overwrite to replace it");
  if (error == EEXIST) {
    put_mark(to);
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
      sync_path(parent_of(to), true);
      remove_directory(from.string());
      sync_path(parent_of(from), true);
      return;
    }
    error = errno;
    ::unlink((to / mark).c_str());
  }
  throw StoreError("cannot give '" + from.string() + "' the name '" + to.string() +
                   "': " + reason(error));
}

void remove_directory(const std::string& path) {
  const fs::path directory = without_slash(path);
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(directory, error))) {
    try {
      put_mark(directory);
    } catch (const StoreError&) {
      // A full disk is no reason to leave it as it is.
    }
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().filename() != mark)
        fs::remove_all(entry->path(), error);
      if (error)
        break;
    }
  }
  if (!error || error == std::errc::no_such_file_or_directory)
    fs::remove_all(directory, error);
  if (error)
    throw StoreError("cannot remove '" + path + "': " + error.message());
}

void clear_unfinished(const std::string& prefix) {
  const fs::path names = prefix;
  const std::string begin = names.filename().string();
  std::error_code error;
  std::vector<fs::path> dead;
  for (fs::directory_iterator entry(parent_of(names), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin))
      continue;
    const char* const last = name.data() + name.size();
    pid_t process = 0;
    const char* const behind = std::from_chars(name.data() + begin.size(), last, process).ptr;
    const bool ours =
        process > 0 && last - behind > 1 && *behind == '-' &&
        std::all_of(behind + 1, last, [](unsigned char c) { return std::isxdigit(c) != 0; });
    if (ours && ::kill(process, 0) != 0 && errno == ESRCH)
      dead.push_back(entry->path());
  }
  for (const fs::path& path : dead)
    fs::remove_all(path, error);
}

bool is_discarded(const std::string& partial) {
  const fs::path directory = without_slash(partial);
  std::error_code error;
  return fs::is_directory(fs::symlink_status(directory, error)) &&
         (fs::exists(fs::symlink_status(directory / mark, error)) ||
          fs::is_empty(directory, error));
}

std::string unique_name(const std::string& prefix) {
  static constexpr char digits[] = "0123456789abcdef";
  std::random_device device;
  std::uint64_t bits = std::uint64_t{device()} << 32 | device();
  std::string name = prefix + std::to_string(::getpid()) + "-";
  for (int i = 0; i < 16; ++i, bits >>= 4)
    name.push_back(digits[bits & 15]);
  return name;
}

}  // namespace somatlas::store
