// The store: commits, reopening, files taken again, the ledger and its state id, and what is
// refused.
#include "store/store.h"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;
using Access = Store::Access;

void take(Store& store, const PlainFile& file) {
  store.commit(deltas_of(file), entry_of(file));
}

using PlainStore = std::map<std::uint32_t, PlainRows>;

void take(PlainStore& store, const PlainFile& file) {
  for (const auto& [range, rows] : file.ranges)
    merge_rows(store[range], rows);
}

void expect_equal(Store& store, const PlainStore& plain) {
  std::vector<std::uint32_t> ranges;
  for (const auto& [range, rows] : plain)
    ranges.push_back(range);
  ASSERT_EQ(store.ranges(), ranges);
  for (const auto& [range, rows] : plain)
    ASSERT_EQ(to_rows(store.shard(range).value()), rows) << "range " << range;
}

void expect_sound(Store& store) {
  store.verify([](const Fault& fault) { ADD_FAILURE() << fault.where << ": " << fault.what; });
}

TEST(Store, KeepsWhatWasCommitted) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  const std::string path = directory / "deep/er/store";
  PlainStore plain;
  std::vector<LedgerEntry> ledger;
  std::string id;
  std::string state;
  {
    const auto store = Store::open(path, Access::create);
    EXPECT_TRUE(store->ranges().empty());
    EXPECT_TRUE(store->ledger().empty());
    EXPECT_EQ(store->shard(0), std::nullopt);
    id = store->id();
    EXPECT_EQ(id.size(), 32U);
    for (std::uint64_t number = 1; number <= 12; ++number) {
      const PlainFile file = random_file(random, baseline_key(number), 5, 60);
      take(*store, file);
      take(plain, file);
      ledger.push_back(entry_of(file));
      ASSERT_NO_FATAL_FAILURE(expect_equal(*store, plain));
    }
    EXPECT_EQ(store->ledger(), ledger);
    state = store->state_id();
    expect_sound(*store);
  }
  {
    const auto store = Store::open(path + "/", Access::read);
    ASSERT_NO_FATAL_FAILURE(expect_equal(*store, plain));
    EXPECT_EQ(store->ledger(), ledger);
    EXPECT_EQ(store->ledger_entry(baseline_key(3)), ledger[2]);
    EXPECT_EQ(store->ledger_entry(baseline_key(99)), std::nullopt);
    EXPECT_EQ(store->id(), id);
    EXPECT_EQ(store->state_id(), state);
    EXPECT_GT(store->disk_bytes(), 0U);
    expect_sound(*store);
    EXPECT_THROW(store->commit(std::span<const Shard>{}, ledger[0]), StoreError);
    EXPECT_THROW(store->compact(), StoreError);
    EXPECT_THROW(store->put_descriptors({}), StoreError);
  }
  {
    const auto store = Store::open(path, Access::create);  // what exists is opened
    store->compact();
    ASSERT_NO_FATAL_FAILURE(expect_equal(*store, plain));
    EXPECT_EQ(store->state_id(), state);
    expect_sound(*store);
  }
}

TEST(Store, GivesTheSameStateInAnyOrderOfFiles) {
  Random random(test_seed());
  std::vector<PlainFile> files;
  for (std::uint64_t number = 1; number <= 8; ++number)
    files.push_back(random_file(random, baseline_key(number), 3, 40));
  PlainStore plain;
  for (const PlainFile& file : files)
    take(plain, file);
  std::string state;
  std::string id;
  for (int order = 0; order < 3; ++order) {
    const TemporaryDirectory directory;
    const auto store = Store::open(directory / "store", Access::create);
    for (std::size_t i = 0; i < files.size(); ++i) {
      LedgerEntry entry = entry_of(files[i]);
      entry.taken_at += static_cast<std::int64_t>(i) * (order + 1);
      EXPECT_NE(store->state_id(), state);
      store->commit(deltas_of(files[i]), entry);
    }
    ASSERT_NO_FATAL_FAILURE(expect_equal(*store, plain));
    if (order > 0) {
      EXPECT_EQ(store->state_id(), state);
      EXPECT_NE(store->id(), id);
    }
    state = store->state_id();
    id = store->id();
    std::shuffle(files.begin(), files.end(), random);
  }
}

