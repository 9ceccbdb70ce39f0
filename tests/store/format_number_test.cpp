// Stores, atlases and shards of another format number: refused with what to do, and left alone.
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "store/atlas.h"
#include "store/frame.h"
#include "store/store.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;

/// Puts one entry into meta with RocksDB alone.
void put_meta(const std::string& path, const std::string& key, const std::string& value) {
  std::vector<std::string> names;
  ASSERT_TRUE(rocksdb::DB::ListColumnFamilies({}, path, &names).ok());
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names)
    descriptors.emplace_back(name, rocksdb::ColumnFamilyOptions());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, path, descriptors, &handles, &db).ok());
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    if (handle->GetName() == "meta") {
      ASSERT_TRUE(db->Put({}, handle, key, value).ok());
      ASSERT_TRUE(db->Flush({}, handle).ok());
    }
    db->DestroyColumnFamilyHandle(handle);
  }
  delete db;
}

/// Name and content of every file, to see whether an opening changed anything.
std::map<std::string, std::string> content_of(const std::string& path) {
  std::map<std::string, std::string> content;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    std::string& text = content[entry.path().string()];
    if (entry.is_regular_file()) {
      std::ifstream file(entry.path(), std::ios::binary);
      text.assign(std::istreambuf_iterator<char>(file), {});
    }
  }
  return content;
}

template <typename Kind>
void expect_refused(const std::string& path, const std::string& format, const std::string& text) {
  ASSERT_NO_FATAL_FAILURE(put_meta(path, "format", format));
  const auto before = content_of(path);
  for (const auto access : {Kind::Access::read, Kind::Access::write, Kind::Access::create}) {
    const std::string message = store_error_of([&] { (void)Kind::open(path, access); });
    EXPECT_NE(message.find(text), std::string::npos) << message;
  }
  // What may be a writer's doing is looked at again for 254 ms; this is nobody's. A machine with
  // other things to do may take as long for a single look.
  bool at_once = false;
  for (int i = 0; i < 20 && !at_once; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    (void)store_error_of([&] { (void)Kind::open(path, Kind::Access::read); });
    at_once = std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(254);
  }
  EXPECT_TRUE(at_once);
  EXPECT_EQ(content_of(path), before);
}

TEST(Formats, AStoreOfAnotherNumberIsLeftAlone) {
  const TemporaryDirectory directory;
  const std::string path = directory / "store";
  (void)Store::open(path, Store::Access::create);
  for (const std::uint32_t other : {store_format - 1, store_format + 1})
    expect_refused<Store>(path, "store " + std::to_string(other),
                          "the store '" + path + "' has format number " + std::to_string(other) +
                              " and this program reads " + std::to_string(store_format) +
                              ": make it again with somatlas ingest, or use the program that made "
                              "it");
  expect_refused<Store>(path, "atlas 1", "is not a somatlas store");
}

TEST(Formats, AnAtlasOfAnotherNumberIsLeftAlone) {
  const TemporaryDirectory directory;
  const std::string path = directory / "atlas";
  (void)Atlas::open(path, Atlas::Access::create);
  for (const std::uint32_t other : {atlas_format - 1, atlas_format + 1})
    expect_refused<Atlas>(path, "atlas " + std::to_string(other),
                          "the atlas '" + path + "' has format number " + std::to_string(other) +
                              " and this program reads " + std::to_string(atlas_format) +
                              ": make it again with somatlas train, or use the program that made "
                              "it");
  expect_refused<Atlas>(path, "store 1", "is not a somatlas atlas");
}

TEST(Formats, AShardOfAnotherNumberIsNotDecoded) {
  Random random(test_seed());
  const Shard shard = to_shard(3, random_rows(random, {baseline_key(1)}, 30, 90));
  constexpr std::size_t limit = std::size_t{1} << 20;
  const std::string content = open_frame({"SOMS", shard_format, limit}, encode(shard)).content;
  ASSERT_EQ(decode(seal_frame({"SOMS", shard_format, limit}, 3, content)), shard);
  for (const std::uint32_t other : {shard_format - 1, shard_format + 1}) {
    const std::string message = store_error_of([&] {
      (void)decode(seal_frame({"SOMS", other, limit}, 3, content));
    });
    EXPECT_EQ(message, "it has format number " + std::to_string(other) +
                           " where this program has " + std::to_string(shard_format));
  }
}

TEST(Formats, AValueThatIsNoListOfChangesIsFound) {
  const TemporaryDirectory directory;
  const std::string path = directory / "store";
  const DescriptorCode one = descriptor_code(1, 6);
  const DescriptorCode two = descriptor_code(2, 6);
  const std::vector<MeshChangeList> circle{
      {"list", "", 0, {{MeshChangeKind::merged, one, "a", two, "b"}}},
      {"list", "", 0, {{MeshChangeKind::merged, two, "b", one, "a"}}}};
  (void)Store::open(path, Store::Access::create);
  for (const std::string& value : {std::string("no list"), encode_mesh_changes("another key", {}),
                                   encode_mesh_changes("mesh_changes", circle)}) {
    ASSERT_NO_FATAL_FAILURE(put_meta(path, "mesh_changes", value));
    const auto store = Store::open(path, Store::Access::read);
    const std::string message = store_error_of([&] { (void)store->shard(0); });
    EXPECT_EQ(message, store_error_of([&] { (void)store->state_id(); }));
    EXPECT_NE(message.find("is damaged (its changes of descriptors: "), std::string::npos)
        << message;
    bool found = false;
    store->verify([&](const Fault& fault) {
      found = found || fault.where == path + ", changes of descriptors";
    });
    EXPECT_TRUE(found);
  }
}

TEST(Formats, ReadingAStoreChangesNothing) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  const std::string path = directory / "store";
  {
    const auto store = Store::open(path, Store::Access::create);
    const PlainFile file = random_file(random, baseline_key(1), 3, 40);
    store->commit(deltas_of(file), entry_of(file));
  }
  const auto before = content_of(path);
  const auto store = Store::open(path, Store::Access::read);
  store->verify([](const Fault& fault) { ADD_FAILURE() << fault.where << ": " << fault.what; });
  EXPECT_EQ(store->ledger().size(), 1U);
  EXPECT_EQ(content_of(path), before);
}

}  // namespace
}  // namespace somatlas::store
