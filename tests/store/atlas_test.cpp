// The atlas: every family's round trip, replacement in one step, and its final name.
#include "store/atlas.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <thread>

#include "store/atlas_codec.h"
#include "store/publish.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;
using Access = Atlas::Access;

/// Hands out the items of a vector one by one.
template <typename T>
std::function<std::optional<EncodedShard>()> one_by_one(const std::vector<T>& items) {
  return [&items, next = std::size_t{0}]() mutable {
    return next < items.size() ? std::optional(encoded(items[next++])) : std::nullopt;
  };
}

std::vector<std::uint16_t> random_lows(Random& random, std::size_t rows) {
  std::vector<std::uint16_t> low;
  for (std::uint32_t pmid = 0; pmid < 65'536 && low.size() < rows; ++pmid)
    if (draw(random, 4) == 0 || pmid == 65'535)
      low.push_back(static_cast<std::uint16_t>(pmid));
  return low;
}

AssignmentShard random_assignment(Random& random, std::uint32_t range, std::size_t rows) {
  AssignmentShard shard;
  shard.range = range;
  shard.low = random_lows(random, rows);
  for (std::size_t r = 0; r < shard.low.size(); ++r) {
    shard.neuron.push_back(static_cast<std::uint32_t>(draw(random, 4'096)));
    shard.fingerprint.push_back(random());
  }
  return shard;
}

PlaceShard random_places(Random& random, std::uint32_t range, std::size_t rows) {
  PlaceShard shard;
  shard.range = range;
  shard.low = random_lows(random, rows);
  for (std::size_t r = 0; r < shard.low.size(); ++r) {
    const bool placed = draw(random, 10) != 0;
    shard.neuron.push_back(placed ? static_cast<std::uint32_t>(draw(random, 4'096)) : 0xFFFF'FFFF);
    shard.second.push_back(placed && draw(random, 5) != 0
                               ? static_cast<std::uint32_t>(draw(random, 4'096))
                               : 0xFFFF'FFFF);
    shard.distance.push_back(static_cast<std::uint32_t>(random()));
  }
  return shard;
}

/// parents: how many regions the next level has.
AtlasRegion random_region(Random& random, std::size_t neurons, std::size_t parents) {
  AtlasRegion region;
  region.name = std::string(draw(random, 40), 'n');
  region.parent = parents == 0 ? 0 : static_cast<std::uint32_t>(draw(random, parents));
  region.cells = static_cast<std::uint32_t>(random());
  region.centre = static_cast<std::uint32_t>(draw(random, neurons));
  region.hits = random();
  region.year_count = random();
  region.year_sum = random();
  region.recent_count = random();
  for (std::uint64_t n = draw(random, leading_per_region + 1); n > 0; --n)
    region.leading.push_back({static_cast<std::uint32_t>(random()), random()});
  return region;
}

AtlasCells random_cells(Random& random, std::size_t neurons) {
  AtlasCells cells;
  cells.recent_from = static_cast<std::uint32_t>(random());
  std::size_t parents = 0;
  for (std::size_t level = region_levels; level-- > 0;) {
    for (std::uint64_t n = 1 + draw(random, 20); n > 0; --n)
      cells.levels[level].push_back(random_region(random, neurons, parents));
    parents = cells.levels[level].size();
  }
  for (std::size_t i = 0; i < neurons; ++i) {
    cells.norm.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(random())));
    cells.square_sum.push_back(random());
    cells.vacant.push_back(static_cast<std::uint8_t>(draw(random, 2)));
    cells.hits.push_back(static_cast<std::uint32_t>(random()));
    cells.year_count.push_back(static_cast<std::uint32_t>(draw(random, 1'000)));
    cells.year_sum.push_back(random());
    cells.height.push_back(static_cast<std::uint32_t>(random()));
    cells.recent_count.push_back(static_cast<std::uint32_t>(random()));
    cells.region.push_back(static_cast<std::uint32_t>(draw(random, parents)));
    for (std::size_t l = 0; l < leading_per_cell; ++l) {
      cells.leading.push_back(static_cast<std::uint32_t>(random()));
      cells.leading_weight.push_back(static_cast<std::uint16_t>(random()));
    }
  }
  return cells;
}

struct PlainPlane {
  AtlasDescriptor descriptor;
  std::vector<std::uint16_t> weights;
};

std::vector<PlainPlane> random_planes(Random& random, std::size_t count, std::size_t neurons) {
  std::vector<PlainPlane> planes;
  for (std::size_t p = 0; p < count; ++p) {
    PlainPlane plane;
    const auto number = static_cast<std::uint32_t>(p * 7 + draw(random, 7));
    plane.descriptor = {
        descriptor_code(p % 3 == 0 ? number * 1'000 + 1 : number, p % 3 == 0 ? 9 : 6),
        "Name " + std::to_string(p), std::vector<std::string>(draw(random, 3), "C04.588"),
        random() >> 30};
    plane.weights.resize(neurons);
    for (std::uint16_t& weight : plane.weights)
      weight = static_cast<std::uint16_t>(draw(random, 4) == 0 ? random() : 0);
    planes.push_back(std::move(plane));
  }
  return planes;
}

std::function<bool(AtlasDescriptor&, std::string&)> hand_out(
    const std::vector<PlainPlane>& planes) {
  return [&planes, next = std::size_t{0}](AtlasDescriptor& descriptor, std::string& plane) mutable {
    if (next == planes.size())
      return false;
    descriptor = planes[next].descriptor;
    plane = encode_plane(descriptor.code, planes[next++].weights);
    return true;
  };
}

using CellArticles = std::map<std::uint32_t, std::vector<std::uint32_t>>;

std::function<std::optional<EncodedArticles>()> hand_out(const CellArticles& articles) {
  return [next = articles.begin(), &articles]() mutable -> std::optional<EncodedArticles> {
    if (next == articles.end())
      return std::nullopt;
    const auto& [neuron, pmids] = *next++;
    return encoded(neuron, pmids);
  };
}

/// All that an atlas holds, as plain values.
struct PlainAtlas {
  std::vector<AssignmentShard> assignment;
  std::vector<PlaceShard> places;
  std::vector<PlainPlane> planes;
  AtlasCells cells;
  CellArticles articles;
  std::string meta;
};

PlainAtlas random_atlas(Random& random) {
  PlainAtlas plain;
  for (std::uint32_t range = 0; range < 6; ++range) {
    if (draw(random, 3) != 0)
      plain.assignment.push_back(random_assignment(random, range * 9'000, draw(random, 300)));
    if (draw(random, 3) != 0)
      plain.places.push_back(random_places(random, range * 9'000, draw(random, 300)));
  }
  plain.planes = random_planes(random, 20, 64);
  plain.cells = random_cells(random, 64);
  for (std::uint32_t neuron = 0; neuron < 64; ++neuron)
    for (std::uint64_t n = draw(random, 5), pmid = 0; n > 0; --n) {
      pmid += 1 + draw(random, 1'000'000'000 / n);
      plain.articles[neuron].push_back(static_cast<std::uint32_t>(pmid));
    }
  plain.meta = "{\"epoch\": " + std::to_string(random()) + "}";
  return plain;
}

void put(Atlas& atlas, const PlainAtlas& plain) {
  atlas.put_checkpoint(one_by_one(plain.assignment), "checkpoint", plain.meta);
  atlas.put_placement([&](const PlacementSink& put) {
    for (const PlaceShard& shard : plain.places)
      put.places(encoded(shard));
    for (const AssignmentShard& shard : plain.assignment)
      put.assignment(encoded(shard));
    return true;
  });
  atlas.put_planes(hand_out(plain.planes));
  atlas.put_cells(plain.cells);
  atlas.put_articles(hand_out(plain.articles));
  atlas.put_meta("atlas", plain.meta + "!");
}

void expect_sound(Atlas& atlas) {
  atlas.verify([](const Fault& fault) { ADD_FAILURE() << fault.where << ": " << fault.what; });
}

void expect_assignment(Atlas& atlas, const std::vector<AssignmentShard>& assignment) {
  std::vector<std::uint32_t> ranges;
  for (const AssignmentShard& shard : assignment) {
    ranges.push_back(shard.range);
    EXPECT_EQ(atlas.assignment(shard.range), shard);
  }
  EXPECT_EQ(atlas.assignment_ranges(), ranges);
}

void expect_equal(Atlas& atlas, const PlainAtlas& plain) {
  expect_assignment(atlas, plain.assignment);
  std::vector<std::uint32_t> ranges;
  for (const PlaceShard& shard : plain.places) {
    ranges.push_back(shard.range);
    EXPECT_EQ(atlas.places(shard.range), shard);
  }
  EXPECT_EQ(atlas.place_ranges(), ranges);
  EXPECT_EQ(atlas.places(12'345), std::nullopt);
  EXPECT_EQ(atlas.assignment(12'345), std::nullopt);
  std::vector<AtlasDescriptor> descriptors;
  for (const PlainPlane& plane : plain.planes) {
    descriptors.push_back(plane.descriptor);
    EXPECT_EQ(atlas.plane(plane.descriptor.code), plane.weights);
  }
  EXPECT_EQ(atlas.descriptors(), descriptors);
  EXPECT_EQ(atlas.plane(descriptor_code(999'999, 6)), std::nullopt);
  EXPECT_EQ(atlas.cells(), plain.cells);
  for (std::uint32_t neuron = 0; neuron < 65; ++neuron) {
    const auto found = plain.articles.find(neuron);
    EXPECT_EQ(atlas.articles(neuron),
              found == plain.articles.end() ? std::vector<std::uint32_t>{} : found->second);
  }
  EXPECT_EQ(atlas.meta("checkpoint"), plain.meta);
  EXPECT_EQ(atlas.meta("atlas"), plain.meta + "!");
  EXPECT_EQ(atlas.meta("other"), std::nullopt);
}

void sort_by_ui(PlainAtlas& plain) {
  std::sort(plain.planes.begin(), plain.planes.end(), [](const PlainPlane& a, const PlainPlane& b) {
    return ui_less(a.descriptor.code, b.descriptor.code);
  });
}

TEST(Atlas, KeepsAndReplacesEveryFamily) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  for (int round = 0; round < 4; ++round) {
    PlainAtlas plain = random_atlas(random);
    sort_by_ui(plain);
    {
      const auto atlas = Atlas::open(directory / "atlas", Access::create);
      put(*atlas, plain);
      expect_equal(*atlas, plain);
    }
    const auto atlas = Atlas::open(directory / "atlas", Access::read);
    expect_equal(*atlas, plain);
    expect_sound(*atlas);
    EXPECT_THROW(atlas->put_meta("atlas", ""), StoreError);
    EXPECT_THROW(put(*atlas, plain), StoreError);
  }
}

TEST(Atlas, IsEmptyAtFirst) {
  const TemporaryDirectory directory;
  const auto atlas = Atlas::open(directory / "atlas", Access::create);
  EXPECT_TRUE(atlas->assignment_ranges().empty());
  EXPECT_TRUE(atlas->descriptors().empty());
  EXPECT_EQ(atlas->plane(0), std::nullopt);
  EXPECT_TRUE(atlas->articles(0).empty());
  EXPECT_EQ(atlas->meta("atlas"), std::nullopt);
  const std::string message = store_error_of([&] { (void)atlas->cells(); });
  EXPECT_NE(message.find("training did not end"), std::string::npos) << message;
  expect_sound(*atlas);
}

TEST(Atlas, ReplacesACheckpointInOneStep) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  const auto atlas = Atlas::open(directory / "atlas", Access::create);
  const std::vector<AssignmentShard> first{random_assignment(random, 1, 50),
                                           random_assignment(random, 2, 50),
                                           random_assignment(random, 700, 50)};
  const std::vector<AssignmentShard> second{random_assignment(random, 2, 60),
                                            random_assignment(random, 3, 60)};
  atlas->put_checkpoint(one_by_one(first), "checkpoint", "first");
  const auto before = Atlas::open(directory / "atlas", Access::read);

  // One that fails half-way leaves the first untouched, also for the next opening.
  int calls = 0;
  EXPECT_THROW(atlas->put_checkpoint(
                   [&]() -> std::optional<EncodedShard> {
                     if (++calls == 2)
                       throw std::runtime_error("stopped");
                     return encoded(second[0]);
                   },
                   "checkpoint", "half"),
               std::runtime_error);
  expect_assignment(*atlas, first);
  EXPECT_EQ(atlas->meta("checkpoint"), "first");
  EXPECT_TRUE(fs::is_empty(directory / "atlas/incoming"));

  const std::vector<AssignmentShard> unordered{second[1], second[0]};
  EXPECT_THROW(atlas->put_checkpoint(one_by_one(unordered), "checkpoint", "half"), StoreError);
  expect_assignment(*atlas, first);

  atlas->put_checkpoint(one_by_one(second), "checkpoint", "second");
  expect_assignment(*atlas, second);
  EXPECT_EQ(atlas->assignment(1), std::nullopt);
  EXPECT_EQ(atlas->meta("checkpoint"), "second");
  expect_assignment(*before, first);  // a reader sees the state at opening
  EXPECT_EQ(before->meta("checkpoint"), "first");
  expect_assignment(*Atlas::open(directory / "atlas", Access::read), second);
  atlas->put_checkpoint(one_by_one(std::vector<AssignmentShard>{}), "checkpoint", "none");
  expect_assignment(*atlas, {});
  expect_sound(*atlas);
}

TEST(Atlas, ReplacesPlacesAndAssignmentInOneStep) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  const auto atlas = Atlas::open(directory / "atlas", Access::create);
  const std::vector<AssignmentShard> first{random_assignment(random, 1, 50)};
  const std::vector<AssignmentShard> second{random_assignment(random, 1, 60),
                                            random_assignment(random, 3, 60)};
  const PlaceShard places = random_places(random, 3, 70);
  atlas->put_checkpoint(one_by_one(first), "checkpoint", "first");

  // The halves come from two threads, as they may; what is given up leaves the first untouched.
  const auto write = [&](const PlacementSink& put) {
    const std::jthread other([&] { put.places(encoded(places)); });
    for (const AssignmentShard& shard : second)
      put.assignment(encoded(shard));
  };
  atlas->put_placement([&](const PlacementSink& put) {
    write(put);
    return false;
  });
  EXPECT_THROW(atlas->put_placement([&](const PlacementSink& put) -> bool {
    write(put);
    throw std::runtime_error("stopped");
  }),
               std::runtime_error);
  expect_assignment(*atlas, first);
  EXPECT_TRUE(atlas->place_ranges().empty());
  EXPECT_TRUE(fs::is_empty(directory / "atlas/incoming"));

  atlas->put_placement([&](const PlacementSink& put) {
    write(put);
    return true;
  });
  expect_assignment(*atlas, second);
  EXPECT_EQ(atlas->places(3), places);
  EXPECT_EQ(atlas->meta("checkpoint"), "first");
  expect_sound(*atlas);
}

TEST(Atlas, GivesBackTheSpaceOfOldCheckpoints) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  const auto atlas = Atlas::open(directory / "atlas", Access::create);
  std::uint64_t first_bytes = 0;
  for (int epoch = 0; epoch < 25; ++epoch) {
    std::vector<AssignmentShard> shards;
    for (std::uint32_t range = 0; range < 4; ++range)
      shards.push_back(random_assignment(random, range, 8'000));
    atlas->put_checkpoint(one_by_one(shards), "checkpoint", std::to_string(epoch));
    if (epoch == 0)
      first_bytes = atlas->disk_bytes();
    expect_assignment(*atlas, shards);
  }
  EXPECT_LT(atlas->disk_bytes(), 2 * first_bytes);
}

TEST(Atlas, IsNoStoreAndAStoreIsNoAtlas) {
  const TemporaryDirectory directory;
  (void)Atlas::open(directory / "atlas", Access::create);
  (void)Store::open(directory / "store", Store::Access::create);
  std::string message =
      store_error_of([&] { (void)Store::open(directory / "atlas", Store::Access::write); });
  EXPECT_NE(message.find("is not a somatlas store"), std::string::npos) << message;
  message = store_error_of([&] { (void)Atlas::open(directory / "store", Access::read); });
  EXPECT_NE(message.find("is not a somatlas atlas"), std::string::npos) << message;
  message = store_error_of([&] { (void)Atlas::open(directory / "none", Access::read); });
  EXPECT_NE(message.find("there is no atlas at"), std::string::npos) << message;
}

TEST(AtlasCodec, FindsEveryFlippedByteAndEveryCut) {
  Random random(test_seed());
  const AssignmentShard assignment = random_assignment(random, 5, 20);
  const PlaceShard places = random_places(random, 5, 20);
  const std::vector<std::uint16_t> plane{0, 16'383, 65'535, 7, 7, 7};
  const std::vector<std::uint32_t> pmids{0, 1, 90'000, 0xFFFF'FFFF};
  const std::string key(4, '\1');
  ASSERT_EQ(decode_assignment(encode_assignment(assignment), 5), assignment);
  ASSERT_EQ(decode_places(encode_places(places), 5), places);
  ASSERT_EQ(decode_plane(encode_plane(9, plane), 9), plane);
  ASSERT_EQ(decode_articles(key, encode_articles(key, pmids)), pmids);
  const auto refuse_changes = [](const std::string& bytes, const auto& read) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ 0x10);
      EXPECT_THROW(read(changed), StoreError) << "byte " << i;
      EXPECT_THROW(read(bytes.substr(0, i)), StoreError) << "cut at " << i;
    }
  };
  refuse_changes(encode_assignment(assignment),
                 [](const std::string& b) { (void)decode_assignment(b, 5); });
  refuse_changes(encode_places(places), [](const std::string& b) { (void)decode_places(b, 5); });
  refuse_changes(encode_plane(9, plane), [](const std::string& b) { (void)decode_plane(b, 9); });
  refuse_changes(encode_articles(key, pmids),
                 [&](const std::string& b) { (void)decode_articles(key, b); });
  EXPECT_THROW((void)decode_assignment(encode_assignment(assignment), 6), StoreError);
  EXPECT_THROW((void)decode_plane(encode_plane(9, plane), 8), StoreError);
  EXPECT_THROW((void)decode_articles("abcd", encode_articles(key, pmids)), StoreError);
}

TEST(AtlasCodec, WritesNoColumnsOfDifferentLength) {
  Random random(test_seed());
  AssignmentShard assignment = random_assignment(random, 5, 20);
  assignment.neuron.pop_back();
  EXPECT_THROW((void)encode_assignment(assignment), StoreError);
  PlaceShard places = random_places(random, 5, 20);
  places.low[1] = places.low[0];
  EXPECT_THROW((void)encode_places(places), StoreError);
  AtlasCells cells = random_cells(random, 9);
  cells.leading.pop_back();
  EXPECT_THROW((void)encode_cells(cells), StoreError);
  EXPECT_THROW((void)encode_articles("k", std::vector<std::uint32_t>{2, 2}), StoreError);
}

TEST(AtlasCodec, WritesNoRegionThatLiesNowhere) {
  Random random(test_seed());
  const auto refuses = [&](const auto& change) {
    AtlasCells cells = random_cells(random, 9);
    ASSERT_EQ(decode_cells(encode_cells(cells)), cells);
    change(cells);
    EXPECT_THROW((void)encode_cells(cells), StoreError);
  };
  refuses([](AtlasCells& c) { c.region[8] = static_cast<std::uint32_t>(c.levels[0].size()); });
  refuses([](AtlasCells& c) {
    c.levels[0][0].parent = static_cast<std::uint32_t>(c.levels[1].size());
  });
  refuses([](AtlasCells& c) { c.levels[2][0].parent = 1; });
  refuses([](AtlasCells& c) { c.levels[1][0].centre = 9; });
  refuses([](AtlasCells& c) { c.levels[1][0].leading.resize(leading_per_region + 1); });
}

TEST(Atlas, GetsItsFinalNameWhenItIsWhole) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  PlainAtlas plain = random_atlas(random);
  sort_by_ui(plain);
  put(*Atlas::open(directory / "atlas.partial", Access::create), plain);
  publish_directory(directory / "atlas.partial", directory / "atlas", false);
  const auto atlas = Atlas::open(directory / "atlas", Access::read);
  expect_equal(*atlas, plain);
  expect_sound(*atlas);
}

}  // namespace
}  // namespace somatlas::store
