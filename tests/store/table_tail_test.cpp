// The tail of a table file, every byte of it changed: what RocksDB would believe is refused before
// it looks, and nothing that is let through ends the process.
#include "store/table_tail.h"

#include <gtest/gtest.h>
#include <rocksdb/sst_file_reader.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "store/careful_files.h"
#include "store/shard_merge_operator.h"
#include "store/store.h"
#include "tests/repetitions.h"
#include "tests/store/child_process.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {

namespace fs = std::filesystem;

namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Changes bytes of a file in place.
void write_at(const std::string& path, std::size_t at, std::string_view bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush())
    throw std::runtime_error("cannot change " + path);
}

/// The table files of a small store, one of each family at least.
std::vector<std::string> make_tables(const std::string& path) {
  Random random(test_seed());
  {
    const auto store = Store::open(path, Store::Access::create);
    const PlainFile file = random_file(random, baseline_key(1), 3, 20);
    store->commit(deltas_of(file), entry_of(file));
    store->put_descriptors(std::vector{DescriptorEntry{descriptor_code(6801, 6), "Humans", {}}});
  }
  std::vector<std::string> tables;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".sst")
      tables.push_back(entry.path());
  std::sort(tables.begin(), tables.end());
  return tables;
}

/// Where its properties begin: the first byte of the properties' first name lies 3 behind.
std::size_t properties_at(const std::string& table) {
  const std::size_t name = table.find("rocksdb.block.based.table.index.type");
  if (name == std::string::npos)
    throw std::runtime_error("no properties");
  return name - 3;
}

/// All that RocksDB reads of a table: its entries, behind every checksum. Throws StoreError.
std::string read_table(const std::string& path, rocksdb::Env* files) {
  const auto require = [](const rocksdb::Status& status) {
    if (!status.ok())
      throw StoreError(status.ToString());
  };
  rocksdb::Options options;
  options.env = files;
  options.merge_operator = shard_merge_operator();
  rocksdb::SstFileReader reader(options);
  require(reader.Open(path));
  require(reader.VerifyChecksum());
  std::string all;
  const std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(rocksdb::ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next())
    all += it->key().ToString() + it->value().ToString();
  require(it->status());
  return all;
}

}  // namespace

int read_changed_tables(const std::string& directory, unsigned long long seed,
                        unsigned long long values) {
  Random random(seed);
  const auto files = make_careful_files();
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string path = entry.path();
    const std::string whole = bytes_of(path);
    const std::string expected = read_table(path, files.get());
    std::size_t refused = 0;
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (unsigned long long i = 0; i < values; ++i) {
        const auto mask = static_cast<char>(1 + draw(random, 255));
        const std::string where = path + ", byte " + std::to_string(at) + " of " +
                                  std::to_string(whole.size()) + ", mask " + std::to_string(mask);
        // Said beforehand: the last line is the one that ended this process.
        std::printf("\n%s", where.c_str());
        std::fflush(stdout);
        write_at(path, at, std::string(1, static_cast<char>(whole[at] ^ mask)));
        try {
          if (read_table(path, files.get()) != expected)
            std::printf(": CHANGED");
        } catch (const StoreError&) {
          ++refused;
        }
        write_at(path, at, whole.substr(at, 1));
      }
    std::printf("\n%zu of %llu refused", refused, whole.size() * values);
  }
  return 0;
}

namespace {

/// A file in memory.
class MemoryFile : public rocksdb::FSRandomAccessFile {
 public:
  explicit MemoryFile(const std::string& bytes) : bytes_(bytes) {}
  rocksdb::IOStatus Read(std::uint64_t at, std::size_t count, const rocksdb::IOOptions&,
                         rocksdb::Slice* got, char*, rocksdb::IODebugContext*) const override {
    const std::size_t begin = std::min<std::size_t>(at, bytes_.size());
    *got = rocksdb::Slice(bytes_.data() + begin, std::min(count, bytes_.size() - begin));
    return rocksdb::IOStatus::OK();
  }

 private:
  const std::string& bytes_;
};

rocksdb::IOStatus check(const std::string& bytes) {
  return check_table_tail(MemoryFile(bytes), bytes.size(), "a table");
}

TEST(TableTail, AnyChangeOfWhatRocksDbBelievesIsRefused) {
  const TemporaryDirectory directory;
  for (const std::string& path : make_tables(directory / "store")) {
    std::string bytes = bytes_of(path);
    ASSERT_TRUE(check(bytes).ok()) << check(bytes).ToString();
    const std::size_t footer = bytes.size() - 53;
    std::size_t let_through = 0;
    for (std::size_t at = properties_at(bytes); at < bytes.size(); ++at) {
      // The index's place, which RocksDB holds against a checksum, and zeros that nobody reads.
      const bool index_or_zeros = at >= footer + 4 && at < footer + 41;
      const char right = bytes[at];
      for (int mask = 1; mask < 256; ++mask) {
        bytes[at] = static_cast<char>(right ^ mask);
        const rocksdb::IOStatus status = check(bytes);
        ASSERT_TRUE(status.IsCorruption() || (index_or_zeros && status.ok()))
            << at << " of " << bytes.size() << ": " << status.ToString();
        let_through += status.ok() ? 1 : 0;
      }
      bytes[at] = right;
    }
    EXPECT_LT(let_through, 37U * 255U);
  }
}

TEST(TableTail, OneThatIsCutShortIsRefused) {
  const TemporaryDirectory directory;
  std::string bytes = bytes_of(make_tables(directory / "store").front());
  while (!bytes.empty()) {
    bytes.pop_back();
    EXPECT_TRUE(check(bytes).IsCorruption()) << bytes.size();
  }
}

// In a process of its own, which RocksDB's assertions would end.
TEST(TableTail, NoChangeOfATableEndsTheProcess) {
  const TemporaryDirectory directory;
  fs::create_directory(directory / "tables");
  for (const std::string& path : make_tables(directory / "store"))
    fs::copy(path, directory / "tables");
  ChildProcess child =
      start_child({read_changed_tables_argument, directory / "tables",
                   std::to_string(test_seed() % 1'000'000), std::to_string(repetitions(4, 100))});
  const std::string said = drain(child);
  int status = 0;
  ::waitpid(child.id, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << said.substr(said.rfind('\n') + 1);
  EXPECT_EQ(said.find("CHANGED"), std::string::npos);
  for (std::size_t at = said.find(" refused"); at != std::string::npos;
       at = said.find(" refused", at + 1))
    std::cout << said.substr(said.rfind('\n', at) + 1, at - said.rfind('\n', at)) << "refused\n";
}

}  // namespace
}  // namespace somatlas::store
