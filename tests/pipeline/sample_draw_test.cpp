// The sample is the articles of lowest hash, in whatever order and by however many threads shards
// come.
#include "pipeline/sample_draw.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "pipeline/article_hash.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

using Random = std::mt19937_64;
using Articles = std::map<std::uint32_t, std::vector<store::DescriptorCode>>;  // by PMID

struct DrawnShard {
  store::Shard shard;
  std::vector<std::uint32_t> training_rows;
};

/// A shard of which about half the rows train; those go into training.
DrawnShard random_shard(Random& random, std::uint32_t range, Articles& training) {
  DrawnShard result;
  store::Shard& shard = result.shard;
  shard.range = range;
  shard.offsets.push_back(0);
  for (std::uint32_t low = 0; low < 400; ++low) {
    if (random() % 3 == 0) {
      continue;
    }
    shard.low.push_back(static_cast<std::uint16_t>(low));
    for (std::uint64_t n = random() % 6; n > 0; --n) {
      shard.descriptors.push_back(static_cast<store::DescriptorCode>(random() % 1000));
    }
    shard.offsets.push_back(static_cast<std::uint32_t>(shard.descriptors.size()));
    if (random() % 2 == 0) {
      const std::size_t row = shard.rows() - 1;
      result.training_rows.push_back(static_cast<std::uint32_t>(row));
      training[shard.pmid(row)] = {shard.row(row).begin(), shard.row(row).end()};
    }
  }
  return result;
}

Articles articles_of(const Sample& sample) {
  Articles articles;
  for (std::size_t r = 0; r < sample.pmid.size(); ++r) {
    articles[sample.pmid[r]] = {
        sample.codes.begin() + static_cast<std::ptrdiff_t>(sample.offsets[r]),
        sample.codes.begin() + static_cast<std::ptrdiff_t>(sample.offsets[r + 1])};
  }
  return articles;
}

TEST(SampleDraw, TakesTheLowestHashes) {
  Random random(test_seed());
  for (const std::size_t size : {1, 7, 100, 1'000, 1'000'000}) {
    const std::uint64_t seed = random();
    Articles training;
    std::vector<DrawnShard> shards;
    for (std::uint32_t range = 0; range < 40; ++range) {
      shards.push_back(random_shard(random, range, training));
    }
    std::shuffle(shards.begin(), shards.end(), random);
    SampleDraw draw(seed, size);
    tbb::parallel_for(std::size_t{0}, shards.size(),
                      [&](std::size_t i) { draw.add(shards[i].shard, shards[i].training_rows); });
    const Sample sample = draw.take();

    std::vector<std::pair<std::uint64_t, std::uint32_t>> tickets;
    for (const auto& [pmid, codes] : training) {
      tickets.emplace_back(article_hash(Salt::sample, pmid, seed), pmid);
    }
    std::sort(tickets.begin(), tickets.end());
    tickets.resize(std::min(tickets.size(), size));
    Articles expected;
    for (const auto& [hash, pmid] : tickets) {
      expected[pmid] = training[pmid];
    }
    EXPECT_TRUE(std::is_sorted(sample.pmid.begin(), sample.pmid.end()));
    EXPECT_EQ(articles_of(sample), expected) << size;
  }
}

TEST(SampleDraw, OfNothingIsEmpty) {
  SampleDraw draw(1, 5);
  const Sample sample = draw.take();
  EXPECT_TRUE(sample.pmid.empty());
  EXPECT_EQ(sample.offsets, std::vector<std::uint64_t>{0});
}

}  // namespace
}  // namespace somatlas::pipeline
