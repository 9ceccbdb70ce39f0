// One RocksDB directory, as the store and the atlas both use it: opening, checked reads, and writes
// that are SST files of unique names ingested in one atomic step. Only store/*.cpp include this.
// Always holds: nothing is written through RocksDB's log or memtables; a reader writes nothing; a
// store of another format number is not touched; a RocksDB status never reaches a caller as such.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/sst_file_writer.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/careful_files.h"
#include "store/store.h"
#include "store/store_error.h"

namespace somatlas::store {

/// What a directory holds and what it is called in messages.
struct RocksLayout {
  std::string kind;     // "store" or "atlas", also its option on the command line
  std::string made_by;  // the command that makes one
  std::string remedy;   // what to do where it is damaged as a whole
  std::uint32_t format = 0;
  std::vector<std::string> families;  // beside "meta", which every layout has
  std::string merged_family;          // the one whose entries merge; empty: none
  std::shared_ptr<rocksdb::MergeOperator> merge_operator;
  /// Entries of meta that a new directory begins with, sorted by key; the format comes on top.
  std::function<std::map<std::string, std::string>()> first_meta;
  bool kept_empty = true;  // a new one stays where nothing was put into it before it was closed
};

class RocksDirectory {
 public:
  enum class Access : std::uint8_t { read, write, create };

  /// Throws StoreError: missing, something else, another format number, in use, damaged.
  static std::unique_ptr<RocksDirectory> open(const std::string& directory, Access access,
                                              RocksLayout layout);
  ~RocksDirectory();
  RocksDirectory(const RocksDirectory&) = delete;
  RocksDirectory& operator=(const RocksDirectory&) = delete;

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] bool writable() const { return writable_; }

  /// The bytes under key; nothing where there are none. Safe from several threads. Like for_each()
  /// it throws StoreError with what is wrong as half a sentence, which the caller puts into
  /// damaged() with what it was about to read.
  [[nodiscard]] std::optional<std::string> get(const std::string& family, std::string_view key);
  /// Every entry of a family in key order. The caller checks that none was left out: a scan can
  /// skip an unreadable one.
  void for_each(const std::string& family,
                const std::function<void(std::string_view, std::string_view)>& entry);
  /// Reads every entry whose key begins with prefix, in key order, and holds the keys behind the
  /// prefix against expected (ascending): entry for each value that could be read, bad for each
  /// that could not, is missing or is not expected. One unreadable value does not hide the next.
  using Bad = std::function<void(std::string_view key, const std::string& what)>;
  void scan(const std::string& family, const std::string& prefix,
            const std::vector<std::string>& expected,
            const std::function<void(std::string_view key, const std::string& value)>& entry,
            const Bad& bad);

  /// Drops the table files whose keys all lie in [begin, end): frees space, nothing more.
  void drop_files(const std::string& family, const std::string& begin, const std::string& end);

  /// Reads every file, then merges what is layered. Never runs by itself.
  void compact();
  /// The same for a family whose layers have become many; called before a write.
  void compact_where_layered();
  /// Bytes of the SST files, by column family; every family is there.
  [[nodiscard]] std::map<std::string, std::uint64_t> disk_parts();
  /// RocksDB's own checks: every block, every file.
  void verify_files(const std::function<void(const Fault&)>& fault);

  /// "the store 'DIR' is damaged (detail): what to do".
  [[nodiscard]] StoreError damaged(const std::string& detail) const;
  /// The same where it cannot even be opened, so that somatlas verify would say no more.
  [[nodiscard]] StoreError damaged_whole(const std::string& detail) const;
  /// Throws StoreError where the directory was opened for reading.
  void require_writable() const;

 private:
  friend class RocksIngestion;
  static constexpr const char* meta_family = "meta";
  // Waits of 2, 4 ... 128 ms between them: a quarter of a second in all.
  static constexpr int open_attempts = 8;

  RocksDirectory(std::string directory, RocksLayout layout)
      : directory_(std::move(directory)), called_(directory_), layout_(std::move(layout)) {}

  void require_present() const;
  void require_right(int right, const char* done) const;
  void create_where_absent();
  void remove_where_left_new();
  void build_new(const std::string& at);
  void open_checked(bool writable);
  void connect(bool writable);
  void check_format();
  void close();
  void clear_incoming();
  void clear_logs();
  void compact_verified(rocksdb::ColumnFamilyHandle* handle);
  [[nodiscard]] rocksdb::DBOptions database_options() const;
  [[nodiscard]] rocksdb::ColumnFamilyOptions family_options(const std::string& family) const;
  [[nodiscard]] std::vector<std::string> family_names() const;
  [[nodiscard]] rocksdb::ColumnFamilyHandle* family(const std::string& name) const;
  [[nodiscard]] std::string incoming() const { return directory_ + "/incoming"; }
  [[nodiscard]] std::string name() const { return "the " + layout_.kind + " '" + called_ + "'"; }
  [[nodiscard]] StoreError not_made(const std::string& why, const std::string& remedy) const;
  /// What to do where the system refuses something: by its words, which RocksDB passes on.
  [[nodiscard]] static std::string remedy_of(const std::string& status);
  /// Turns a failed status into a StoreError; does nothing where it is ok.
  void check(const rocksdb::Status& status, const char* doing) const;

  std::string directory_;
  std::string called_;  // in messages: the name that it gets when it is whole
  RocksLayout layout_;
  bool writable_ = false;
  bool left_new_ = false;     // made by this object, and nothing was put yet
  std::optional<std::filesystem::perms> folder_before_;  // which was there, empty
  std::string first_made_;    // of the folders above it that were made; empty: none
  std::unique_ptr<rocksdb::Env> files_ = make_careful_files();
  std::unique_ptr<rocksdb::DB> db_;
  std::map<std::string, rocksdb::ColumnFamilyHandle*> handles_;
};

/// Of all families' bytes.
[[nodiscard]] std::uint64_t sum_of(const std::map<std::string, std::uint64_t>& parts);

/// One atomic write. Keys of a family come in strictly ascending order; families in any, also from
/// several threads, one each. What is not committed leaves no trace; what was, is durable.
class RocksIngestion {
 public:
  explicit RocksIngestion(RocksDirectory& directory);
  ~RocksIngestion();
  RocksIngestion(const RocksIngestion&) = delete;
  RocksIngestion& operator=(const RocksIngestion&) = delete;

  void put(const std::string& family, std::string_view key, std::string_view value);
  void merge(const std::string& family, std::string_view key, std::string_view value);
  void erase(const std::string& family, std::string_view key);
  void commit();

 private:
  struct File {
    std::string path;
    rocksdb::ExternalSstFileInfo info;
  };
  struct Family {
    std::unique_ptr<rocksdb::SstFileWriter> writer;
    std::vector<File> files;
    bool open = false;
  };
  Family& family_of(const std::string& name);
  rocksdb::SstFileWriter& writer(const std::string& family);
  void finish(Family& family);

  RocksDirectory& directory_;
  std::mutex mutex_;  // of the map, not of the families in it
  std::map<std::string, Family> families_;
};

}  // namespace somatlas::store
