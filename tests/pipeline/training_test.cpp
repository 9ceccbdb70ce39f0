// Whole trainings on small random stores, compared for equality with the oracle: every side, start,
// device, tile size and thread count; going on from an earlier atlas after the store has changed.
#include "pipeline/training.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <tuple>

#include "pipeline/article_hash.h"
#include "pipeline/article_set.h"
#include "pipeline/pca_start.h"
#include "pipeline/schedule.h"
#include "store/atlas.h"
#include "store/store.h"
#include "tests/pipeline/random_corpus.h"
#include "tests/pipeline/training_fixture.h"
#include "tests/pipeline/training_oracle.h"

namespace somatlas::pipeline {
namespace {

namespace fs = std::filesystem;
using oracle::Article;
using testing_corpus::commit;
using testing_corpus::Corpus;
using testing_corpus::random_codes;
using testing_corpus::random_corpus;

std::vector<Article> training_articles(const Corpus& corpus, const TrainingSettings& settings) {
  std::vector<Article> articles;
  for (const auto& [pmid, codes] : corpus) {
    if (codes.size() >= settings.min_descriptors && !codes.empty() &&
        !held_out(pmid, settings.seed, settings.holdout)) {
      articles.push_back({pmid, codes});
    }
  }
  return articles;
}

/// The contract's start for every training article; the PCA sample is all of them.
std::vector<gpu::Neuron> start_of(const std::vector<Article>& articles,
                                  const TrainingSettings& settings) {
  std::vector<gpu::Neuron> start;
  if (settings.start == Start::random) {
    for (const Article& article : articles) {
      start.push_back(
          random_neuron(article.pmid, settings.seed, std::uint64_t{settings.side} * settings.side));
    }
    return start;
  }
  std::map<store::DescriptorCode, std::uint64_t> counts;
  for (const Article& article : articles) {
    for (const auto code : article.codes) {
      ++counts[code];
    }
  }
  std::vector<std::pair<store::DescriptorCode, std::uint64_t>> order(counts.begin(), counts.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second
                                : store::descriptor_ui(a.first) < store::descriptor_ui(b.first);
  });
  std::map<store::DescriptorCode, gpu::DescriptorId> ids;
  for (const auto& [code, count] : order) {
    ids.emplace(code, static_cast<gpu::DescriptorId>(ids.size()));
  }
  SampleRows sample;
  sample.offsets.push_back(0);
  for (const Article& article : articles) {
    sample.pmid.push_back(article.pmid);
    for (const auto code : article.codes) {
      sample.descriptors.push_back(ids.at(code));
    }
    sample.offsets.push_back(sample.descriptors.size());
  }
  const PcaStart pca(sample, static_cast<std::uint32_t>(ids.size()), settings.side);
  for (std::size_t i = 0; i < articles.size(); ++i) {
    start.push_back(
        pca.neuron(std::span(sample.descriptors)
                       .subspan(sample.offsets[i], sample.offsets[i + 1] - sample.offsets[i]),
                   articles[i].pmid));
  }
  return start;
}

std::vector<std::uint32_t> radii_of(const TrainingSettings& settings, std::uint64_t articles) {
  std::vector<std::uint32_t> radii;
  const std::uint32_t first = first_radius(settings, articles);
  for (std::uint32_t e = 0; e < 100; ++e) {
    radii.push_back(radius_at(e, first, settings.radius_end));
  }
  return radii;
}

void expect_trained_as(const oracle::Training& expected, const std::vector<Article>& articles,
                       const Corpus& corpus, const Recorder& seen, const AtlasContent& content) {
  ASSERT_EQ(seen.epochs_.size(), expected.epochs.size());
  for (std::size_t e = 0; e < expected.epochs.size(); ++e) {
    const auto count = static_cast<double>(articles.size());
    EXPECT_EQ(seen.epochs_[e].radius, expected.epochs[e].radius);
    EXPECT_EQ(seen.epochs_[e].quality.qe,
              static_cast<double>(expected.epochs[e].distance_sum) / count / 1048576.0);
    EXPECT_EQ(seen.epochs_[e].moved_share, static_cast<double>(expected.epochs[e].moved) / count);
    const auto neurons = static_cast<double>(expected.map.norm.size());
    const double vacant = static_cast<double>(expected.epochs[e].vacant) / neurons;
    const double empty =
        static_cast<double>(expected.epochs[e].vacant + expected.epochs[e].unhit) / neurons;
    EXPECT_EQ(seen.epochs_[e].quality.vacant_share, vacant);
    EXPECT_EQ(seen.epochs_[e].quality.unhit_share, empty - vacant);
  }
  for (std::size_t i = 0; i < articles.size(); ++i) {
    ASSERT_EQ(content.assignment.at(articles[i].pmid), expected.assignment[i]);
  }
  EXPECT_EQ(content.assignment.size(), articles.size());
  std::vector<std::uint32_t> hits(expected.map.norm.size(), 0);
  for (const std::uint32_t neuron : expected.bmus) {
    ++hits[neuron];
  }
  EXPECT_EQ(content.cells.hits, hits);
  EXPECT_EQ(content.planes.size(), expected.map.planes.size());
  for (const auto& [code, plane] : expected.map.planes) {
    const std::vector<std::uint16_t>& got = content.planes.at(code);
    EXPECT_TRUE(std::equal(plane.begin(), plane.end(), got.begin(), got.end())) << code;
  }
  EXPECT_TRUE(std::equal(content.cells.norm.begin(), content.cells.norm.end(),
                         expected.map.norm.begin(), expected.map.norm.end()));
  std::size_t with_descriptors = 0;
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_cell;
  for (const auto& [pmid, codes] : corpus) {
    if (codes.empty()) {
      continue;
    }
    ++with_descriptors;
    const bool any_known = std::any_of(codes.begin(), codes.end(), [&](auto code) {
      return expected.map.planes.count(code) != 0;
    });
    const oracle::Place none{gpu::no_neuron, gpu::no_neuron, 0};
    const oracle::Place place = any_known ? oracle::place(expected.map, {pmid, codes}) : none;
    ASSERT_EQ(content.places.at(pmid), place) << pmid;
    if (any_known) {
      by_cell[place.neuron].push_back(pmid);
    }
  }
  EXPECT_EQ(content.places.size(), with_descriptors);
  for (const auto& [neuron, pmids] : content.articles) {
    EXPECT_EQ(pmids, by_cell[neuron]);
  }
}

struct Shape {
  std::uint32_t side;
  Start start;
  std::size_t tile_rows;
  std::size_t tiles;
  unsigned threads;
  std::optional<std::size_t> device_cache;
};

std::string name_of(const Shape& shape) {
  return "side_" + std::to_string(shape.side) + (shape.start == Start::pca ? "_pca_" : "_random_") +
         std::to_string(shape.tiles) + "_tiles_of_" + std::to_string(shape.tile_rows) +
         "_threads_" + std::to_string(shape.threads) + "_cache_" +
         (shape.device_cache ? std::to_string(*shape.device_cache) : "all");
}

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << name_of(shape);
}

