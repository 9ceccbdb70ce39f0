// One byte flipped anywhere in a store or an atlas: found when it is opened, read or verified, or
// harmless; never a silent change of what is read.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>

#include "store/atlas.h"
#include "store/atlas_codec.h"
#include "store/store.h"
#include "tests/repetitions.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;

/// Everything that can be read, as text; throws StoreError where something cannot.
std::string read_store(const std::string& path) {
  const auto store = Store::open(path, Store::Access::read);
  std::string all = store->id() + store->state_id();
  for (const LedgerEntry& entry : store->ledger())
    all += entry.key.name + entry.md5 + std::to_string(entry.taken_at);
  for (const DescriptorEntry& entry : store->descriptors())
    all += entry.name;
  for (const MeshChangeList& list : store->mesh_view()->lists())
    all += list.name + list.changes.at(0).old_name;
  for (const EntryWords& entry : store->entry_words())
    all += entry.words.at(0);
  for (const std::uint32_t range : store->ranges())
    all += encode(store->shard(range).value());
  return all;
}

std::string read_atlas(const std::string& path) {
  const auto atlas = Atlas::open(path, Atlas::Access::read);
  std::string all = atlas->meta("atlas").value() + atlas->meta("checkpoint").value();
  const auto add = [&](const auto& column) {
    for (const auto value : column)
      all += std::to_string(value) + " ";
  };
  for (const std::uint32_t range : atlas->assignment_ranges()) {
    const AssignmentShard shard = atlas->assignment(range).value();
    add(shard.low);
    add(shard.neuron);
    add(shard.fingerprint);
  }
  for (const std::uint32_t range : atlas->place_ranges()) {
    const PlaceShard shard = atlas->places(range).value();
    add(shard.low);
    add(shard.distance);
  }
  for (const AtlasDescriptor& descriptor : atlas->descriptors()) {
    all += descriptor.name + std::to_string(descriptor.articles);
    add(atlas->plane(descriptor.code).value());
  }
  const AtlasCells cells = atlas->cells();
  add(cells.norm);
  add(cells.leading);
  for (const std::vector<AtlasRegion>& level : cells.levels)
    for (const AtlasRegion& region : level)
      all += region.name + std::to_string(region.hits);
  for (std::uint32_t neuron = 0; neuron < cells.norm.size(); ++neuron)
    add(atlas->articles(neuron));
  return all;
}

int faults_of_store(const std::string& path) {
  int faults = 0;
  Store::open(path, Store::Access::read)->verify([&](const Fault& fault) {
    EXPECT_FALSE(fault.where.empty() || fault.what.empty());
    ++faults;
  });
  return faults;
}

int faults_of_atlas(const std::string& path) {
  int faults = 0;
  Atlas::open(path, Atlas::Access::read)->verify([&](const Fault&) { ++faults; });
  return faults;
}

/// Flips one byte of a copy, time after time, and looks at what is read then.
void rot(const std::string& whole, const std::string& copy, int flips,
         const std::function<std::string(const std::string&)>& read,
         const std::function<int(const std::string&)>& faults,
         const std::function<void(const std::string&)>& rewrite) {
  Random random(test_seed());
  const std::string expected = read(whole);
  ASSERT_EQ(faults(whole), 0);
  std::vector<fs::path> tables;
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(whole))
    if (entry.is_regular_file() && entry.file_size() > 0)
      (entry.path().extension() == ".sst" ? tables : others).push_back(entry.path());
  ASSERT_FALSE(tables.empty());
  std::map<std::string, int> outcomes;
  for (int i = 0; i < flips; ++i) {
    fs::remove_all(copy);
    fs::copy(whole, copy, fs::copy_options::recursive);
    const std::vector<fs::path>& files = i % 4 == 0 ? others : tables;
    const std::string name = files[draw(random, files.size())].filename().string();
    const auto offset = static_cast<std::streamoff>(draw(random, fs::file_size(copy + "/" + name)));
    const auto mask = static_cast<char>(1 + draw(random, 255));
    {
      std::fstream file(copy + "/" + name, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(offset);
      const auto byte = static_cast<char>(file.get() ^ mask);
      file.seekp(offset);
      file.put(byte);
    }
    const std::string where = name + ", byte " + std::to_string(offset);
    int found = 0;
    try {
      found = faults(copy);
    } catch (const StoreError& error) {
      ++outcomes["found when opened"];
      EXPECT_NE(std::string(error.what()).find(copy), std::string::npos) << error.what();
      continue;
    }
    try {
      ASSERT_EQ(read(copy) == expected, true) << "a silent change: " << where;
      ++outcomes[found > 0 ? "found by verify, read unharmed" : "harmless"];
    } catch (const StoreError& error) {
      ++outcomes["found when read"];
      EXPECT_GT(found, 0) << "verify missed " << where << ": " << error.what();
    }
    // Rewriting the files must not launder the damage into something that looks sound.
    try {
      rewrite(copy);
      ASSERT_EQ(read(copy) == expected, true) << "rewritten without an error: " << where;
    } catch (const StoreError&) {
    }
    if (name.ends_with(".sst")) {
      EXPECT_GT(found, 0) << "verify missed " << where;
    }
  }
  for (const auto& [outcome, count] : outcomes)
    std::cout << count << " " << outcome << "\n";
}

