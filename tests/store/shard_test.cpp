// The shard codec and the merge: round trips, damaged bytes, and a plain map as the merge's oracle.
#include "store/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "store/frame.h"
#include "store/varint.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

std::vector<FileKey> some_keys() {
  return {{0, 0, "notes.xml"}, baseline_key(1), baseline_key(1335), {27, 2, "pubmed27n0002.xml"}};
}

TEST(ShardCodec, RoundTripsRandomShards) {
  Random random(test_seed());
  for (int i = 0; i < 300; ++i) {
    const std::size_t rows = draw(random, i % 10 == 0 ? 3'000 : 40);
    const std::uint32_t span = i % 3 == 0 ? 65'536 : 4'000;
    const Shard shard = to_shard(static_cast<std::uint32_t>(draw(random, 65'536)),
                                 random_rows(random, some_keys(), rows, span));
    const std::string bytes = encode(shard);
    ASSERT_EQ(decode(bytes), shard);
    ASSERT_EQ(encode(decode(bytes)), bytes);
  }
}

TEST(ShardCodec, HoldsAFullRangeAndItsEdges) {
  PlainRows rows;
  for (std::uint32_t low = 0; low < pmids_per_shard; ++low) {
    PlainRow& row = rows[static_cast<std::uint16_t>(low)];
    row.key = baseline_key(7);
    row.year = static_cast<std::uint16_t>(low);
    row.version = std::numeric_limits<std::uint16_t>::max();
    row.records = std::numeric_limits<std::uint32_t>::max();
    row.descriptors = {{descriptor_code(0, 6), 1}, {descriptor_code(999'999'999, 9), 0}};
  }
  const Shard full = to_shard(65'535, rows);
  EXPECT_EQ(full.pmid(65'535), std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(decode(encode(full)), full);

  Shard empty;
  empty.offsets = {0};
  EXPECT_EQ(decode(encode(empty)), empty);
}

TEST(ShardCodec, FindsEveryFlippedByteAndEveryCut) {
  Random random(test_seed());
  const Shard shard = to_shard(3, random_rows(random, some_keys(), 25, 100));
  const std::string bytes = encode(shard);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int mask : {0x01, 0x80, 0xFF}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ mask);
      EXPECT_THROW((void)decode(changed), StoreError) << "byte " << i;
    }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW((void)decode(std::string_view(bytes).substr(0, size)), StoreError);
  EXPECT_THROW((void)decode(bytes + '\0'), StoreError);
}

// The same with a checksum that fits: what is behind it must be checked as if there were none.
TEST(ShardCodec, RefusesOrReadsWholeWhatHasAFittingChecksum) {
  Random random(test_seed());
  const FrameKind kind{"SOMS", shard_format, std::size_t{1} << 30};
  const Shard shard = to_shard(3, random_rows(random, some_keys(), 25, 100));
  const std::string content = open_frame(kind, encode(shard)).content;
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = content;
    const std::size_t edits = 1 + draw(random, 3);
    for (std::size_t e = 0; e < edits; ++e)
      changed[draw(random, changed.size())] = static_cast<char>(draw(random, 256));
    if (draw(random, 8) == 0)
      changed.resize(draw(random, changed.size() + 1));
    const std::string bytes = seal_frame(kind, 3, changed);
    try {
      const Shard read = decode(bytes);
      ASSERT_NO_THROW(check_invariants(read));
      ASSERT_EQ(decode(encode(read)), read);
    } catch (const StoreError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1'000);
}

TEST(ShardCodec, RefusesLengthsThatTheBytesDoNotBearOut) {
  const FrameKind kind{"SOMS", shard_format, std::size_t{1} << 30};
  std::string content;
  put_varint(content, 65'536);                                  // rows
  put_varint(content, 65'536);                                  // keys
  put_varint(content, 65'536 * descriptors_per_article_limit);  // descriptors
  EXPECT_THROW((void)decode(seal_frame(kind, 0, content)), StoreError);
  // A bomb: some hundred bytes that would inflate past what such a value can be.
  const FrameKind small{"SOMS", shard_format, std::size_t{1} << 20};
  const std::string bomb = seal_frame(kind, 0, std::string(std::size_t{8} << 20, '\0'));
  EXPECT_LT(bomb.size(), 2'000U);
  EXPECT_THROW((void)open_frame(small, bomb), StoreError);
  EXPECT_EQ(open_frame(kind, bomb).content.size(), std::size_t{8} << 20);
}

TEST(ShardCodec, NamesTheFormatNumberItDoesNotKnow) {
  const FrameKind kind{"SOMS", 99, 1'000};
  const std::string message = store_error_of([&] { (void)decode(seal_frame(kind, 0, "x")); });
  EXPECT_NE(message.find("99"), std::string::npos) << message;
}

TEST(ShardCodec, WritesNothingThatBreaksAnInvariant) {
  PlainRows rows;
  rows[5].key = baseline_key(1);
  rows[5].descriptors = {{descriptor_code(5, 6), 0}, {descriptor_code(9, 6), 1}};
  rows[9] = rows[5];
  const Shard good = to_shard(0, rows);
  ASSERT_NO_THROW((void)encode(good));
  const auto refused = [&](const auto& change) {
    Shard bad = good;
    change(bad);
    EXPECT_THROW((void)encode(bad), StoreError);
  };
  refused([](Shard& s) { s.range = 65'536; });
  refused([](Shard& s) { std::swap(s.low[0], s.low[1]); });
  refused([](Shard& s) { s.low[1] = s.low[0]; });
  refused([](Shard& s) { s.keys.push_back(baseline_key(2)); });
  refused([](Shard& s) { s.key[1] = 1; });
  refused([](Shard& s) { s.state[0] = ArticleState::deleted; });
  refused([](Shard& s) { s.state[0] = static_cast<ArticleState>(3); });
  refused([](Shard& s) { s.records[0] = 0; });
  refused([](Shard& s) { s.major[0] = 2; });
  refused([](Shard& s) { std::swap(s.descriptors[0], s.descriptors[1]); });
  refused([](Shard& s) { s.descriptors[1] = s.descriptors[0]; });
  refused([](Shard& s) { s.descriptors[1] = descriptor_code(1'000'000, 6); });
  refused([](Shard& s) { s.offsets[1] = 4; });
  refused([](Shard& s) { s.offsets[1] = 5; });
  refused([](Shard& s) { s.offsets.pop_back(); });
  refused([](Shard& s) { s.offsets.clear(); });
  refused([](Shard& s) { s.year.pop_back(); });
}

TEST(ShardMerge, EqualsAPlainMapInAnyAssociation) {
  Random random(test_seed());
  for (int i = 0; i < 300; ++i) {
    std::vector<Shard> stack;
    PlainRows plain;
    const std::size_t deltas = 1 + draw(random, 9);
    for (std::size_t d = 0; d < deltas; ++d) {
      const PlainRows rows = random_rows(random, some_keys(), draw(random, 40), 60);
      stack.push_back(to_shard(11, rows));
      merge_rows(plain, rows);
    }
    const Shard expected = to_shard(11, plain);
    ASSERT_EQ(merge_all(stack), expected);
    while (stack.size() > 1) {  // neighbours at random
      const std::size_t at = draw(random, stack.size() - 1);
      stack[at] = merge(stack[at], stack[at + 1]);
      stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    ASSERT_EQ(stack.front(), expected);
    ASSERT_EQ(to_rows(stack.front()), plain);
  }
}

TEST(ShardMerge, DoesNotDependOnTheOrderOfFiles) {
  Random random(test_seed());
  for (int i = 0; i < 200; ++i) {
    std::vector<Shard> stack;
    for (std::uint64_t file = 0; file < 6; ++file)
      stack.push_back(to_shard(2, random_rows(random, {baseline_key(file)}, 30, 50)));
    const Shard expected = merge_all(stack);
    std::shuffle(stack.begin(), stack.end(), random);
    ASSERT_EQ(merge_all(stack), expected);
  }
}

TEST(ShardMerge, VersionThenFileThenTheNewerSideDecides) {
  const auto one = [](std::uint16_t version, std::uint64_t file, ArticleState state,
                      std::uint16_t year) {
    PlainRows rows;
    rows[1].version = version;
    rows[1].key = baseline_key(file);
    rows[1].state = state;
    rows[1].year = state == ArticleState::article ? year : std::uint16_t{0};
    if (state == ArticleState::article)
      rows[1].descriptors = {{descriptor_code(6801, 6), 0}};
    return to_shard(0, rows);
  };
  const Shard first = one(1, 1, ArticleState::article, 2001);
  const Shard later_file = one(1, 2, ArticleState::article, 2002);
  const Shard higher_version = one(2, 1, ArticleState::article, 2003);
  const Shard deletion = one(1, 2, ArticleState::deleted, 0);
  const Shard back_again = one(1, 3, ArticleState::article, 2004);
  const Shard other_text = one(1, 1, ArticleState::bare, 0);
  EXPECT_EQ(merge(first, later_file).year[0], 2002);
  EXPECT_EQ(merge(later_file, first).year[0], 2002);
  EXPECT_EQ(merge(higher_version, later_file).year[0], 2003);
  EXPECT_EQ(merge(higher_version, deletion).year[0], 2003);
  EXPECT_EQ(merge(first, deletion).state[0], ArticleState::deleted);
  EXPECT_EQ(merge(deletion, first).state[0], ArticleState::deleted);
  EXPECT_EQ(merge(merge(first, deletion), back_again).year[0], 2004);
  EXPECT_EQ(merge(first, other_text).state[0], ArticleState::bare);
  EXPECT_EQ(merge(other_text, first).state[0], ArticleState::article);
  EXPECT_EQ(merge(first, deletion).records[0], 2U);
  EXPECT_EQ(merge(first, later_file).keys, std::vector<FileKey>{baseline_key(2)});
}

TEST(ShardMerge, RefusesTwoRanges) {
  Shard a;
  a.offsets = {0};
  Shard b = a;
  b.range = 1;
  EXPECT_THROW((void)merge(a, b), StoreError);
  EXPECT_THROW((void)merge_all({}), StoreError);
}

}  // namespace
}  // namespace somatlas::store
