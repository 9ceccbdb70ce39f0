// Comparisons of two random atlases against plain loops over articles, pairs of regions and planes.
#include "pipeline/atlas_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "store/store_error.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

constexpr std::uint32_t none = 0xFFFF'FFFF;

struct Article {
  std::uint32_t neuron = none;
  std::uint64_t descriptors = 0;  // stands for them
  bool trained = false;
};

/// An atlas in memory.
class MadeAtlas : public store::Atlas {
 public:
  std::map<std::uint32_t, Article> articles_;
  std::map<store::DescriptorCode, std::vector<std::uint16_t>> planes_;
  std::map<store::DescriptorCode, std::uint64_t> frequency_;
  store::AtlasCells cells_;
  AtlasMeta meta_;
  std::string name_ = "made";

  [[nodiscard]] const std::string& directory() const override { return name_; }
  [[nodiscard]] std::optional<std::string> meta(const std::string& name) override {
    return name == meta_atlas ? std::optional(to_json(meta_)) : std::nullopt;
  }
  [[nodiscard]] std::vector<std::uint32_t> place_ranges() override { return ranges(false); }
  [[nodiscard]] std::vector<std::uint32_t> assignment_ranges() override { return ranges(true); }
  [[nodiscard]] std::optional<store::PlaceShard> places(std::uint32_t range) override {
    store::PlaceShard shard;
    for (const auto& [pmid, article] : articles_) {
      if (pmid >> 16U == range) {
        shard.low.push_back(static_cast<std::uint16_t>(pmid));
        shard.neuron.push_back(article.neuron);
      }
    }
    return shard.low.empty() ? std::nullopt : std::optional(shard);
  }
  [[nodiscard]] std::optional<store::AssignmentShard> assignment(std::uint32_t range) override {
    store::AssignmentShard shard;
    for (const auto& [pmid, article] : articles_) {
      if (pmid >> 16U == range && article.trained) {
        shard.low.push_back(static_cast<std::uint16_t>(pmid));
        shard.neuron.push_back(article.neuron);
        shard.fingerprint.push_back(article.descriptors);
      }
    }
    return shard.low.empty() ? std::nullopt : std::optional(shard);
  }
  [[nodiscard]] std::vector<store::AtlasDescriptor> descriptors() override {
    std::vector<store::AtlasDescriptor> all;
    for (const auto& [code, plane] : planes_) {
      all.push_back({code, "", {}, frequency_.at(code)});
    }
    std::ranges::sort(all, {}, [](const auto& one) { return store::descriptor_ui(one.code); });
    return all;
  }
  [[nodiscard]] std::optional<std::vector<std::uint16_t>> plane(
      store::DescriptorCode code) override {
    const auto found = planes_.find(code);
    return found == planes_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] store::AtlasCells cells() override { return cells_; }

  void put_meta(const std::string& /*name*/, const std::string& /*value*/) override {}
  void put_checkpoint(const std::function<std::optional<store::EncodedShard>()>& /*next*/,
                      const std::string& /*name*/, const std::string& /*value*/) override {}
  void put_placement(const std::function<bool(const store::PlacementSink&)>& /*write*/) override {}
  void put_planes(
      const std::function<bool(store::AtlasDescriptor&, std::string&)>& /*next*/) override {}
  void put_cells(const store::AtlasCells& /*cells*/) override {}
  void put_articles(
      const std::function<std::optional<store::EncodedArticles>()>& /*next*/) override {}
  [[nodiscard]] std::vector<std::uint32_t> articles(std::uint32_t /*neuron*/) override {
    return {};
  }
  [[nodiscard]] std::uint64_t disk_bytes() override { return 0; }
  void verify(const std::function<void(const store::Fault&)>& /*fault*/) override {}

 private:
  [[nodiscard]] std::vector<std::uint32_t> ranges(bool trained) const {
    std::set<std::uint32_t> all;
    for (const auto& [pmid, article] : articles_) {
      if (!trained || article.trained) {
        all.insert(pmid >> 16U);
      }
    }
    return {all.begin(), all.end()};
  }
};

