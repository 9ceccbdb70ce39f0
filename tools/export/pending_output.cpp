// Writing under a temporary name, syncing, renaming: by the system's own calls, since streams tell
// neither why a write failed nor whether it reached the disk.
#include "tools/export/pending_output.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "store/publish.h"

namespace somatlas::exports {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

[[noreturn]] void fail(const std::string& shown, const std::string& what, int error) {
  std::string advice;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    advice = "; give it more room and export again";
  } else if (error == ENOENT || error == ENOTDIR) {
    advice = "; make its folder first";
  }
  throw OutputFileError(shown + ": " + what + ": " + std::strerror(error) + advice);
}

std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Unique in this process and, by the process number, beside others; creation is exclusive anyway.
// What a killed export of that name left goes first.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  store::clear_unfinished(path + ".partial-");
  return path + ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
}

bool exists(const std::string& path, struct stat& status) {
  if (::lstat(path.c_str(), &status) == 0) {
    return true;
  }
  if (errno != ENOENT) {
    fail(path, "cannot be looked at", errno);
  }
  return false;
}

[[noreturn]] void refuse_existing(const std::string& path) {
  throw OutputFileError(path + ": exists already; choose another name or give --overwrite");
}

void sync_folder(const std::string& folder, const std::string& shown) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Some file systems cannot sync a directory and say so with EINVAL; nothing more can be done
  // there.
  if (descriptor < 0 || (::fsync(descriptor) != 0 && errno != EINVAL)) {
    const int error = errno;
    if (descriptor >= 0) {
      ::close(descriptor);
    }
    fail(shown, "its folder cannot be synced", error);
  }
  ::close(descriptor);
}

// All files of its file system, far faster than one at a time where a directory holds thousands.
void sync_all(const std::string& directory, const std::string& shown) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 || ::syncfs(descriptor) != 0) {
    const int error = errno;
    if (descriptor >= 0) {
      ::close(descriptor);
    }
    fail(shown, "cannot be synced", error);
  }
  ::close(descriptor);
}

// A rename that never lands on an existing name, where the file system can promise that.
void rename_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return;
  }
  if (errno == EEXIST) {
    refuse_existing(to);
  }
  struct stat status {};
  if (errno != EINVAL || exists(to, status) || ::rename(from.c_str(), to.c_str()) != 0) {
    fail(to, "cannot be given its name", errno);
  }
}

}  // namespace

NewFile::NewFile(std::string path, std::string shown)
    : path_(std::move(path)), shown_(std::move(shown)) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    fail(shown_, "cannot be created", errno);
  }
  buffer_.reserve(buffer_bytes);
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

void NewFile::write_out(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      fail(shown_, "cannot be written", errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void NewFile::flush() {
  write_out(buffer_);
  buffer_.clear();
}

void NewFile::write(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > buffer_bytes) {
    flush();
  }
  if (bytes.size() >= buffer_bytes) {
    write_out(bytes);
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

void NewFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text.data(), text.size())));
}

void NewFile::close(Sync sync) {
  flush();
  if (sync == Sync::at_close && ::fsync(descriptor_) != 0) {
    fail(shown_, "cannot be synced", errno);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    fail(shown_, "cannot be closed", errno);
  }
}

namespace {

const std::string& checked_file(const std::string& path, Existing existing) {
  struct stat status {};
  if (exists(path, status)) {
    if (existing == Existing::refuse) {
      refuse_existing(path);
    }
    if (!S_ISREG(status.st_mode)) {
      throw OutputFileError(path + ": is no regular file and is not replaced; choose another name");
    }
  }
  return path;
}

}  // namespace

PendingFile::PendingFile(const std::string& path, Existing existing)
    : path_(checked_file(path, existing)), existing_(existing), file_(temporary_name(path), path) {}

PendingFile::~PendingFile() {
  if (!committed_) {
    ::unlink(file_.path().c_str());
  }
}

