// Files and directories that appear complete under their final name or not at all.
// Always holds: bytes go to a new, unique name beside the final one, are synced, and then renamed;
// what is not committed is removed; an existing output is replaced only when asked to, and a
// directory only where it holds nothing but an earlier export.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace somatlas::exports {

/// An output that cannot be written: it exists, the disk is full, a folder is missing.
class OutputFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Existing : std::uint8_t { refuse, replace };

/// When a file's bytes reach the disk: at its close, or, for one of very many, with its directory.
enum class Sync : std::uint8_t { at_close, with_directory };

/// A new file, written from its start. The destructor closes it, whatever it holds.
class NewFile {
 public:
  /// shown: the name that messages give. Throws OutputFileError.
  NewFile(std::string path, std::string shown);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Appends. Throws OutputFileError.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Writes what is buffered, syncs and closes. Throws OutputFileError.
  void close(Sync sync = Sync::at_close);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& shown() const { return shown_; }

 private:
  void flush();
  void write_out(std::span<const std::byte> bytes);
  std::string path_;
  std::string shown_;
  std::vector<std::byte> buffer_;
  int descriptor_ = -1;
};

/// One file that appears when it is committed.
class PendingFile {
 public:
  /// Throws OutputFileError where path exists and is not to be replaced, or is no regular file.
  PendingFile(const std::string& path, Existing existing);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  [[nodiscard]] NewFile& file() { return file_; }
  /// Gives the file its name. Throws OutputFileError.
  void commit();

 private:
  std::string path_;
  Existing existing_;
  NewFile file_;
  bool committed_ = false;
};

/// A directory of files that appears when it is committed.
class PendingDirectory {
 public:
  /// names: the files it will hold; NAME/*SUFFIX: a folder, made at once, with files that end so at
  /// whatever depth. Throws OutputFileError where path exists and is not to be replaced, or holds
  /// anything else.
  PendingDirectory(const std::string& path, std::span<const std::string_view> names,
                   Existing existing);
  ~PendingDirectory();
  PendingDirectory(const PendingDirectory&) = delete;
  PendingDirectory& operator=(const PendingDirectory&) = delete;

  /// Where the file of that name is to be written until the commit.
  [[nodiscard]] std::string path_of(std::string_view name) const;
  /// Makes the folder of that name, and those above it. Throws OutputFileError.
  void make_folder(std::string_view name) const;
  /// The name to show for it in messages.
  [[nodiscard]] std::string shown(std::string_view name) const;
  /// Gives the directory its name; the files in it have been closed. Throws OutputFileError.
  void commit();

 private:
  /// Whether an export of these names may have written it.
  [[nodiscard]] bool may_hold(const std::string& name) const;
  std::string path_;
  Existing existing_;
  std::vector<std::string> names_;
  std::string temporary_;
  bool committed_ = false;
};

}  // namespace somatlas::exports