class AtlasDiffs : public ::testing::Test {
 protected:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  void fill(MadeAtlas& atlas, std::uint32_t side, std::uint32_t regions) {
    const std::uint32_t cells = side * side;
    atlas.meta_.settings.side = side;
    atlas.cells_.levels[0].resize(regions);
    for (std::uint32_t i = 0; i < cells; ++i) {
      atlas.cells_.region.push_back(i < regions ? i : static_cast<std::uint32_t>(below(regions)));
      atlas.cells_.vacant.push_back(i >= regions && below(7) == 0 ? 1 : 0);
      atlas.cells_.hits.push_back(
          atlas.cells_.vacant[i] != 0 ? 0 : static_cast<std::uint32_t>(below(20)));
    }
    // Three ranges of PMIDs, with others of each atlas; some have no place.
    for (int n = 0; n < 600; ++n) {
      const auto pmid = static_cast<std::uint32_t>(below(3) * 65'536 * (1 + below(2)) + below(300));
      atlas.articles_[pmid] = {below(12) == 0 ? none : static_cast<std::uint32_t>(below(cells)),
                               below(3), below(4) != 0};
    }
    for (int n = 0; n < 25; ++n) {
      // UIs of both widths, whose order by text is not that of their codes.
      const auto number = static_cast<std::uint32_t>(1 + below(12));
      const store::DescriptorCode code = store::descriptor_code(number, below(2) == 0 ? 6 : 9);
      atlas.frequency_[code] = below(30);
      std::vector<std::uint16_t>& plane = atlas.planes_[code];
      plane.clear();
      for (std::uint32_t i = 0; i < cells; ++i) {
        plane.push_back(static_cast<std::uint16_t>(
            atlas.cells_.vacant[i] != 0 || below(3) == 0 ? 0 : below(16'384)));
      }
    }
  }

  void SetUp() override {
    random_.seed(test_seed());
    fill(before_, 7, 9);
    fill(after_, 8, 12);
  }
  [[nodiscard]] MapParts old_map() { return {before_, before_.cells_.region, 9}; }
  [[nodiscard]] MapParts new_map() { return {after_, after_.cells_.region, 12}; }

  std::mt19937_64 random_;
  MadeAtlas before_;
  MadeAtlas after_;
};

TEST_F(AtlasDiffs, CountSharedArticlesAsALoopDoes) {
  const AtlasOverlap overlap = overlap_of(old_map(), new_map());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> flows;
  AtlasOverlap expected;
  std::vector<std::uint64_t> before_in(9);
  std::vector<std::uint64_t> after_in(12);
  std::vector<std::uint64_t> before_shared(9);
  std::vector<std::uint64_t> after_shared(12);
  for (const auto& [pmid, article] : before_.articles_) {
    const auto other = after_.articles_.find(pmid);
    if (other != after_.articles_.end() && article.trained && other->second.trained) {
      ++expected.trained;
      expected.same_descriptors += article.descriptors == other->second.descriptors ? 1 : 0;
    }
    if (article.neuron == none) {
      continue;
    }
    const std::uint32_t from = before_.cells_.region[article.neuron];
    ++expected.before.articles;
    ++before_in[from];
    if (other != after_.articles_.end() && other->second.neuron != none) {
      const std::uint32_t to = after_.cells_.region[other->second.neuron];
      ++expected.shared;
      ++before_shared[from];
      ++after_shared[to];
      ++flows[{from, to}];
      expected.same_cell += article.neuron == other->second.neuron ? 1 : 0;
    }
  }
  for (const auto& [pmid, article] : after_.articles_) {
    if (article.neuron != none) {
      ++expected.after.articles;
      ++after_in[after_.cells_.region[article.neuron]];
    }
  }
  EXPECT_GT(overlap.shared, 30U);
  EXPECT_EQ(overlap.before.articles, expected.before.articles);
  EXPECT_EQ(overlap.after.articles, expected.after.articles);
  EXPECT_EQ(overlap.shared, expected.shared);
  EXPECT_EQ(overlap.trained, expected.trained);
  EXPECT_EQ(overlap.same_descriptors, expected.same_descriptors);
  EXPECT_EQ(overlap.same_cell, expected.same_cell);
  EXPECT_EQ(overlap.before.in, before_in);
  EXPECT_EQ(overlap.before.shared, before_shared);
  EXPECT_EQ(overlap.after.in, after_in);
  EXPECT_EQ(overlap.after.shared, after_shared);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> found;
  for (std::uint32_t from = 0; from < overlap.flows.size(); ++from) {
    EXPECT_TRUE(std::ranges::is_sorted(overlap.flows[from], {}, &AtlasOverlap::Flow::part));
    for (const AtlasOverlap::Flow& flow : overlap.flows[from]) {
      found[{from, flow.part}] = flow.articles;
    }
  }
  EXPECT_EQ(found, flows);
}

TEST_F(AtlasDiffs, RefuseAPlaceOutsideTheMap) {
  before_.articles_[5].neuron = 49;
  EXPECT_THROW(static_cast<void>(overlap_of(old_map(), new_map())), store::StoreError);
}

TEST_F(AtlasDiffs, LinkRegionsWithHalfOfThemselvesInAnother) {
  std::map<Fate, int> met;
  for (int round = 0; round < 300; ++round) {
    const std::size_t olds = 1 + below(6);
    const std::size_t news = 1 + below(6);
    AtlasOverlap overlap;
    overlap.before.in.resize(olds);
    overlap.before.shared.resize(olds);
    overlap.after.in.resize(news);
    overlap.after.shared.resize(news);
    overlap.flows.resize(olds);
    std::vector<std::vector<std::uint64_t>> articles(olds, std::vector<std::uint64_t>(news));
    for (std::size_t a = 0; a < olds; ++a) {
      for (std::size_t b = 0; b < news; ++b) {
        articles[a][b] = below(3) == 0 ? below(5) : 0;
        if (articles[a][b] != 0) {
          overlap.flows[a].push_back({static_cast<std::uint32_t>(b), articles[a][b]});
          overlap.before.shared[a] += articles[a][b];
          overlap.after.shared[b] += articles[a][b];
        }
      }
    }
    // In integers, by all pairs; of two halves the first counts.
    const auto linked = [&](std::size_t a, std::size_t b) {
      const std::uint64_t here = articles[a][b];
      bool first_of_a = true;
      bool first_of_b = true;
      for (std::size_t other = 0; other < b; ++other) {
        first_of_a = first_of_a && articles[a][other] < here;
      }
      for (std::size_t other = 0; other < a; ++other) {
        first_of_b = first_of_b && articles[other][b] < here;
      }
      return here != 0 && ((2 * here >= overlap.before.shared[a] && first_of_a) ||
                           (2 * here >= overlap.after.shared[b] && first_of_b));
    };
    const RegionFates fates = fates_of(matches_by_articles(overlap));
    const auto degree_of_old = [&](std::size_t a) {
      std::size_t links = 0;
      for (std::size_t b = 0; b < news; ++b) {
        links += linked(a, b) ? 1 : 0;
      }
      return links;
    };
    const auto degree_of_new = [&](std::size_t b) {
      std::size_t links = 0;
      for (std::size_t a = 0; a < olds; ++a) {
        links += linked(a, b) ? 1 : 0;
      }
      return links;
    };
    for (std::size_t a = 0; a < olds; ++a) {
      Fate expected = degree_of_old(a) == 0 ? Fate::vanished : Fate::split;
      for (std::size_t b = 0; b < news; ++b) {
        EXPECT_EQ(linked(a, b), std::ranges::binary_search(fates.successors[a], b));
        if (linked(a, b) && degree_of_old(a) == 1) {
          expected = degree_of_new(b) == 1 ? Fate::goes_on : Fate::merged;
        }
      }
      EXPECT_EQ(fates.before[a], expected);
      ++met[expected];
    }
    for (std::size_t b = 0; b < news; ++b) {
      Fate expected = degree_of_new(b) == 0 ? Fate::appeared : Fate::merged;
      for (std::size_t a = 0; a < olds; ++a) {
        EXPECT_EQ(linked(a, b), std::ranges::binary_search(fates.predecessors[b], a));
        if (linked(a, b) && degree_of_new(b) == 1) {
          expected = degree_of_old(a) == 1 ? Fate::goes_on : Fate::split;
        }
      }
      EXPECT_EQ(fates.after[b], expected);
      ++met[expected];
    }
  }
  EXPECT_EQ(met.size(), 5U);
}

TEST_F(AtlasDiffs, GrowthIsArticlesNowOverArticlesBefore) {
  const AtlasOverlap overlap = overlap_of(old_map(), new_map());
  const auto growth = growth_by_articles(overlap);
  const double corpus =
      static_cast<double>(overlap.after.articles) / static_cast<double>(overlap.before.articles);
  double all = 0;
  for (std::uint32_t to = 0; to < 12; ++to) {
    double before = 0;
    for (std::uint32_t from = 0; from < 9; ++from) {
      std::uint64_t here = 0;
      std::uint64_t shared = 0;
      std::uint64_t in = 0;
      for (const auto& [pmid, article] : before_.articles_) {
        if (article.neuron == none || before_.cells_.region[article.neuron] != from) {
          continue;
        }
        ++in;
        const auto other = after_.articles_.find(pmid);
        if (other != after_.articles_.end() && other->second.neuron != none) {
          ++shared;
          here += after_.cells_.region[other->second.neuron] == to ? 1 : 0;
        }
      }
      before += shared == 0 ? 0 : static_cast<double>(here * in) / static_cast<double>(shared);
    }
    ASSERT_EQ(growth[to].has_value(), before > 0);
    if (growth[to]) {
      EXPECT_NEAR(growth[to]->before, before, 1e-9);
      EXPECT_NEAR(growth[to]->relative * corpus * before, static_cast<double>(overlap.after.in[to]),
                  1e-6);
      all += growth[to]->before;
    }
  }
  std::uint64_t in_sharing = 0;
  for (std::uint32_t from = 0; from < 9; ++from) {
    in_sharing += overlap.before.shared[from] == 0 ? 0 : overlap.before.in[from];
  }
  EXPECT_NEAR(all, static_cast<double>(in_sharing), 1e-6);
}

TEST_F(AtlasDiffs, GrowthByLinksIsOfWholeRegionsAlone) {
  AtlasOverlap overlap;
  overlap.before = {100, {40, 30, 20, 10}, {0, 0, 0, 0}};
  overlap.after = {200, {100, 60, 30, 10}, {0, 0, 0, 0}};
  RegionFates fates;
  // 0 and 1 become 0; 2 is split into 1 and 2; 3 has vanished and 3 appeared.
  fates.successors = {{0}, {0}, {1, 2}, {}};
  fates.predecessors = {{0, 1}, {2}, {2}, {}};
  const auto growth = growth_by_links(overlap, fates);
  ASSERT_TRUE(growth[0]);
  EXPECT_EQ(growth[0]->before, 70);
  EXPECT_DOUBLE_EQ(growth[0]->relative, 100.0 / 70 / 2);
  EXPECT_FALSE(growth[1] || growth[2] || growth[3]);
}

TEST_F(AtlasDiffs, TopicsLieWhereMostOfTheirArticlesAre) {
  const AtlasOverlap overlap = overlap_of(old_map(), new_map());
  TopicRequest request;
  request.likeness = true;
  const TopicMoves topics =
      topic_moves(old_map(), before_.cells_, new_map(), after_.cells_, overlap, request);
  std::set<store::DescriptorCode> moved;
  for (const TopicMove& move : topics.moves) {
    moved.insert(move.code);
    const auto check = [&](MadeAtlas& atlas, std::size_t parts, const TopicPlace& place) {
      std::vector<double> articles(parts);
      double total = 0;
      const std::vector<std::uint16_t>& plane = atlas.planes_.at(move.code);
      for (std::size_t i = 0; i < plane.size(); ++i) {
        articles[atlas.cells_.region[i]] += plane[i] / 16383.0 * atlas.cells_.hits[i];
        total += plane[i] / 16383.0 * atlas.cells_.hits[i];
      }
      const auto most = std::ranges::max_element(articles);
      EXPECT_EQ(place.part, static_cast<std::uint32_t>(most - articles.begin()));
      EXPECT_NEAR(place.share, *most / total, 1e-9);
      EXPECT_EQ(place.cell,
                static_cast<std::uint32_t>(std::ranges::max_element(plane) - plane.begin()));
      EXPECT_EQ(place.articles, atlas.frequency_.at(move.code));
      for (double& value : articles) {
        value /= total;
      }
      return articles;
    };
    const std::vector<double> old_share = check(before_, 9, move.before);
    const std::vector<double> new_share = check(after_, 12, move.after);
    // Total variation between where the topic is and where its parts' shared articles are.
    std::vector<double> expected(12);
    double carried = 0;
    for (std::size_t from = 0; from < 9; ++from) {
      for (const AtlasOverlap::Flow& flow : overlap.flows[from]) {
        const double share = old_share[from] * static_cast<double>(flow.articles) /
                             static_cast<double>(overlap.before.shared[from]);
        expected[flow.part] += share;
        carried += share;
      }
    }
    double apart = 0;
    for (std::size_t to = 0; to < 12; ++to) {
      apart += std::abs(expected[to] / carried - new_share[to]) / 2;
    }
    ASSERT_TRUE(move.moved);
    EXPECT_NEAR(*move.moved, apart, 1e-9);
  }
  std::set<store::DescriptorCode> expected_moved;
  std::set<store::DescriptorCode> gone;
  std::set<store::DescriptorCode> appeared;
  for (const auto& [code, articles] : before_.frequency_) {
    const auto other = after_.frequency_.find(code);
    if (other == after_.frequency_.end()) {
      gone.insert(code);
    } else if (articles >= 10 && other->second >= 10) {
      expected_moved.insert(code);
    }
  }
  for (const auto& [code, articles] : after_.frequency_) {
    if (!before_.frequency_.contains(code)) {
      appeared.insert(code);
    }
  }
  EXPECT_EQ(moved, expected_moved);
  const auto codes = [](const std::vector<store::AtlasDescriptor>& list) {
    std::set<store::DescriptorCode> all;
    for (const store::AtlasDescriptor& descriptor : list) {
      all.insert(descriptor.code);
    }
    return all;
  };
  EXPECT_EQ(codes(topics.gone), gone);
  EXPECT_EQ(codes(topics.appeared), appeared);
  EXPECT_TRUE(
      std::ranges::is_sorted(topics.gone, std::greater<>(), &store::AtlasDescriptor::articles));
}

TEST_F(AtlasDiffs, LikenessIsTheCorrelationOfMeanWeights) {
  const AtlasOverlap overlap = overlap_of(old_map(), new_map());
  TopicRequest request;
  request.likeness = true;
  const TopicMoves topics =
      topic_moves(old_map(), before_.cells_, new_map(), after_.cells_, overlap, request);
  std::set<store::DescriptorCode> all;
  for (const MadeAtlas* atlas : {&before_, &after_}) {
    for (const auto& [code, plane] : atlas->planes_) {
      all.insert(code);
    }
  }
  // By part a vector over all descriptors, 0 where the atlas lacks one.
  const auto vectors = [&](MadeAtlas& atlas, std::size_t parts) {
    std::vector<std::vector<double>> result(parts);
    for (const store::DescriptorCode code : all) {
      std::vector<double> sum(parts);
      std::vector<double> mass(parts);
      double total = 0;
      double total_mass = 0;
      for (std::size_t i = 0; i < atlas.cells_.region.size(); ++i) {
        const double here = atlas.cells_.vacant[i] != 0 ? 0 : atlas.cells_.hits[i] + 1.0;
        const double weight = atlas.planes_.contains(code) ? atlas.planes_[code][i] / 16383.0 : 0;
        sum[atlas.cells_.region[i]] += here * weight;
        mass[atlas.cells_.region[i]] += here;
        total += here * weight;
        total_mass += here;
      }
      for (std::size_t part = 0; part < parts; ++part) {
        result[part].push_back((mass[part] > 0 ? sum[part] / mass[part] : 0) - total / total_mass);
      }
    }
    return result;
  };
  const auto old_vectors = vectors(before_, 9);
  const auto new_vectors = vectors(after_, 12);
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += a[i] * b[i];
    }
    return sum;
  };
  ASSERT_EQ(topics.likeness.size(), 9U * 12);
  for (std::size_t a = 0; a < 9; ++a) {
    for (std::size_t b = 0; b < 12; ++b) {
      EXPECT_NEAR(topics.likeness[a * 12 + b],
                  product(old_vectors[a], new_vectors[b]) /
                      std::sqrt(product(old_vectors[a], old_vectors[a]) *
                                product(new_vectors[b], new_vectors[b])),
                  1e-9);
    }
  }
  const RegionMatches matches = matches_by_likeness(topics.likeness, 9, 12);
  for (std::uint32_t a = 0; a < 9; ++a) {
    for (std::uint32_t b = 0; b < 12; ++b) {
      EXPECT_LE(topics.likeness[a * 12 + b], matches.successor[a]->share);
      EXPECT_LE(topics.likeness[a * 12 + b], matches.predecessor[b]->share);
    }
    EXPECT_EQ(topics.likeness[a * 12 + matches.successor[a]->region], matches.successor[a]->share);
  }
  RegionMatches made;
  made.successor = {RegionMatch{0, 0.69}, RegionMatch{1, 0.7}};
  made.predecessor.resize(2);
  made.least = matches.least;
  EXPECT_EQ(fates_of(made).before, (std::vector{Fate::vanished, Fate::goes_on}));
}

TEST_F(AtlasDiffs, AnAtlasWithItselfStaysAsItIs) {
  const auto diff = diff_atlases(before_, before_, {});
  ASSERT_TRUE(diff);
  EXPECT_EQ(diff->by, MatchBy::articles);
  EXPECT_EQ(diff->corpus_growth, 1);
  for (std::uint32_t a = 0; a < 9; ++a) {
    EXPECT_EQ(diff->fates.before[a], Fate::goes_on);
    EXPECT_EQ(diff->fates.successors[a], std::vector{a});
    EXPECT_DOUBLE_EQ(diff->growth[a]->relative, 1);
  }
  for (const TopicMove& move : diff->topics.moves) {
    EXPECT_NEAR(*move.moved, 0, 1e-9);
    EXPECT_EQ(move.before, move.after);
  }
  DiffRequest by_weights;
  by_weights.by = MatchBy::likeness;
  EXPECT_EQ(diff_atlases(before_, before_, by_weights)->fates.before, diff->fates.before);
}

TEST_F(AtlasDiffs, MatchByWeightsWhereArticlesTellLittle) {
  EXPECT_FALSE(few_shared({{100, {}, {}}, {500, {}, {}}, 10, {}, 0, 8, 4}));
  EXPECT_TRUE(few_shared({{100, {}, {}}, {500, {}, {}}, 9, {}, 0, 8, 4}));
  EXPECT_TRUE(few_shared({{500, {}, {}}, {100, {}, {}}, 9, {}, 0, 8, 4}));
  EXPECT_FALSE(other_articles({{100, {}, {}}, {500, {}, {}}, 10, {}, 0, 8, 4}));
  EXPECT_TRUE(other_articles({{100, {}, {}}, {500, {}, {}}, 10, {}, 0, 9, 4}));
  for (auto& [pmid, article] : after_.articles_) {
    article.descriptors += 10;
  }
  before_.meta_.store_id = "one";
  after_.meta_.store_id = "two";
  const auto diff = diff_atlases(before_, after_, {});
  EXPECT_EQ(diff->by, MatchBy::likeness);
  ASSERT_FALSE(diff->topics.moves.empty());
  for (const TopicMove& move : diff->topics.moves) {
    EXPECT_FALSE(move.moved);
  }
  // In one store an article that was revised is still the same.
  after_.meta_.store_id = "one";
  EXPECT_EQ(diff_atlases(before_, after_, {})->by, MatchBy::articles);
  std::erase_if(after_.articles_, [](const auto& entry) { return entry.first % 25 != 0; });
  EXPECT_EQ(diff_atlases(before_, after_, {})->by, MatchBy::articles);
  for (auto& [pmid, article] : before_.articles_) {
    article.neuron = pmid % 25 == 0 ? none : article.neuron;
  }
  EXPECT_EQ(diff_atlases(before_, after_, {})->by, MatchBy::likeness);
}

TEST_F(AtlasDiffs, CellsCompareOnlyWhereTheLaterWentOn) {
  before_.meta_.store_id = after_.meta_.store_id = "id";
  before_.meta_.store_state = "one";
  after_.meta_.incremental_from = "one";
  EXPECT_FALSE(diff_atlases(before_, after_, {})->goes_on);  // another side
  MadeAtlas later = before_;
  later.meta_.incremental_from = "one";
  EXPECT_TRUE(diff_atlases(before_, later, {})->goes_on);
  later.meta_.incremental_from = "two";
  EXPECT_FALSE(diff_atlases(before_, later, {})->goes_on);
  later.meta_.incremental_from = "one";
  later.meta_.store_id = "other";
  EXPECT_FALSE(diff_atlases(before_, later, {})->goes_on);
}

TEST_F(AtlasDiffs, AStopGivesNothing) {
  DiffRequest request;
  request.progress = [](double) { return false; };
  EXPECT_FALSE(diff_atlases(before_, after_, request));
}

}  // namespace
}  // namespace somatlas::pipeline
