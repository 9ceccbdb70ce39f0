// A write as table files of unique names, ingested into all column families in one atomic step.
// Always holds: names are never used twice and files never truncated, so a kill at any point leaves
// either everything or files that the next opening unlinks.
#include <filesystem>
#include <system_error>
#include <utility>

#include "store/publish.h"
#include "store/rocks_directory.h"
#include "store/store_error.h"

namespace somatlas::store {
namespace {

// A family's write is cut into files of this size, which bounds what one compaction has to take.
constexpr std::uint64_t file_bytes_limit = std::uint64_t{128} << 20;

rocksdb::Slice slice(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

RocksIngestion::RocksIngestion(RocksDirectory& directory) : directory_(directory) {
  directory.require_writable();
  directory.compact_where_layered();
}

RocksIngestion::~RocksIngestion() {
  std::error_code ignored;
  for (auto& [name, family] : families_) {
    family.writer.reset();
    for (const File& file : family.files)
      std::filesystem::remove(file.path, ignored);
  }
}

RocksIngestion::Family& RocksIngestion::family_of(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return families_[name];
}

rocksdb::SstFileWriter& RocksIngestion::writer(const std::string& name) {
  Family& family = family_of(name);
  if (family.open && family.writer->FileSize() >= file_bytes_limit)
    finish(family);
  if (!family.open) {
    rocksdb::ColumnFamilyHandle* const handle = directory_.family(name);
    family.writer = std::make_unique<rocksdb::SstFileWriter>(
        rocksdb::EnvOptions(), directory_.db_->GetOptions(handle), handle);
    family.files.push_back({unique_name(directory_.incoming() + "/ingest-") + ".sst", {}});
    directory_.check(family.writer->Open(family.files.back().path), "be written");
    family.open = true;
  }
  return *family.writer;
}

void RocksIngestion::finish(Family& family) {
  directory_.check(family.writer->Finish(&family.files.back().info), "be written");
  family.writer.reset();
  family.open = false;
}

void RocksIngestion::put(const std::string& family, std::string_view key, std::string_view value) {
  directory_.check(writer(family).Put(slice(key), slice(value)), "be written");
}

void RocksIngestion::merge(const std::string& family, std::string_view key,
                           std::string_view value) {
  directory_.check(writer(family).Merge(slice(key), slice(value)), "be written");
}

void RocksIngestion::erase(const std::string& family, std::string_view key) {
  directory_.check(writer(family).Delete(slice(key)), "be written");
}

void RocksIngestion::commit() {
  std::vector<rocksdb::IngestExternalFileArg> args;
  for (auto& [name, family] : families_) {
    if (family.open)
      finish(family);
    rocksdb::IngestExternalFileArg arg;
    arg.column_family = directory_.family(name);
    arg.options.move_files = true;
    arg.options.write_global_seqno = false;  // a table file is never written again
    arg.options.verify_file_checksum = true;
    for (const File& file : family.files) {
      arg.external_files.push_back(file.path);
      arg.files_checksums.push_back(file.info.file_checksum);
      arg.files_checksum_func_names.push_back(file.info.file_checksum_func_name);
    }
    args.push_back(std::move(arg));
  }
  if (args.empty())
    return;
  directory_.left_new_ = false;
  directory_.check(directory_.db_->IngestExternalFiles(args), "be written");
}

}  // namespace somatlas::store
