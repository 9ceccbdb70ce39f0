// Entry words: what comes back, what a later table replaces, what lists of changes make of them,
// and that no changed byte of them is taken for sound.
#include "store/entry_words.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "store/atlas.h"
#include "store/rocks_store.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

using Words = std::vector<EntryWords>;

DescriptorCode code_of(std::uint64_t number) {
  return descriptor_code(static_cast<std::uint32_t>(number), number % 2 == 0 ? 6 : 9);
}

/// In any order, some without words.
Words random_words(Random& random, std::size_t descriptors) {
  std::map<DescriptorCode, std::vector<std::string>> words_of;
  while (words_of.size() < descriptors) {
    std::vector<std::string>& words = words_of[code_of(draw(random, 4 * descriptors))];
    words.clear();
    for (std::uint64_t n = draw(random, 5); n > 0; --n) {
      std::string& word = words.emplace_back();
      for (std::uint64_t length = draw(random, 60); length > 0; --length)
        word.push_back(static_cast<char>(draw(random, 256)));
    }
  }
  Words entries;
  for (auto& [code, words] : words_of)
    entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(draw(random, entries.size() + 1)),
                   {code, std::move(words)});
  return entries;
}

/// Later over earlier, without those that have no words.
Words put_over(const std::vector<Words>& parts) {
  std::map<DescriptorCode, std::vector<std::string>> words_of;
  for (const Words& part : parts)
    for (const EntryWords& entry : part)
      words_of[entry.code] = entry.words;
  Words entries;
  for (const auto& [code, words] : words_of)
    if (!words.empty())
      entries.push_back({code, words});
  return entries;
}

std::vector<std::string> faults_of(auto& directory) {
  std::vector<std::string> where;
  directory.verify([&](const Fault& fault) { where.push_back(fault.where); });
  return where;
}

TEST(EntryWords, ComeBackAndNoChangedByteIsTaken) {
  Random random(test_seed());
  for (const std::size_t descriptors : {0, 1, 40}) {
    const Words entries = put_over({random_words(random, descriptors)});
    const std::string value = encode_entry_words(entries);
    EXPECT_EQ(decode_entry_words(value), entries);
    for (std::size_t at = 0; at < value.size(); ++at) {
      std::string changed = value;
      changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1 + draw(random, 255)));
      EXPECT_THROW((void)decode_entry_words(changed), StoreError) << at;
      EXPECT_THROW((void)decode_entry_words(value.substr(0, at)), StoreError) << at;
    }
  }
  EXPECT_THROW((void)encode_entry_words(Words{{code_of(2), {"b"}}, {code_of(2), {"a"}}}),
               StoreError);
}

TEST(EntryWords, OfAStoreAreReplacedDescriptorByDescriptor) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  std::vector<Words> put;
  {
    const auto store = Store::open(directory / "store", Store::Access::create);
    EXPECT_EQ(store->entry_words(), Words{});
    const std::string state = store->state_id();
    const DescriptorEntry humans{descriptor_code(6801, 6), "Humans", {"B01"}};
    for (int table = 0; table < 4; ++table) {
      put.push_back(random_words(random, 30));
      store->put_descriptors({&humans, 1}, put.back());
      store->put_descriptors(std::vector{humans});
      EXPECT_EQ(store->entry_words(), put_over(put));
    }
    EXPECT_EQ(store->descriptors(), std::vector{humans});
    EXPECT_EQ(store->state_id(), state);
    store->compact();
    EXPECT_EQ(faults_of(*store), std::vector<std::string>{});
  }
  const auto store = Store::open(directory / "store", Store::Access::read);
  EXPECT_EQ(store->entry_words_as_filed(), put_over(put));
  EXPECT_THROW(store->put_descriptors({}, put.back()), StoreError);
}

TEST(EntryWords, FollowADescriptorToWhatItHasBecome) {
  const TemporaryDirectory directory;
  const auto store = Store::open(directory / "store", Store::Access::create);
  const Words filed{{code_of(2), {"two"}}, {code_of(4), {"four", "4"}}, {code_of(6), {"six"}}};
  store->put_descriptors({}, filed);
  store->put_mesh_changes(
      std::vector{MeshChangeList{"m",
                                 "1",
                                 7,
                                 {{MeshChangeKind::merged, code_of(2), "Two", code_of(4), "Four"},
                                  {MeshChangeKind::removed, code_of(6), "Six", 0, ""}}}});
  EXPECT_EQ(store->entry_words(), (Words{{code_of(4), {"four", "4", "two"}}}));
  EXPECT_EQ(store->entry_words_as_filed(), filed);
  store->put_mesh_changes({});
  EXPECT_EQ(store->entry_words(), filed);
}

TEST(EntryWords, ThatAreDamagedAreRefusedAndFoundByVerify) {
  const TemporaryDirectory directory;
  const Words words{{code_of(2), {"two"}}};
  const std::string another = "SOME, but none";
  Store::open(directory / "store", Store::Access::create)->put_descriptors({}, words);
  {
    const auto rocks = RocksDirectory::open(directory / "store", RocksDirectory::Access::write,
                                            RocksStore::layout());
    RocksIngestion ingestion(*rocks);
    ingestion.put("meta", entry_words_key, another);
    ingestion.commit();
  }
  const auto store = Store::open(directory / "store", Store::Access::read);
  EXPECT_THROW((void)store->entry_words(), StoreError);
  EXPECT_EQ(faults_of(*store), std::vector{(directory / "store") + ", entry words"});

  const auto atlas = Atlas::open(directory / "atlas", Atlas::Access::create);
  EXPECT_EQ(atlas->entry_words(), Words{});
  atlas->put_entry_words(words);
  EXPECT_EQ(atlas->entry_words(), words);
  EXPECT_EQ(faults_of(*atlas), std::vector<std::string>{});
  atlas->put_meta(entry_words_name, another);
  EXPECT_THROW((void)atlas->entry_words(), StoreError);
  EXPECT_EQ(faults_of(*atlas), std::vector{(directory / "atlas") + ", value 'named/entry_words'"});
}

}  // namespace
}  // namespace somatlas::store
