// Synthetic articles, drawn one by one: they follow the table, they have topics, and each is a
// function of (seed, number).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "pipeline/synth_article.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

constexpr std::uint64_t drawn = 200'000;

struct Census {
  std::vector<std::uint64_t> by_rank = std::vector<std::uint64_t>(synth_descriptors);
  std::uint64_t uses = 0;
  std::uint64_t majors = 0;
  std::vector<std::uint64_t> by_size = std::vector<std::uint64_t>(65);
};

const Census& census() {
  static const Census counted = [] {
    Census census;
    const SynthModel model(1);
    SynthArticle article;
    for (std::uint64_t i = 0; i < drawn; ++i) {
      draw_synth_article(model, i, article);
      ++census.by_size[article.count];
      census.uses += article.count;
      for (std::uint32_t d = 0; d < article.count; ++d) {
        ++census.by_rank[synth_rank(article.number[d])];
        census.majors += article.major[d];
      }
    }
    return census;
  }();
  return counted;
}

/// counted of drawn articles against frequency of 2^32, in thousandths.
std::int64_t thousandths_off(std::uint64_t counted, std::uint64_t frequency) {
  const double expected = static_cast<double>(frequency) * drawn / 4294967296.0;
  return static_cast<std::int64_t>(1000.0 * (static_cast<double>(counted) - expected) / expected);
}

TEST(SynthArticle, MeanIsThatOfMedline) {
  EXPECT_GE(census().uses * 10, drawn * 110);
  EXPECT_LE(census().uses * 10, drawn * 112);
}

