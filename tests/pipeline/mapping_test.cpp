// Places against the score written out in 64 bits for every neuron, on an atlas in memory that
// counts which planes are read; memory bounds and batches must not show.
#include "pipeline/mapping.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "store/store_error.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

using store::DescriptorCode;
using Codes = std::vector<DescriptorCode>;

constexpr std::uint32_t none = 0xFFFF'FFFF;

/// An atlas in memory, complete; it only answers.
class MemoryAtlas final : public store::Atlas {
 public:
  explicit MemoryAtlas(std::uint32_t side) {
    AtlasMeta meta;
    meta.settings.side = side;
    meta_text = to_json(meta);
    const std::size_t neurons = std::size_t{side} * side;
    all.norm.resize(neurons);
    all.square_sum.resize(neurons);
    all.vacant.resize(neurons);
    all.leading.assign(neurons * store::leading_per_cell, none);
    all.region.resize(neurons);
    all.levels[0] = {{}, {}};
  }

  [[nodiscard]] const std::string& directory() const override { return name_; }
  [[nodiscard]] std::optional<std::string> meta(const std::string& name) override {
    return name == meta_atlas ? meta_text : std::nullopt;
  }
  [[nodiscard]] std::vector<std::uint32_t> place_ranges() override {
    std::vector<std::uint32_t> ranges;
    for (const auto& [range, shard] : recorded) {
      ranges.push_back(range);
    }
    return ranges;
  }
  [[nodiscard]] std::optional<store::PlaceShard> places(std::uint32_t range) override {
    ++ranges_read;
    const auto found = recorded.find(range);
    return found == recorded.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::vector<store::AtlasDescriptor> descriptors() override { return listed; }
  [[nodiscard]] std::optional<std::vector<std::uint16_t>> plane(DescriptorCode code) override {
    {
      const std::lock_guard lock(*mutex_);
      ++planes_read[code];
    }
    const auto found = planes.find(code);
    return found == planes.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] store::AtlasCells cells() override { return all; }

  void put_meta(const std::string&, const std::string&) override { refuse(); }
  void put_checkpoint(const std::function<std::optional<store::EncodedShard>()>&,
                      const std::string&, const std::string&) override {
    refuse();
  }
  void put_placement(const std::function<bool(const store::PlacementSink&)>&) override { refuse(); }
  void put_planes(const std::function<bool(store::AtlasDescriptor&, std::string&)>&) override {
    refuse();
  }
  void put_cells(const store::AtlasCells&) override { refuse(); }
  void put_articles(const std::function<std::optional<store::EncodedArticles>()>&) override {
    refuse();
  }
  [[nodiscard]] std::vector<std::uint32_t> assignment_ranges() override { return refuse(); }
  [[nodiscard]] std::optional<store::AssignmentShard> assignment(std::uint32_t) override {
    refuse();
    return {};
  }
  [[nodiscard]] std::vector<std::uint32_t> articles(std::uint32_t) override { return refuse(); }
  [[nodiscard]] std::uint64_t disk_bytes() override { return 0; }
  void verify(const std::function<void(const store::Fault&)>&) override { refuse(); }

  std::optional<std::string> meta_text;
  store::AtlasCells all;
  std::vector<store::AtlasDescriptor> listed;
  std::map<DescriptorCode, std::vector<std::uint16_t>> planes;
  std::map<DescriptorCode, int> planes_read;
  std::map<std::uint32_t, store::PlaceShard> recorded;
  int ranges_read = 0;

 private:
  static std::vector<std::uint32_t> refuse() { throw std::logic_error("a mapper only reads"); }
  std::string name_ = "memory.atlas";
  // Planes are read by several threads.
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

/// Random planes, some weights from few values so that neurons tie; descriptors in UI order.
MemoryAtlas random_atlas(std::mt19937_64& random, std::uint32_t side, std::size_t descriptors) {
  MemoryAtlas atlas(side);
  const std::size_t neurons = std::size_t{side} * side;
  for (std::size_t i = 0; i < neurons; ++i) {
    atlas.all.vacant[i] = i != neurons / 2 && random() % 6 == 0 ? 1 : 0;
  }
  std::vector<std::uint64_t> square_sum(neurons);
  std::set<std::pair<std::string, DescriptorCode>> by_ui;
  for (std::size_t d = 0; d < descriptors; ++d) {
    // D000500, D000500001, D000501, ...: UI order is not code order.
    const auto number = static_cast<std::uint32_t>(500 + d / 2);
    const bool wide = d % 2 == 1;
    const DescriptorCode code =
        store::descriptor_code(wide ? number * 1000 + 1 : number, wide ? 9 : 6);
    const bool coarse = random() % 2 == 0;
    for (std::size_t i = 0; i < neurons; ++i) {
      const std::uint64_t weight = coarse ? random() % 2 * 16383 : random() % 16384;
      const auto q = static_cast<std::uint16_t>(atlas.all.vacant[i] != 0 ? 0 : weight);
      atlas.planes[code].push_back(q);
      square_sum[i] += std::uint64_t{q} * q;
    }
    atlas.listed.push_back({code, "Heading " + std::to_string(d), {}, d + 1});
  }
  for (std::size_t i = 0; i < neurons; ++i) {
    atlas.all.norm[i] = static_cast<std::int32_t>((64 * square_sum[i] + 8191) / 16383);
    atlas.all.square_sum[i] = square_sum[i];
  }
  return atlas;
}

std::optional<Place> place_by_enumeration(const MemoryAtlas& atlas, const Codes& article,
                                          std::uint32_t unnamed) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> order;
  bool known = false;
  for (std::uint32_t i = 0; i < atlas.all.norm.size(); ++i) {
    std::int64_t score = atlas.all.norm[i];
    for (const DescriptorCode code : article) {
      const auto plane = atlas.planes.find(code);
      if (plane != atlas.planes.end()) {
        known = true;
        score -= 128 * std::int64_t{plane->second[i]};
      }
    }
    if (atlas.all.vacant[i] == 0) {
      order.emplace_back(score, i);
    }
  }
  if (!known) {
    return std::nullopt;
  }
  std::sort(order.begin(), order.end());
  const auto k = static_cast<std::int64_t>(article.size()) + unnamed;
  const std::int64_t square = std::max<std::int64_t>(0, 1048512 * k + order[0].first);
  const auto distance = static_cast<Distance>(
      std::floor(std::sqrt(static_cast<long double>(square) / 1048512.0L) * 1048576.0L + 0.5L));
  return Place{order[0].second, order.size() > 1 ? order[1].second : none, distance};
}

void expect_same(const std::optional<Place>& a, const std::optional<Place>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (a) {
    ASSERT_EQ(a->neuron, b->neuron);
    ASSERT_EQ(a->second, b->second);
    ASSERT_EQ(a->distance, b->distance);
  }
}

/// Articles of 0 to 12 descriptors, a few of which the atlas lacks.
std::vector<Codes> random_articles(std::mt19937_64& random, const MemoryAtlas& atlas,
                                   std::size_t count) {
  std::vector<Codes> articles(count);
  for (Codes& article : articles) {
    std::set<DescriptorCode> codes;
    for (std::uint64_t n = random() % 13; n > 0; --n) {
      codes.insert(random() % 10 == 0 ? static_cast<DescriptorCode>(4 + random() % 50)
                                      : atlas.listed[random() % atlas.listed.size()].code);
    }
    article.assign(codes.begin(), codes.end());
    std::shuffle(article.begin(), article.end(), random);
  }
  return articles;
}

TEST(AtlasMapper, EqualsTheScoreWrittenOut) {
  std::mt19937_64 random(test_seed());
  for (const std::uint32_t side : {1U, 2U, 3U, 16U, 33U, 65U}) {
    MemoryAtlas atlas = random_atlas(random, side, 25);
    const std::vector<Codes> articles = random_articles(random, atlas, 60);
    std::vector<std::uint32_t> unnamed(articles.size());
    for (std::uint32_t& count : unnamed) {
      count = random() % 3 == 0 ? static_cast<std::uint32_t>(random() % 5) : 0;
    }
    AtlasMapper mapper(atlas);
    const auto places = mapper.place(articles, unnamed);
    ASSERT_EQ(places.size(), articles.size());
    for (std::size_t a = 0; a < articles.size(); ++a) {
      SCOPED_TRACE("side " + std::to_string(side) + ", article " + std::to_string(a));
      expect_same(places[a], place_by_enumeration(atlas, articles[a], unnamed[a]));
    }
  }
}

TEST(AtlasMapper, MemoryAndBatchesDoNotShow) {
  std::mt19937_64 random(test_seed());
  MemoryAtlas atlas = random_atlas(random, 16, 200);
  const std::vector<Codes> articles = random_articles(random, atlas, 80);
  const std::vector<std::uint32_t> unnamed(articles.size());
  AtlasMapper roomy(atlas);
  const auto expected = roomy.place(articles, unnamed);
  for (const std::size_t memory :
       {0U, 1U, 2'048U, 5'000U, 16'384U, 40'000U, 100'000U, 160'000U, 500'000U, 2'000'000U}) {
    AtlasMapper mapper(atlas, memory);
    AtlasMapper one_by_one(atlas, memory);
    const auto places = mapper.place(articles, unnamed);
    for (std::size_t a = 0; a < articles.size(); ++a) {
      SCOPED_TRACE("memory " + std::to_string(memory) + ", article " + std::to_string(a));
      expect_same(places[a], expected[a]);
      const std::span article = std::span(articles).subspan(a, 1);
      expect_same(mapper.place(article, std::vector<std::uint32_t>(1))[0], expected[a]);
      expect_same(one_by_one.place(article, std::vector<std::uint32_t>(1))[0], expected[a]);
    }
  }
}

std::size_t kibibytes_of_process(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (std::size_t kibibytes = 0; word == what && status >> kibibytes) {
      return kibibytes;
    }
  }
  return 0;
}

// In addresses, which sanitizers do not change. One thread: each further one takes some.
TEST(AtlasMapper, StaysInItsMemoryWhileItGrows) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  constexpr std::size_t of_article = 500;
  MemoryAtlas atlas(64);
  for (std::uint32_t d = 0; d < 7'000; ++d) {
    const DescriptorCode code = store::descriptor_code(d, 6);
    atlas.listed.push_back({code, std::to_string(d), {}, 1});
    atlas.planes[code].resize(64 * 64);
  }
  constexpr std::size_t kibibytes = 64 * 1024;
  constexpr std::size_t beside = 16 * 1024;
  // A peak of earlier tests in this process hides one of this test's.
  const std::size_t most = std::max(kibibytes_of_process("VmPeak:"),
                                    kibibytes_of_process("VmSize:") + kibibytes + beside);
  AtlasMapper mapper(atlas, kibibytes * 1024);
  for (const std::size_t held : {500U, 2'000U, 5'000U, 7'000U}) {
    std::vector<Codes> articles(held / of_article);
    for (std::size_t i = 0; i < held; ++i) {
      articles[i / of_article].push_back(atlas.listed[i].code);
    }
    for (const auto& place : mapper.place(articles, std::vector<std::uint32_t>(articles.size()))) {
      ASSERT_TRUE(place);
      EXPECT_EQ(place->neuron, 0U);
    }
    EXPECT_LE(kibibytes_of_process("VmPeak:"), most) << held << " planes";
  }
}

TEST(AtlasMapper, ReadsOnlyThePlanesItMeetsAndEachOnce) {
  std::mt19937_64 random(test_seed());
  MemoryAtlas atlas = random_atlas(random, 8, 30);
  AtlasMapper mapper(atlas);
  EXPECT_TRUE(atlas.planes_read.empty());
  const DescriptorCode a = atlas.listed[3].code;
  const DescriptorCode b = atlas.listed[4].code;
  const DescriptorCode c = atlas.listed[29].code;
  const DescriptorCode lacking = store::descriptor_code(7, 6);
  const std::vector<Codes> articles{{a, b}, {c, a, lacking}, {lacking}, {}, {b}};
  const auto places = mapper.place(articles, std::vector<std::uint32_t>(5));
  EXPECT_EQ(atlas.planes_read, (std::map<DescriptorCode, int>{{a, 1}, {b, 1}, {c, 1}}));
  EXPECT_FALSE(places[2].has_value());
  EXPECT_FALSE(places[3].has_value());
  EXPECT_TRUE(places[4].has_value());
  EXPECT_TRUE(mapper.place({}, {}).empty());
}

TEST(AtlasMapper, AllEqualNeuronsGiveTheLowestUsableOnes) {
  MemoryAtlas atlas(3);
  const DescriptorCode code = store::descriptor_code(1, 6);
  atlas.listed.push_back({code, "Only", {}, 1});
  atlas.all.vacant = {1, 0, 1, 0, 0, 0, 0, 0, 0};
  atlas.all.norm = {0,          64 * 16383, 0,          64 * 16383, 64 * 16383,
                    64 * 16383, 64 * 16383, 64 * 16383, 64 * 16383};
  atlas.all.square_sum.assign(9, std::uint64_t{16383} * 16383);
  atlas.planes[code] = {0, 16383, 0, 16383, 16383, 16383, 16383, 16383, 16383};
  AtlasMapper mapper(atlas);
  const std::vector<Codes> article{{code}};
  const auto place = mapper.place(article, std::vector<std::uint32_t>{0})[0];
  expect_same(place, Place{1, 3, 0});
  // Three headings without a code: sqrt(3) away.
  expect_same(mapper.place(article, std::vector<std::uint32_t>{3})[0], Place{1, 3, 1'816'187});
  atlas.all.vacant.assign(9, 1);
  atlas.all.vacant[5] = 0;
  AtlasMapper one_usable(atlas);
  expect_same(one_usable.place(article, std::vector<std::uint32_t>{0})[0], Place{5, none, 0});
}

TEST(AtlasMapper, TakesAsManyDescriptorsAsTheContractAllows) {
  MemoryAtlas atlas(2);
  Codes article;
  for (std::uint32_t d = 0; d < 1023; ++d) {
    const DescriptorCode code = store::descriptor_code(d, 6);
    article.push_back(code);
    atlas.listed.push_back({code, std::to_string(d), {}, 1});
    atlas.planes[code] = {16383, 16383, 0, 16383};
  }
  const std::int32_t norm = 1023 * 64 * 16383;
  atlas.all.norm = {norm, norm, 0, norm};
  AtlasMapper mapper(atlas);
  expect_same(mapper.place(std::vector<Codes>{article}, std::vector<std::uint32_t>{0})[0],
              Place{0, 1, 0});
  EXPECT_THROW(
      static_cast<void>(mapper.place(std::vector<Codes>{article}, std::vector<std::uint32_t>{1})),
      std::invalid_argument);
  EXPECT_THROW(static_cast<void>(mapper.place(std::vector<Codes>{article}, {})),
               std::invalid_argument);
}

TEST(AtlasMapper, KnowsTheDescriptorsOfTheAtlas) {
  std::mt19937_64 random(test_seed());
  MemoryAtlas atlas = random_atlas(random, 2, 11);
  const AtlasMapper mapper(atlas);
  EXPECT_TRUE(std::ranges::equal(mapper.descriptors(), atlas.listed));
  for (const store::AtlasDescriptor& descriptor : atlas.listed) {
    EXPECT_TRUE(mapper.knows(descriptor.code));
  }
  EXPECT_FALSE(mapper.knows(store::descriptor_code(499, 6)));
  EXPECT_FALSE(mapper.knows(store::descriptor_code(500'000, 9)));
  EXPECT_FALSE(mapper.knows(store::descriptor_code(506, 6)));
}

TEST(AtlasMapper, ALabelIsTheRegionsName) {
  MemoryAtlas atlas(2);
  atlas.all.levels[0][0].name = "Asthma";
  atlas.all.levels[0][1].name = "Neoplasms / Lung";
  atlas.all.region = {0, 1, 1, 0};
  const AtlasMapper mapper(atlas);
  EXPECT_EQ(mapper.label(0), "Asthma");
  EXPECT_EQ(mapper.label(2), "Neoplasms / Lung");
}

TEST(AtlasMapper, TheLeadingDescriptorHasAName) {
  MemoryAtlas atlas(2);
  const DescriptorCode named = store::descriptor_code(9369, 6);
  const DescriptorCode nameless = store::descriptor_code(68036, 9);
  atlas.listed = {{nameless, "", {}, 1}, {named, "Neoplasms", {}, 1}};  // UI order
  atlas.all.leading[0] = named;
  atlas.all.leading[5] = nameless;
  atlas.all.leading[10 + 1] = named;  // a second one does not count
  const AtlasMapper mapper(atlas);
  EXPECT_EQ(mapper.leading(0), "Neoplasms");
  EXPECT_EQ(mapper.leading(1), "D000068036");
  EXPECT_EQ(mapper.leading(2), "");
  EXPECT_EQ(mapper.leading(3), "");
}

TEST(AtlasMapper, RecordedPlacesAreFoundAndRangesKept) {
  MemoryAtlas atlas(4);
  atlas.recorded[0] = {0, {1, 7, 65'535}, {3, none, 15}, {4, none, 11}, {100, 0, 300}};
  atlas.recorded[2] = {2, {0}, {9}, {none}, {5}};
  AtlasMapper mapper(atlas);
  expect_same(mapper.recorded(1), Place{3, 4, 100});
  expect_same(mapper.recorded(65'535), Place{15, 11, 300});
  expect_same(mapper.recorded(7), std::nullopt);  // no known descriptor
  expect_same(mapper.recorded(0), std::nullopt);
  expect_same(mapper.recorded(8), std::nullopt);
  EXPECT_EQ(atlas.ranges_read, 1);
  expect_same(mapper.recorded(131'072), Place{9, none, 5});
  expect_same(mapper.recorded(65'536), std::nullopt);
  expect_same(mapper.recorded(4'294'967'295), std::nullopt);
  expect_same(mapper.recorded(1), Place{3, 4, 100});
}

std::string refusal(MemoryAtlas& atlas) {
  try {
    const AtlasMapper mapper(atlas);
  } catch (const store::StoreError& error) {
    return error.what();
  }
  return "";
}

TEST(AtlasMapper, RefusesAnAtlasThatIsNotWhole) {
  MemoryAtlas unfinished(2);
  unfinished.meta_text.reset();
  EXPECT_EQ(refusal(unfinished),
            "memory.atlas holds no complete atlas: its training did not end; go on with train "
            "--resume, or name another atlas");
  MemoryAtlas damaged(2);
  damaged.meta_text = "{}";
  EXPECT_EQ(refusal(damaged),
            "memory.atlas: the description of the atlas is damaged (settings is missing); train "
            "the atlas again");
  MemoryAtlas other_side(2);
  other_side.all.norm.resize(9);
  EXPECT_NE(refusal(other_side), "");
  MemoryAtlas all_vacant(2);
  all_vacant.all.vacant.assign(4, 1);
  EXPECT_NE(refusal(all_vacant), "");

  MemoryAtlas lacks_plane(2);
  const DescriptorCode code = store::descriptor_code(1, 6);
  lacks_plane.listed.push_back({code, "Gone", {}, 1});
  AtlasMapper mapper(lacks_plane);
  const std::vector<Codes> article{{code}};
  EXPECT_THROW(static_cast<void>(mapper.place(article, std::vector<std::uint32_t>{0})),
               store::StoreError);
  lacks_plane.planes[code] = {1, 2, 3};
  EXPECT_THROW(static_cast<void>(mapper.place(article, std::vector<std::uint32_t>{0})),
               store::StoreError);
}

}  // namespace
}  // namespace somatlas::pipeline
