// Notes failed writes of every kind that RocksDB makes; deletions then succeed without being done.
// Holds the tail of a table file against its checksums when RocksDB opens it, for whatever purpose.
#include "store/careful_files.h"

#include <rocksdb/file_system.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "store/table_tail.h"

namespace somatlas::store {
namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

/// Whether a write has failed; shared by the files of one directory.
using Doubt = std::shared_ptr<std::atomic<bool>>;

IOStatus noted(IOStatus status, const Doubt& doubt) {
  if (!status.ok())
    *doubt = true;
  return status;
}

class WatchedFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  WatchedFile(std::unique_ptr<rocksdb::FSWritableFile> file, Doubt doubt)
      : FSWritableFileOwnerWrapper(std::move(file)), doubt_(std::move(doubt)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return noted(FSWritableFileOwnerWrapper::Append(data, options, dbg), doubt_);
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* dbg) override {
    return noted(FSWritableFileOwnerWrapper::Append(data, options, info, dbg), doubt_);
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return noted(FSWritableFileOwnerWrapper::Flush(options, dbg), doubt_);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return noted(FSWritableFileOwnerWrapper::Sync(options, dbg), doubt_);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return noted(FSWritableFileOwnerWrapper::Fsync(options, dbg), doubt_);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return noted(FSWritableFileOwnerWrapper::Close(options, dbg), doubt_);
  }

 private:
  Doubt doubt_;
};

class WatchedFolder : public rocksdb::FSDirectoryWrapper {
 public:
  WatchedFolder(std::unique_ptr<rocksdb::FSDirectory> folder, Doubt doubt)
      : FSDirectoryWrapper(std::move(folder)), doubt_(std::move(doubt)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return noted(FSDirectoryWrapper::Fsync(options, dbg), doubt_);
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const rocksdb::DirFsyncOptions& about) override {
    return noted(FSDirectoryWrapper::FsyncWithDirOptions(options, dbg, about), doubt_);
  }

 private:
  Doubt doubt_;
};

class CarefulFiles : public rocksdb::FileSystemWrapper {
 public:
  CarefulFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  [[nodiscard]] const char* Name() const override { return "SomatlasCarefulFiles"; }

  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    IOStatus status = FileSystemWrapper::NewRandomAccessFile(name, options, file, dbg);
    if (!status.ok() || !name.ends_with(".sst"))
      return status;
    std::uint64_t bytes = 0;
    status = GetFileSize(name, IOOptions(), &bytes, dbg);
    return status.ok() ? check_table_tail(**file, bytes, name) : status;
  }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* dbg) override {
    return watch(FileSystemWrapper::NewWritableFile(name, options, file, dbg), file);
  }
  IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext* dbg) override {
    return watch(FileSystemWrapper::ReopenWritableFile(name, options, file, dbg), file);
  }
  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* folder,
                        IODebugContext* dbg) override {
    IOStatus status = FileSystemWrapper::NewDirectory(name, options, folder, dbg);
    if (status.ok())
      *folder = std::make_unique<WatchedFolder>(std::move(*folder), doubt_);
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    return noted(FileSystemWrapper::RenameFile(from, to, options, dbg), doubt_);
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* dbg) override {
    return *doubt_ ? IOStatus::OK() : FileSystemWrapper::DeleteFile(name, options, dbg);
  }

 private:
  IOStatus watch(IOStatus status, std::unique_ptr<rocksdb::FSWritableFile>* file) {
    if (status.ok())
      *file = std::make_unique<WatchedFile>(std::move(*file), doubt_);
    return noted(std::move(status), doubt_);
  }

  Doubt doubt_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

std::unique_ptr<rocksdb::Env> make_careful_files() {
  return rocksdb::NewCompositeEnv(std::make_shared<CarefulFiles>());
}

}  // namespace somatlas::store
