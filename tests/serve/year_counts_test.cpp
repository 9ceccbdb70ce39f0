// Years of articles by cell against plain counting, over few and many ranges and whatever room
// there is; cells of a range against the sum of its years.
#include "tools/serve/year_counts.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "store/atlas_codec.h"
#include "tests/formats/scratch_folder.h"
#include "tests/seed.h"

namespace somatlas::serve {
namespace {

constexpr std::size_t neurons = 9;

class YearsOfCells : public ::testing::Test {
 protected:
  void SetUp() override {
    std::mt19937_64 random(test_seed());
    const auto below = [&random](std::uint32_t bound) {
      return static_cast<std::uint32_t>(random() % bound);
    };
    store_ = store::Store::open(folder_ / "store", store::Store::Access::create);
    atlas_ = store::Atlas::open(folder_ / "atlas", store::Atlas::Access::create);
    const store::FileKey key{26, 1, "pubmed26n0001.xml"};
    std::vector<store::Shard> shards;
    std::vector<store::PlaceShard> placed;
    for (std::uint32_t range = 0; range < 60; range += 1 + below(2)) {
      store::Shard shard;
      store::PlaceShard places;
      shard.range = places.range = range;
      shard.keys = {key};
      shard.offsets = {0};
      for (std::uint32_t low = 0; low < 40; ++low) {
        const bool in_store = below(8) != 0;
        const bool in_atlas = below(8) != 0;
        const std::uint32_t year = below(5) == 0 ? 0 : 1931 + below(90);
        const std::uint32_t neuron = below(10) == 0 ? 0xFFFF'FFFF : below(neurons);
        if (in_store) {
          shard.low.push_back(static_cast<std::uint16_t>(low));
          shard.version.push_back(1);
          shard.year.push_back(static_cast<std::uint16_t>(year));
          shard.state.push_back(store::ArticleState::article);
          shard.key.push_back(0);
          shard.records.push_back(1);
          shard.descriptors.push_back(store::descriptor_code(1, 6));
          shard.major.push_back(0);
          shard.offsets.push_back(static_cast<std::uint32_t>(shard.descriptors.size()));
        }
        if (in_atlas) {
          places.low.push_back(static_cast<std::uint16_t>(low));
          places.neuron.push_back(neuron);
          places.second.push_back(0xFFFF'FFFF);
          places.distance.push_back(0);
        }
        if (in_atlas && neuron < neurons && (!in_store || year == 0)) {
          ++undated_;
        } else if (in_atlas && neuron < neurons) {
          ++expected_[year][neuron];
        }
      }
      shards.push_back(shard);
      placed.push_back(places);
    }
    store::LedgerEntry entry;
    entry.key = key;
    entry.md5 = std::string(32, '0');
    store_->commit(shards, entry);
    atlas_->put_placement([&](const store::PlacementSink& put) {
      for (const store::PlaceShard& places : placed) {
        put.places(store::encoded(places));
      }
      return true;
    });
    ranges_ = placed.size();
  }

  [[nodiscard]] std::vector<std::uint32_t> between(unsigned first, unsigned last) const {
    std::vector<std::uint32_t> sum(neurons);
    for (const auto& [year, counts] : expected_) {
      for (const auto& [neuron, count] : counts) {
        sum[neuron] += year >= first && year <= last ? count : 0;
      }
    }
    return sum;
  }
  static YearCounts::State counted(YearCounts& counts) {
    YearCounts::State state = counts.go_on();
    while (state.counted < state.ranges) {
      EXPECT_FALSE(counts.whole());
      EXPECT_TRUE(counts.of_cells(0, 9999).empty());
      state = counts.go_on();
    }
    EXPECT_TRUE(counts.whole());
    return state;
  }

  const exports::ScratchFolder folder_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<store::Atlas> atlas_;
  std::map<unsigned, std::map<std::uint32_t, std::uint32_t>> expected_;
  std::uint64_t undated_ = 0;
  std::size_t ranges_ = 0;
};

TEST_F(YearsOfCells, AreThoseOfTheStoreAtThePlacesOfTheAtlas) {
  YearCounts counts(*atlas_, store_.get(), neurons, std::size_t{1} << 20);
  const YearCounts::State state = counted(counts);
  EXPECT_EQ(state.ranges, ranges_);
  EXPECT_EQ(state.step, 1U);
  EXPECT_EQ(state.undated, undated_);
  std::vector<std::pair<unsigned, std::uint64_t>> by_year;
  for (const auto& [year, of_cells] : expected_) {
    by_year.emplace_back(year, 0);
    for (const auto& [neuron, count] : of_cells) {
      by_year.back().second += count;
    }
  }
  EXPECT_EQ(state.articles, by_year);
  for (const auto& [first, last] : std::vector<std::pair<unsigned, unsigned>>{
           {0, 9999}, {1950, 1950}, {1931, 1960}, {1999, 2020}, {2021, 2030}}) {
    EXPECT_EQ(counts.of_cells(first, last), between(first, last)) << first << ' ' << last;
  }
}

TEST_F(YearsOfCells, AddUpToThoseOfAPartOfTheMap) {
  YearCounts counts(*atlas_, store_.get(), neurons, std::size_t{1} << 20);
  std::vector<std::uint32_t> part(neurons);
  for (std::uint32_t cell = 0; cell < neurons; ++cell) {
    part[cell] = cell % 3;
  }
  EXPECT_TRUE(counts.of_part(part, 0).empty()) << "until all is counted";
  counted(counts);
  for (const std::uint32_t number : {0U, 1U, 2U, 3U}) {
    std::vector<std::pair<unsigned, std::uint64_t>> expected;
    for (const auto& [year, of_cells] : expected_) {
      std::uint64_t articles = 0;
      for (const auto& [neuron, count] : of_cells) {
        articles += neuron % 3 == number ? count : 0;
      }
      if (articles > 0) {
        expected.emplace_back(year, articles);
      }
    }
    EXPECT_EQ(counts.of_part(part, number), expected) << number;
  }
}

TEST_F(YearsOfCells, AreTakenTogetherWhereThereIsLittleRoom) {
  for (const auto& [steps, step] : std::vector<std::pair<std::size_t, unsigned>>{
           {90, 1}, {89, 5}, {19, 5}, {18, 10}, {10, 10}, {9, 50}, {3, 50}, {2, 500}, {0, 500}}) {
    YearCounts counts(*atlas_, store_.get(), neurons, steps * neurons * sizeof(std::uint32_t));
    const YearCounts::State state = counted(counts);
    if (expected_.size() == 90) {
      EXPECT_EQ(state.step, step) << steps;
    }
    const auto begin = [&](unsigned year) { return year - year % state.step; };
    EXPECT_EQ(counts.of_cells(1960, 1999), between(begin(1960), begin(1999) + state.step - 1));
    EXPECT_EQ(counts.of_cells(0, 9999), between(0, 9999));
  }
}

TEST_F(YearsOfCells, OfNoStoreThereIsNothingToCount) {
  YearCounts counts(*atlas_, nullptr, neurons, std::size_t{1} << 20);
  EXPECT_EQ(counts.go_on().ranges, 0U);
  EXPECT_FALSE(counts.whole());
  EXPECT_TRUE(counts.of_cells(0, 9999).empty());
}

}  // namespace
}  // namespace somatlas::serve