TEST(SynthArticle, SizesSpread) {
  const auto& sizes = census().by_size;
  EXPECT_EQ(sizes[0], 0U);
  EXPECT_GT(sizes[1], 0U);
  std::uint64_t large = 0;
  for (std::size_t k = 30; k < sizes.size(); ++k) {
    large += sizes[k];
  }
  EXPECT_GT(large, drawn / 5'000);
  EXPECT_LT(large, drawn / 100);
}

// The head, one by one: within 1 % and what chance does to a count (four standard deviations).
TEST(SynthArticle, HeadFollowsTheTable) {
  for (std::uint32_t rank = 0; rank < 200; ++rank) {
    const double expected = synth_frequency(rank) / 4294967296.0 * drawn;
    const double counted = static_cast<double>(census().by_rank[rank]);
    EXPECT_LE(std::abs(counted - expected), expected / 100 + 4 * std::sqrt(expected))
        << "rank " << rank << ": " << counted << ", not " << expected;
  }
}

// The rest in bands of rank that double: each has thousands of uses down to rank 24,000.
TEST(SynthArticle, BandsFollowTheTable) {
  for (std::uint32_t begin = 50; begin < 24'000; begin *= 2) {
    const std::uint32_t end = std::min(begin * 2, 24'000U);
    std::uint64_t counted = 0;
    std::uint64_t expected = 0;
    for (std::uint32_t rank = begin; rank < end; ++rank) {
      counted += census().by_rank[rank];
      expected += synth_frequency(rank);
    }
    EXPECT_LE(std::abs(thousandths_off(counted, expected)), 10) << "ranks from " << begin;
  }
}

TEST(SynthArticle, MajorTopicsAreAThird) {
  EXPECT_GT(census().majors * 100, census().uses * 31);
  EXPECT_LT(census().majors * 100, census().uses * 35);
}

// The curve is the fit it says it is: some counts of the baseline of 2017, in articles of
// 22,289,716.
TEST(SynthArticle, TableFollowsTheCountsOf2017) {
  const std::map<std::uint32_t, std::uint64_t> counts{
      {0, 16'092'553}, {10, 1'300'970}, {20, 597'351},   {30, 410'382},   {50, 306'297},
      {100, 189'096},  {200, 111'704},  {500, 62'505},   {1'000, 37'179}, {2'000, 20'947},
      {5'000, 7'795},  {10'000, 2'695}, {15'000, 1'048}, {20'000, 381}};
  for (const auto& [rank, count] : counts) {
    const std::uint64_t table = std::uint64_t{synth_frequency(rank)} * 22'289'716 >> 32;
    EXPECT_LE(std::max(table, count) - std::min(table, count), count / 40 + 1) << "rank " << rank;
  }
}

TEST(SynthArticle, RanksAndNumbersAreOneToOne) {
  std::set<std::uint32_t> numbers;
  for (std::uint32_t rank = 0; rank < synth_descriptors; ++rank) {
    const std::uint32_t number = synth_number(rank);
    EXPECT_EQ(synth_rank(number), rank);
    EXPECT_GE(number, 1U);
    EXPECT_LE(number, synth_descriptors);
    numbers.insert(number);
  }
  EXPECT_EQ(numbers.size(), synth_descriptors);
}

TEST(SynthArticle, PmidsAscendWith93Percent) {
  const std::uint64_t seed = test_seed();
  std::uint64_t last = 0;
  std::uint64_t gaps = 0;
  constexpr std::uint64_t articles = 119 * 500;
  for (std::uint64_t i = 0; i < articles; ++i) {
    const std::uint64_t pmid = synth_pmid(seed, i);
    ASSERT_GT(pmid, last);
    ASSERT_LE(pmid, last + 3);
    gaps += pmid - last - 1;
    last = pmid;
  }
  EXPECT_LE(last, 128U * 500);
  EXPECT_GE(gaps, 9U * 499);
  EXPECT_LE(gaps, 9U * 500);
}

TEST(SynthArticle, IsAFunctionOfSeedAndNumber) {
  const std::uint64_t seed = test_seed();
  const SynthModel model(seed);
  const SynthModel again(seed);
  const SynthModel other(seed + 1);
  SynthArticle a;
  SynthArticle b;
  std::uint64_t different = 0;
  for (std::uint64_t n = 0; n < 500; ++n) {
    const std::uint64_t i = n * 77'777;
    draw_synth_article(model, i, a);
    draw_synth_article(again, i ^ 1U, b);  // what was drawn before makes no difference
    draw_synth_article(again, i, b);
    const std::vector<std::uint32_t> first(a.number.begin(), a.number.begin() + a.count);
    EXPECT_EQ(first, std::vector<std::uint32_t>(b.number.begin(), b.number.begin() + b.count));
    EXPECT_TRUE(std::equal(a.major.begin(), a.major.begin() + a.count, b.major.begin()));
    EXPECT_EQ(a.pmid, b.pmid);
    EXPECT_EQ(a.year, b.year);
    EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
    EXPECT_EQ(std::adjacent_find(first.begin(), first.end()), first.end());
    draw_synth_article(other, i, b);
    different +=
        first != std::vector<std::uint32_t>(b.number.begin(), b.number.begin() + b.count) ? 1 : 0;
  }
  EXPECT_GT(different, 490U);
}

/// Mean number of shared descriptors that are no check tags, times 1,000.
std::uint64_t shared(const std::vector<std::vector<std::uint32_t>>& a,
                     const std::vector<std::vector<std::uint32_t>>& b) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<std::uint32_t> both;
    std::set_intersection(a[i].begin(), a[i].end(), b[i].begin(), b[i].end(),
                          std::back_inserter(both));
    sum += both.size();
  }
  return sum * 1'000 / a.size();
}

TEST(SynthArticle, TopicsAndAreasShareDescriptors) {
  const SynthModel model(test_seed());
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_topic;
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_area;
  std::vector<std::uint32_t> last;
  std::vector<std::vector<std::uint32_t>> pairs[6];
  SynthArticle article;
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    draw_synth_article(model, i, article);
    std::vector<std::uint32_t> row;
    for (std::uint32_t d = 0; d < article.count; ++d) {
      if (synth_rank(article.number[d]) >= synth_tags) {
        row.push_back(article.number[d]);
      }
    }
    const auto pair = [&](std::vector<std::uint32_t>& before, int kind) {
      if (!before.empty()) {
        pairs[kind].push_back(before);
        pairs[kind + 1].push_back(row);
      }
      before = row;
    };
    pair(by_topic[article.topic], 0);
    pair(by_area[model.topic(article.topic).area], 2);
    pair(last, 4);
  }
  const std::uint64_t topic = shared(pairs[0], pairs[1]);
  const std::uint64_t area = shared(pairs[2], pairs[3]);
  const std::uint64_t any = shared(pairs[4], pairs[5]);
  EXPECT_GT(topic, area * 3) << topic << " " << area << " " << any;
  EXPECT_GT(area, any * 3 / 2) << topic << " " << area << " " << any;
}

TEST(SynthArticle, RevisionChangesTheDescriptors) {
  const SynthModel model(test_seed());
  SynthArticle before;
  SynthArticle after;
  std::uint64_t emptied = 0;
  for (std::uint64_t i = 0; i < 2'000; ++i) {
    draw_synth_article(model, i, before);
    revise_synth_article(model, i, 1, after);
    EXPECT_EQ(after.pmid, before.pmid);
    EXPECT_EQ(after.year, before.year);
    EXPECT_FALSE(
        after.count == before.count &&
        std::equal(after.number.begin(), after.number.begin() + after.count, before.number.begin()))
        << "article " << i;
    emptied += after.count == 0 ? 1 : 0;
  }
  EXPECT_GT(emptied, 50U);
  EXPECT_LT(emptied, 160U);
}

}  // namespace
}  // namespace somatlas::pipeline