TEST(Store, LaysAFileTakenAgainOverItsOldText) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  PlainStore plain;
  auto store = Store::open(directory / "store", Access::create);
  const PlainFile other = random_file(random, baseline_key(2), 6, 50);
  const PlainFile old_text = random_file(random, baseline_key(1), 6, 50);
  const PlainFile new_text = random_file(random, baseline_key(1), 6, 50);
  for (const PlainFile& file : {old_text, other}) {
    take(*store, file);
    take(plain, file);
  }
  const std::string state = store->state_id();
  LedgerEntry entry = entry_of(new_text);
  const LedgerEntry earlier = store->ledger_entry(new_text.key).value();
  entry.earlier_citations = earlier.citations + earlier.earlier_citations;
  entry.earlier_left_out = earlier.earlier_left_out;
  for (const std::uint64_t count : earlier.left_out)
    entry.earlier_left_out += count;
  store->commit(deltas_of(new_text), entry);
  take(plain, new_text);
  for (int opening = 0; opening < 2; ++opening) {
    ASSERT_NO_FATAL_FAILURE(expect_equal(*store, plain));
    EXPECT_EQ(store->ledger(), (std::vector<LedgerEntry>{entry, entry_of(other)}));
    EXPECT_NE(store->state_id(), state);
    expect_sound(*store);
    store.reset();
    store = Store::open(directory / "store", Access::read);
  }
}

TEST(Store, MergesManyLayersWithAndWithoutCompaction) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  PlainStore plain;
  const auto store = Store::open(directory / "store", Access::create);
  for (std::uint64_t number = 1; number <= 60; ++number) {
    const PlainFile file = random_file(random, baseline_key(draw(random, 1'000'000)), 3, 30);
    if (store->ledger_entry(file.key))
      continue;
    take(*store, file);
    take(plain, file);
    if (number == 30)
      store->compact();
  }
  ASSERT_NO_FATAL_FAILURE(expect_equal(*store, plain));
  store->compact();
  ASSERT_NO_FATAL_FAILURE(expect_equal(*store, plain));
  expect_sound(*store);
  EXPECT_TRUE(fs::is_empty(directory / "store/incoming"));
}

TEST(Store, KeepsDescriptorsInUiOrder) {
  const TemporaryDirectory directory;
  const DescriptorEntry a{descriptor_code(68036, 9), "Name A", {}};
  const DescriptorEntry b{descriptor_code(9369, 6), "Neoplasms", {"C04"}};
  const DescriptorEntry c{descriptor_code(6801, 6), "Humans", {"B01.050", ""}};
  {
    const auto store = Store::open(directory / "store", Access::create);
    store->put_descriptors(std::vector{b, c});
    const DescriptorEntry renamed{b.code, "Old name", {"C04", "C05"}};
    store->put_descriptors(std::vector{a, renamed});
    store->put_descriptors(std::vector{renamed, b});
    store->put_descriptors({});
    expect_sound(*store);
  }
  const auto store = Store::open(directory / "store", Access::read);
  EXPECT_EQ(store->descriptors(), (std::vector{a, c, b}));
  const DescriptorEntry none{descriptor_code(1'000'000, 6), "no UI", {}};
  EXPECT_THROW(Store::open(directory / "store", Access::write)->put_descriptors({&none, 1}),
               StoreError);
}

TEST(Store, RefusesDeltasThatAreNotTheFiles) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  const auto store = Store::open(directory / "store", Access::create);
  PlainFile file = random_file(random, baseline_key(1), 1, 10);
  file.ranges[0] = random_rows(random, {file.key}, 5, 100);
  file.ranges[1] = file.ranges[0];
  std::vector<Shard> deltas = deltas_of(file);
  std::swap(deltas[0], deltas[1]);
  EXPECT_THROW(store->commit(deltas, entry_of(file)), StoreError);
  LedgerEntry other = entry_of(file);
  other.key = baseline_key(2);
  EXPECT_THROW(store->commit(deltas_of(file), other), StoreError);
  EXPECT_TRUE(store->ledger().empty());
  EXPECT_TRUE(store->ranges().empty());
}