using DeviceAndShape = std::tuple<Device, Shape>;

class TrainingShapeTest : public TrainingTest, public testing::WithParamInterface<DeviceAndShape> {
 protected:
  void SetUp() override {
    TrainingTest::SetUp();
    device_ = std::get<Device>(GetParam());
    skip_without(device_);
  }
};

TEST_P(TrainingShapeTest, EqualsTheOracle) {
  const auto shape = std::get<Shape>(GetParam());
  Corpus corpus = random_corpus(random_, 250);
  if (shape.side == 3) {  // the oracle's time grows with the map and its descriptors
    // Of as many descriptors as an article may have, and of one: the second is placed only.
    std::vector<store::DescriptorCode>& most = corpus[70];
    most.clear();
    for (std::uint32_t number = 0; number < 1023; ++number) {
      most.push_back(store::descriptor_code(number, number % 3 == 0 ? 9 : 6));
    }
    std::sort(most.begin(), most.end());
    ASSERT_FALSE(held_out(70, TrainingSettings{}.seed, 0.1));
    corpus[71] = {most.back()};
  }
  commit(path("store"), "pubmed26n0001.xml.gz", corpus);
  TrainingOptions asked = options("atlas");
  asked.settings.side = shape.side;
  asked.settings.start = shape.start;
  asked.tile_rows = shape.tile_rows;
  asked.tiles = shape.tiles;
  asked.threads = shape.threads;
  asked.device_cache = shape.device_cache;
  Recorder seen;
  ASSERT_FALSE(train(asked, seen).stopped);

  const auto articles = training_articles(corpus, asked.settings);
  const auto expected = oracle::train(articles, start_of(articles, asked.settings), shape.side,
                                      radii_of(asked.settings, articles.size()),
                                      asked.settings.radius_end, asked.settings.epoch_limit);
  expect_trained_as(expected, articles, corpus, seen, read_content(asked.atlas_directory));
  // At the end over all articles that were trained on or held out.
  std::uint64_t cosine = 0;
  std::uint64_t count = 0;
  for (const auto& [pmid, codes] : corpus) {
    const bool known = std::any_of(codes.begin(), codes.end(),
                                   [&](auto code) { return expected.map.planes.count(code) != 0; });
    if (codes.size() >= asked.settings.min_descriptors && known) {
      const Article article{pmid, codes};
      cosine += oracle::cosine_distance(expected.map, article,
                                        oracle::place(expected.map, article).neuron);
      ++count;
    }
  }
  const auto atlas = store::Atlas::open(asked.atlas_directory, store::Atlas::Access::read);
  EXPECT_EQ(read_atlas_meta(*atlas).quality.cosine_qe.value(),
            static_cast<double>(cosine) / static_cast<double>(count) / 1073741824.0);
  EXPECT_FALSE(fs::exists(asked.atlas_directory + ".partial"));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TrainingShapeTest,
    testing::Combine(all_devices, testing::Values(Shape{1, Start::pca, 65'536, 3, 1, {}},
                                                  Shape{3, Start::random, 1, 1, 2, {}},
                                                  Shape{3, Start::pca, 7, 2, 1, 3'000},
                                                  Shape{16, Start::random, 65'536, 3, 2, 0},
                                                  Shape{16, Start::pca, 64, 3, 2, {}},
                                                  Shape{33, Start::random, 100, 2, 2, 10'000})),
    [](const testing::TestParamInfo<DeviceAndShape>& shaped) {
      return device_name(std::get<Device>(shaped.param)) + "_" +
             name_of(std::get<Shape>(shaped.param));
    });

INSTANTIATE_TEST_SUITE_P(Devices, DeviceTrainingTest, all_devices, device_parameter);

TEST_P(DeviceTrainingTest, CheckingASearchFindsNothingAndChangesNothing) {
  const Corpus corpus = random_corpus(random_, 300);
  commit(path("store"), "pubmed26n0001.xml.gz", corpus);
  TrainingOptions asked = options("plain");
  asked.settings.side = 33;
  asked.tile_rows = 1 + random_() % 60;
  Recorder plain;
  ASSERT_FALSE(train(asked, plain).stopped);
  asked.atlas_directory = path("checked");
  for (const std::uint64_t rows : {std::uint64_t{1}, 1 + random_() % 300, std::uint64_t{1'000}}) {
    SCOPED_TRACE("check " + std::to_string(rows));
    asked.check_rows = rows;
    asked.overwrite = true;
    Recorder checked;
    ASSERT_FALSE(train(asked, checked).stopped);
    ASSERT_EQ(checked.epochs_.size(), plain.epochs_.size());
    for (const EpochFigures& epoch : checked.epochs_) {
      EXPECT_GE(epoch.check.rows, std::min(rows, training_articles(corpus, asked.settings).size()));
      EXPECT_EQ(epoch.check.mismatches, 0U);
      EXPECT_GT(epoch.descriptors, 0U);
    }
    EXPECT_EQ(read_content(path("checked")), read_content(path("plain")));
  }
}

TEST_P(DeviceTrainingTest, HeldOutArticlesTheirCosinesAndTopographicErrorAreCounted) {
  const Corpus corpus = random_corpus(random_, 300);
  commit(path("store"), "pubmed26n0001.xml.gz", corpus);
  TrainingOptions asked = options("atlas");
  asked.settings.epoch_limit = 1;
  Recorder seen;
  ASSERT_FALSE(train(asked, seen).stopped);
  const auto articles = training_articles(corpus, asked.settings);
  const auto expected = oracle::train(articles, start_of(articles, asked.settings), 5,
                                      radii_of(asked.settings, articles.size()), 1, 1);
  std::uint64_t sum = 0;
  std::uint64_t count = 0;
  std::uint64_t apart = 0;
  std::uint64_t cosine = 0;
  for (const auto& [pmid, codes] : corpus) {
    if (codes.size() < 2 || !held_out(pmid, asked.settings.seed, asked.settings.holdout)) {
      continue;
    }
    const oracle::Place place = oracle::place(expected.map, {pmid, codes});
    sum += place.distance;
    cosine += oracle::cosine_distance(expected.map, {pmid, codes}, place.neuron);
    ++count;
    const int rows = static_cast<int>(place.neuron / 5) - static_cast<int>(place.second / 5);
    const int columns = static_cast<int>(place.neuron % 5) - static_cast<int>(place.second % 5);
    apart += std::abs(rows) > 1 || std::abs(columns) > 1 ? 1 : 0;
  }
  ASSERT_GT(count, 0U);
  const Quality& quality = seen.epochs_.at(0).quality;
  EXPECT_EQ(quality.heldout_qe.value(),
            static_cast<double>(sum) / static_cast<double>(count) / 1048576.0);
  EXPECT_EQ(quality.cosine_qe.value(),
            static_cast<double>(cosine) / static_cast<double>(count) / 1073741824.0);
  EXPECT_EQ(quality.topographic_error.value(),
            static_cast<double>(apart) / static_cast<double>(count));
}

TEST_P(DeviceTrainingTest, GoingOnFromAnAtlasKeepsPlacesSearchesNewArticlesAndForgetsGoneOnes) {
  Corpus corpus = random_corpus(random_, 250);
  commit(path("store"), "pubmed26n0001.xml.gz", corpus);
  TrainingOptions asked = options("first");
  Recorder before;
  ASSERT_FALSE(train(asked, before).stopped);
  const AtlasContent earlier = read_content(path("first"));
  const auto old_articles = training_articles(corpus, asked.settings);
  const oracle::Map old_map =
      oracle::train(old_articles, start_of(old_articles, asked.settings), 5,
                    radii_of(asked.settings, old_articles.size()), 1, asked.settings.epoch_limit)
          .map;

  Corpus changes = random_corpus(random_, 40);
  changes[5].assign({store::descriptor_code(900'001, 6), store::descriptor_code(900'002, 6)});
  std::set<std::uint32_t> deleted;
  for (const auto& [pmid, codes] : corpus) {
    const auto draw = random_() % 10;
    if (draw == 0) {
      deleted.insert(pmid);
    } else if (draw == 1) {
      changes[pmid] = random_codes(random_, 9);
    }
  }
  for (const std::uint32_t pmid : deleted) {
    changes.erase(pmid);
  }
  commit(path("store"), "pubmed26n0002.xml.gz", changes, deleted);
  for (const auto& [pmid, codes] : changes) {
    corpus[pmid] = codes;
  }
  for (const std::uint32_t pmid : deleted) {
    corpus.erase(pmid);
  }

  TrainingOptions next = options("second");
  next.from = path("first");
  Recorder after;
  ASSERT_FALSE(train(next, after).stopped);
  const auto articles = training_articles(corpus, asked.settings);
  std::map<std::uint32_t, std::vector<store::DescriptorCode>> old_codes;
  for (const Article& article : old_articles) {
    old_codes[article.pmid] = article.codes;
  }
  ArticleChanges expected_changes;
  std::vector<std::uint32_t> start;
  for (const Article& article : articles) {
    const auto old = old_codes.find(article.pmid);
    const bool same = old != old_codes.end() && old->second == article.codes;
    start.push_back(same ? earlier.assignment.at(article.pmid)
                         : oracle::place(old_map, article).neuron);
    ++(same                     ? expected_changes.unchanged
       : old == old_codes.end() ? expected_changes.added
                                : expected_changes.changed);
  }
  expected_changes.gone =
      old_articles.size() - expected_changes.unchanged - expected_changes.changed;
  const auto expected = oracle::train(articles, start, 5, {1}, 1, asked.settings.epoch_limit);
  const AtlasContent content = read_content(path("second"));
  expect_trained_as(expected, articles, corpus, after, content);
  for (const Article& article : articles) {
    const auto old = old_codes.find(article.pmid);
    if (old != old_codes.end() && old->second == article.codes) {
      expected_changes.moved +=
          content.places.at(article.pmid).neuron != earlier.places.at(article.pmid).neuron ? 1 : 0;
    }
  }
  ASSERT_TRUE(after.changes_.has_value());
  EXPECT_EQ(after.changes_->unchanged, expected_changes.unchanged);
  EXPECT_EQ(after.changes_->added, expected_changes.added);
  EXPECT_EQ(after.changes_->changed, expected_changes.changed);
  EXPECT_EQ(after.changes_->gone, expected_changes.gone);
  EXPECT_EQ(after.changes_->moved, expected_changes.moved);

  // Stopped in the middle and resumed, it ends in the same atlas.
  TrainingOptions halves = options("halves");
  halves.from = path("first");
  Recorder first_half;
  first_half.stop_after_ = 1;
  halves.stop = first_half.stop_.get_token();
  ASSERT_TRUE(train(halves, first_half).stopped);
  halves.stop = {};
  halves.resume = true;
  halves.from.clear();
  Recorder second_half;
  ASSERT_FALSE(train(halves, second_half).stopped);
  EXPECT_EQ(read_content(path("halves")), content);
  ASSERT_TRUE(second_half.changes_.has_value());
  EXPECT_EQ(second_half.changes_->moved, expected_changes.moved);
}

}  // namespace
}  // namespace somatlas::pipeline