TEST(Rot, InAStoreIsFoundOrHarmless) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  {
    const auto store = Store::open(directory / "store", Store::Access::create);
    for (std::uint64_t number = 1; number <= 8; ++number) {
      const PlainFile file = random_file(random, baseline_key(number), 3, 250);
      store->commit(deltas_of(file), entry_of(file));
      if (number == 5)
        store->compact();
    }
    const DescriptorCode humans = descriptor_code(6801, 6);
    store->put_descriptors(std::vector{DescriptorEntry{humans, "Humans", {}}},
                           std::vector{EntryWords{humans, {"Homo sapiens"}}});
    const DescriptorCode cobra = descriptor_code(3040, 6);
    const MeshChange change{MeshChangeKind::merged, cobra, "Cobra Venoms", descriptor_code(4546, 6),
                            "Elapid Venoms"};
    store->put_mesh_changes(std::vector{MeshChangeList{"changes.tsv", "0", 1, {change}}});
  }
  rot(directory / "store", directory / "copy", repetitions(60, 300), read_store, faults_of_store,
      [](const std::string& path) { Store::open(path, Store::Access::write)->compact(); });
}

TEST(Rot, InAnAtlasIsFoundOrHarmless) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  {
    const auto atlas = Atlas::open(directory / "atlas", Atlas::Access::create);
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::uint32_t range = 0;
      atlas->put_checkpoint(
          [&]() -> std::optional<EncodedShard> {
            if (range == 3)
              return std::nullopt;
            return encoded(
                AssignmentShard{range++, {1, 2, 70}, {5, 6, 7}, {random(), random(), random()}});
          },
          "checkpoint", "epoch " + std::to_string(epoch));
    }
    atlas->put_placement([&](const PlacementSink& put) {
      put.places(encoded(PlaceShard{0, {3, 4}, {1, 2}, {2, 1}, {77, 78}}));
      for (std::uint32_t range = 0; range < 3; ++range)
        put.assignment(
            encoded(AssignmentShard{range, {1, 2, 70}, {5, 6, 7}, {random(), random(), random()}}));
      return true;
    });
    std::uint32_t number = 0;
    atlas->put_planes([&](AtlasDescriptor& descriptor, std::string& plane) {
      descriptor = {descriptor_code(++number, 6), "Name", {"A01"}, number};
      plane = encode_plane(descriptor.code,
                           std::vector<std::uint16_t>(9, static_cast<std::uint16_t>(number)));
      return number < 6;
    });
    atlas->put_cells({{1, 2},
                      {3, 4},
                      {0, 1},
                      {5, 6},
                      {7, 8},
                      {9, 10},
                      {11, 12},
                      std::vector<std::uint32_t>(10, 13),
                      {1, 0},
                      std::vector<std::uint16_t>(10, 14),
                      {0, 0},
                      2022,
                      {{{{"A region", 0, 2, 1, 11, 15, 19, 1, {{12, 7}}}},
                        {{"An area", 0, 2, 1, 11, 15, 19, 1, {}}},
                        {{"A continent", 0, 2, 1, 11, 15, 19, 1, {}}}}}});
    std::uint32_t cell = 0;
    atlas->put_articles([&]() -> std::optional<EncodedArticles> {
      if (cell == 2)
        return std::nullopt;
      return encoded(cell++, std::vector<std::uint32_t>{1, 2, 3});
    });
    atlas->put_meta("atlas", "{}");
  }
  rot(directory / "atlas", directory / "copy", repetitions(40, 200), read_atlas, faults_of_atlas,
      [](const std::string& path) { (void)Atlas::open(path, Atlas::Access::write); });
}

}  // namespace
}  // namespace somatlas::store