TEST(Store, LetsOneProcessWrite) {
  const TemporaryDirectory directory;
  auto writer = Store::open(directory / "store", Access::create);
  for (const Access access : {Access::write, Access::create}) {
    const std::string message =
        store_error_of([&] { (void)Store::open(directory / "store", access); });
    EXPECT_NE(message.find("in use by another process"), std::string::npos) << message;
  }
  EXPECT_NO_THROW((void)Store::open(directory / "store", Access::read));
  writer.reset();
  EXPECT_NO_THROW((void)Store::open(directory / "store", Access::write));
}

/// A second view of a directory in which nothing can be written, not even by root.
class ReadOnlyView {
 public:
  ReadOnlyView(const std::string& of, const std::string& at) : at_(at) {
    fs::create_directory(at);
    mounted_ = ::mount(of.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) == 0;
    read_only_ = mounted_ && ::mount(nullptr, at.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY,
                                     nullptr) == 0;
  }
  ~ReadOnlyView() {
    if (mounted_)
      ::umount2(at_.c_str(), MNT_DETACH);
  }
  ReadOnlyView(const ReadOnlyView&) = delete;
  ReadOnlyView& operator=(const ReadOnlyView&) = delete;
  [[nodiscard]] bool read_only() const { return read_only_; }

 private:
  std::string at_;
  bool mounted_ = false;
  bool read_only_ = false;
};

TEST(Store, IsReadWhereNothingCanBeWritten) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  PlainStore plain;
  {
    const auto store = Store::open(directory / "store", Access::create);
    const PlainFile file = random_file(random, baseline_key(1), 3, 40);
    take(*store, file);
    take(plain, file);
  }
  const std::string path = directory / "view";
  const ReadOnlyView view(directory / "store", path);
  if (!view.read_only())
    GTEST_SKIP() << "this process may not mount a read-only view of a directory";
  {
    const auto store = Store::open(path, Access::read);
    ASSERT_NO_FATAL_FAILURE(expect_equal(*store, plain));
    expect_sound(*store);
  }
  const std::string message = store_error_of([&] { (void)Store::open(path, Access::write); });
  EXPECT_NE(message.find(path), std::string::npos) << message;
  EXPECT_NE(message.find("cannot be written"), std::string::npos) << message;
}

TEST(Store, UnlinksWhatAKilledRunLeft) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  const std::string path = directory / "store";
  PlainStore plain;
  const PlainFile file = random_file(random, baseline_key(1), 3, 40);
  {
    const auto store = Store::open(path, Access::create);
    take(*store, file);
    take(plain, file);
  }
  // A leftover that is a second name of a table, as a kill in the middle of an ingestion leaves it.
  int linked = 0;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.path().extension() == ".sst")
      fs::create_hard_link(entry.path(), path + "/incoming/ingest-" + std::to_string(linked++));
  ASSERT_GT(linked, 0);
  std::ofstream(path + "/incoming/ingest-cut.sst") << "half a file";
  (void)Store::open(path, Access::read);
  EXPECT_FALSE(fs::is_empty(path + "/incoming"));
  const auto store = Store::open(path, Access::write);
  EXPECT_TRUE(fs::is_empty(path + "/incoming"));
  ASSERT_NO_FATAL_FAILURE(expect_equal(*store, plain));
  expect_sound(*store);
}

TEST(Store, IsReadFromSeveralThreads) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  PlainStore plain;
  {
    const auto store = Store::open(directory / "store", Access::create);
    for (std::uint64_t number = 1; number <= 6; ++number) {
      const PlainFile file = random_file(random, baseline_key(number), 8, 80);
      take(*store, file);
      take(plain, file);
    }
  }
  const auto store = Store::open(directory / "store", Access::read);
  std::vector<std::jthread> threads;
  std::array<bool, 4> equal{};
  for (std::size_t t = 0; t < equal.size(); ++t)
    threads.emplace_back([&, t] {
      equal[t] = true;
      for (const auto& [range, rows] : plain)
        equal[t] = equal[t] && to_rows(store->shard(range).value()) == rows;
    });
  threads.clear();
  EXPECT_EQ(equal, (std::array<bool, 4>{true, true, true, true}));
}

}  // namespace
}  // namespace somatlas::store