void PendingFile::commit() {
  file_.close();
  if (existing_ == Existing::refuse) {
    rename_new(file_.path(), path_);
  } else if (::rename(file_.path().c_str(), path_.c_str()) != 0) {
    fail(path_, "cannot be given its name", errno);
  }
  committed_ = true;
  sync_folder(folder_of(path_), path_);
}

namespace {

// Of NAME/*SUFFIX; the folder is empty where it is the name of a file.
struct FolderOfFiles {
  std::string folder;
  std::string suffix;
};
FolderOfFiles folder_of_files(const std::string& name) {
  const std::size_t star = name.find("/*");
  return star == std::string::npos ? FolderOfFiles{}
                                   : FolderOfFiles{name.substr(0, star), name.substr(star + 2)};
}

}  // namespace

PendingDirectory::PendingDirectory(const std::string& path, std::span<const std::string_view> names,
                                   Existing existing)
    : path_(without_trailing_slashes(path)),
      existing_(existing),
      names_(names.begin(), names.end()) {
  struct stat status {};
  if (exists(path_, status)) {
    if (existing == Existing::refuse) {
      refuse_existing(path_);
    }
    if (!S_ISDIR(status.st_mode)) {
      throw OutputFileError(path_ + ": is no directory and is not replaced; choose another name");
    }
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      const std::string name = entry.path().filename().string();
      if (!may_hold(name)) {
        throw OutputFileError(path_ + ": holds " + name +
                              ", which no export wrote, and is not replaced; choose another name");
      }
    }
  }
  temporary_ = temporary_name(path_);
  if (::mkdir(temporary_.c_str(), 0777) != 0) {
    fail(path_, "cannot be created", errno);
  }
  for (const std::string& name : names_) {
    if (const std::string folder = folder_of_files(name).folder; !folder.empty()) {
      make_folder(folder);
    }
  }
}

bool PendingDirectory::may_hold(const std::string& name) const {
  namespace fs = std::filesystem;
  return std::ranges::any_of(names_, [&](const std::string& known) {
    const auto [folder, suffix] = folder_of_files(known);
    if (folder.empty() || fs::is_symlink(path_ + "/" + name)) {
      return name == known;
    }
    return name == folder &&
           std::all_of(fs::recursive_directory_iterator(path_ + "/" + name), {},
                       [&suffix = suffix](const fs::directory_entry& entry) {
                         return !entry.is_symlink() &&
                                (entry.is_directory() || entry.path().string().ends_with(suffix));
                       });
  });
}

void PendingDirectory::make_folder(std::string_view name) const {
  std::error_code error;
  std::filesystem::create_directories(path_of(name), error);
  if (error) {
    fail(shown(name), "cannot be created", error.value());
  }
}

PendingDirectory::~PendingDirectory() {
  if (!committed_) {
    std::error_code ignored;
    std::filesystem::remove_all(temporary_, ignored);
  }
}

std::string PendingDirectory::path_of(std::string_view name) const {
  return temporary_ + "/" + std::string(name);
}

std::string PendingDirectory::shown(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

void PendingDirectory::commit() {
  if (std::ranges::any_of(
          names_, [](const std::string& name) { return !folder_of_files(name).folder.empty(); })) {
    sync_all(temporary_, path_);
  }
  sync_folder(temporary_, path_);
  struct stat status {};
  if (existing_ == Existing::replace && exists(path_, status)) {
    // The two change names in one step, so there is always a complete one under the final name.
    if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0) {
      fail(path_, "cannot be replaced in one step; remove it and export again", errno);
    }
    // What is under the temporary name now is the old export; only files that an export writes go.
    for (const std::string& name : names_) {
      const std::string folder = folder_of_files(name).folder;
      std::error_code ignored;
      std::filesystem::remove_all(path_of(folder.empty() ? name : folder), ignored);
    }
    ::rmdir(temporary_.c_str());
  } else {
    rename_new(temporary_, path_);
  }
  committed_ = true;
  sync_folder(folder_of(path_), path_);
}

}  // namespace somatlas::exports
