// Renaming directories with renameat2, and the syncing that makes a rename mean something.
// Always holds: every file and folder is synced before the rename, the parents after it.
#include "store/publish.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <random>
#include <system_error>

#include "store/store_error.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;

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
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
      sync_path(parent_of(to), true);
      remove_directory(from.string());
      sync_path(parent_of(from), true);
      return;
    }
    error = errno;
  }
  throw StoreError("cannot give '" + from.string() + "' the name '" + to.string() +
                   "': " + reason(error));
}

void remove_directory(const std::string& path) {
  std::error_code error;
  fs::remove_all(without_slash(path), error);
  if (error)
    throw StoreError("cannot remove '" + path + "': " + error.message());
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
