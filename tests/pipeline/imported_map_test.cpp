// Maps that another program trained, made atlases of: a codebook gives what the training that left
// it gives, or what plain loops find where it is of other descriptors; best matches give what going
// on from their places gives; what stops in between leaves nothing.
#include "pipeline/imported_map.h"

#include "pipeline/cell_labels.h"
#include "pipeline/mapping.h"
#include "store/store.h"
#include "store/store_error.h"
#include "tests/pipeline/random_corpus.h"
#include "tests/pipeline/training_fixture.h"

namespace somatlas::pipeline {
namespace {

namespace fs = std::filesystem;
using testing_corpus::commit;
using testing_corpus::random_corpus;

store::AtlasCells without_leading(store::AtlasCells cells) {
  cells.leading.clear();
  cells.leading_weight.clear();
  return cells;
}

class ImportedMapTest : public TrainingTest {
 protected:
  void SetUp() override {
    TrainingTest::SetUp();
    corpus_ = random_corpus(random_, 150);
    commit(path("store"), "pubmed26n0001.xml.gz", corpus_);
    Recorder seen;
    ASSERT_FALSE(train(options("trained"), seen).stopped);
    trained_ = read_content(path("trained"));
    codebook_.side = 5;
    for (const auto& [code, plane] : trained_.planes) {
      codebook_.codes.push_back(code);
      codebook_.planes.push_back(plane);
    }
    // The file's order is its own.
    std::reverse(codebook_.codes.begin(), codebook_.codes.end());
    std::reverse(codebook_.planes.begin(), codebook_.planes.end());
    matches_.side = 5;
    for (const auto& [pmid, neuron] : places_of_training()) {
      matches_.pmid.push_back(pmid);
      matches_.neuron.push_back(neuron);
    }
  }
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> places_of_training() const {
    std::map<std::uint32_t, std::uint32_t> places;
    for (const auto& [pmid, neuron] : trained_.assignment) {
      places[pmid] = trained_.places.at(pmid).neuron;
    }
    return places;
  }
  [[nodiscard]] TrainingOptions importing(const std::string& atlas, ImportedMap map) const {
    TrainingOptions result = options(atlas);
    result.settings.side = 64;  // the map's own counts
    result.imported = std::move(map);
    return result;
  }
  AtlasContent import(const std::string& atlas, ImportedMap map) {
    EXPECT_FALSE(train(importing(atlas, std::move(map)), seen_).stopped);
    store::Atlas::open(path(atlas), store::Atlas::Access::read)
        ->verify([](const store::Fault& fault) { ADD_FAILURE() << fault.where << fault.what; });
    return read_content(path(atlas));
  }

  testing_corpus::Corpus corpus_;
  AtlasContent trained_;
  Codebook codebook_;
  BestMatches matches_;
  Recorder seen_;
};

TEST_F(ImportedMapTest, ACodebookGivesWhatTheTrainingThatLeftItGives) {
  const AtlasContent imported = import("imported", {&codebook_, nullptr, {}});
  EXPECT_EQ(imported.planes, trained_.planes);
  EXPECT_EQ(imported.places, trained_.places);
  EXPECT_EQ(without_leading(imported.cells), without_leading(trained_.cells));
  // What leads a cell is told by the articles that lie there, where a training goes by those that
  // its codebook was made from.
  CellCollector collector(5, trained_.cells.vacant, cell_evidence(trained_.cells.hits, 5, 1),
                          trained_.assignment.size());
  const auto atlas = store::Atlas::open(path("imported"), store::Atlas::Access::read);
  for (const store::AtlasDescriptor& descriptor : atlas->descriptors()) {
    collector.add_rows({descriptor.code, descriptor.articles, true},
                       trained_.planes.at(descriptor.code), 0, 5);
  }
  EXPECT_EQ(imported.cells.leading, collector.labels().leading);
  EXPECT_EQ(imported.articles, trained_.articles);
  EXPECT_EQ(imported.assignment, places_of_training());
  const AtlasMeta meta = atlas_meta_from_json(imported.meta);
  const AtlasMeta before = atlas_meta_from_json(trained_.meta);
  EXPECT_EQ(meta.settings.side, 5U);
  EXPECT_EQ(meta.settings.start, Start::imported);
  EXPECT_EQ(meta.epochs, 0U);
  EXPECT_EQ(meta.placed_articles, before.placed_articles);
  EXPECT_EQ(meta.quality.qe, before.quality.qe);
  EXPECT_EQ(meta.quality.topographic_error, before.quality.topographic_error);
  EXPECT_TRUE(seen_.epochs_.empty());
}

TEST_F(ImportedMapTest, BestMatchesGiveWhatGoingOnFromTheirPlacesGives) {
  const AtlasContent matched = import("matched", {nullptr, &matches_, {}});
  static_cast<void>(import("imported", {&codebook_, nullptr, {}}));
  TrainingOptions one_epoch = options("next");
  one_epoch.from = path("imported");
  one_epoch.settings.epoch_limit = 1;
  ASSERT_FALSE(train(one_epoch, seen_).stopped);
  EXPECT_EQ(seen_.epochs_.size(), 1U);
  EXPECT_EQ(seen_.changes_->unchanged, trained_.assignment.size());
  const AtlasContent next = read_content(path("next"));
  EXPECT_EQ(matched.planes, next.planes);
  EXPECT_EQ(matched.places, next.places);
  EXPECT_EQ(matched.assignment, next.assignment);
  EXPECT_EQ(without_leading(matched.cells), without_leading(next.cells));

  // Those that are not named are searched for with the others' codebook.
  std::vector<oracle::Article> all;
  std::vector<oracle::Article> named;
  std::vector<std::uint32_t> neurons;
  BestMatches some{5, {}, {}};
  for (std::size_t i = 0; i < matches_.pmid.size(); ++i) {
    all.push_back({matches_.pmid[i], corpus_.at(matches_.pmid[i])});
    if (random_() % 3 != 0 || i == 0) {
      some.pmid.push_back(matches_.pmid[i]);
      some.neuron.push_back(static_cast<std::uint32_t>(random_() % 25));
      named.push_back(all.back());
      neurons.push_back(some.neuron.back());
    }
  }
  some.pmid.push_back(4'000'000'000);  // that the store does not have
  some.neuron.push_back(3);
  const oracle::Map first = oracle::update(named, neurons, 5, 1);
  std::map<std::uint32_t, std::uint32_t> expected;
  neurons.clear();
  for (const oracle::Article& article : all) {
    const auto found = std::find(named.begin(), named.end(), article);
    expected[article.pmid] = found != named.end()
                                 ? some.neuron[static_cast<std::size_t>(found - named.begin())]
                                 : oracle::place(first, article).neuron;
    neurons.push_back(expected[article.pmid]);
  }
  const oracle::Map second = oracle::update(all, neurons, 5, 1);
  const AtlasContent partly = import("partly", {nullptr, &some, {}});
  EXPECT_EQ(partly.assignment, expected);
  for (const auto& [code, plane] : partly.planes) {
    EXPECT_TRUE(std::equal(plane.begin(), plane.end(), second.planes.at(code).begin()));
  }
  EXPECT_EQ(seen_.notes_.size(), 1U);

  BestMatches of_others{5, {4'000'000'000}, {3}};
  EXPECT_THROW((void)train(importing("others", {nullptr, &of_others, {}}), seen_), TrainingError);
}

TEST_F(ImportedMapTest, ACodebookOfOtherDescriptorsPlacesWhatItKnows) {
  Codebook other{5, {}, {}};
  for (std::size_t i = 0; i < codebook_.codes.size(); i += 2) {
    other.codes.push_back(codebook_.codes[i]);
    other.planes.emplace_back();
    for (std::size_t neuron = 0; neuron < 25; ++neuron) {
      other.planes.back().push_back(neuron == 7 ? 0
                                                : static_cast<std::uint16_t>(random_() % 16'384));
    }
  }
  // One that no article has: it counts in the norms and keeps its plane.
  other.codes.push_back(store::descriptor_code(999'999, 6));
  other.planes.push_back(std::vector<std::uint16_t>(25, 9'000));
  other.planes.back()[7] = 0;
  const AtlasContent content = import("other", {&other, nullptr, {}});
  oracle::Map map;
  map.side = 5;
  map.norm.resize(25);
  map.vacant.assign(25, false);
  map.vacant[7] = true;
  std::vector<std::uint64_t> square_sum(25);
  for (std::size_t i = 0; i < other.codes.size(); ++i) {
    map.planes[other.codes[i]].assign(other.planes[i].begin(), other.planes[i].end());
    EXPECT_EQ(content.planes.at(other.codes[i]), other.planes[i]);
    for (std::size_t neuron = 0; neuron < 25; ++neuron) {
      square_sum[neuron] += std::uint64_t{other.planes[i][neuron]} * other.planes[i][neuron];
    }
  }
  EXPECT_EQ(content.planes.size(), other.codes.size());
  for (std::size_t neuron = 0; neuron < 25; ++neuron) {
    map.norm[neuron] = gpu::norm_of(square_sum[neuron]);
  }
  const auto atlas = store::Atlas::open(path("other"), store::Atlas::Access::read);
  AtlasMapper mapper(*atlas);
  std::size_t placed = 0;
  for (const auto& [pmid, codes] : corpus_) {
    const std::vector<std::vector<store::DescriptorCode>> one{codes};
    const auto mapped = mapper.place(one, std::vector<std::uint32_t>{0}).front();
    const auto known = std::count_if(codes.begin(), codes.end(),
                                     [&](auto code) { return map.planes.contains(code); });
    ASSERT_EQ(mapped.has_value(), known != 0) << pmid;
    const auto recorded = mapper.recorded(pmid);
    ASSERT_EQ(recorded.has_value(), known != 0) << pmid;
    if (known != 0) {
      ++placed;
      const oracle::Place expected = oracle::place(map, {pmid, codes});
      EXPECT_EQ((oracle::Place{mapped->neuron, mapped->second, mapped->distance}), expected);
      EXPECT_EQ((oracle::Place{recorded->neuron, recorded->second, recorded->distance}), expected);
    }
  }
  EXPECT_EQ(atlas_meta_from_json(content.meta).placed_articles, placed);
  // And it is a start like any other.
  TrainingOptions next = options("next");
  next.from = path("other");
  EXPECT_FALSE(train(next, seen_).stopped);
  EXPECT_GT(read_content(path("next")).planes.size(), other.codes.size() - 1);
}

TEST_F(ImportedMapTest, HeightsOfTheFileStandInPlaceOfTheUMatrix) {
  std::vector<std::uint32_t> heights(25);
  for (std::uint32_t& height : heights) {
    height = static_cast<std::uint32_t>(random_());
  }
  AtlasContent content = import("imported", {&codebook_, nullptr, heights});
  EXPECT_EQ(content.cells.height, heights);
  content.cells.height = trained_.cells.height;
  EXPECT_EQ(without_leading(content.cells), without_leading(trained_.cells));
}

TEST_F(ImportedMapTest, WhatStopsInBetweenLeavesNothingAndNoCheckpointIsLost) {
  const auto stopped = [&](ImportedMap map) {
    TrainingOptions asked = importing("stopped", std::move(map));
    std::stop_source stop;
    stop.request_stop();
    asked.stop = stop.get_token();
    EXPECT_TRUE(train(asked, seen_).stopped);
    EXPECT_FALSE(fs::exists(path("stopped.partial")));
    EXPECT_FALSE(fs::exists(path("stopped")));
  };
  stopped({&codebook_, nullptr, {}});
  stopped({nullptr, &matches_, {}});

  // What a killed import leaves is no reason to refuse the next.
  (void)store::Atlas::open(path("imported.partial"), store::Atlas::Access::create);
  EXPECT_EQ(import("imported", {&codebook_, nullptr, {}}).planes, trained_.planes);
  EXPECT_THROW((void)train(importing("imported", {&codebook_, nullptr, {}}), seen_), TrainingError);
  TrainingOptions again = importing("imported", {nullptr, &matches_, {}});
  again.overwrite = true;
  EXPECT_FALSE(train(again, seen_).stopped);

  Recorder stopping;
  stopping.stop_after_ = 0;
  TrainingOptions half = options("half");
  half.stop = stopping.stop_.get_token();
  ASSERT_TRUE(train(half, stopping).stopped);
  EXPECT_THROW((void)train(importing("half", {&codebook_, nullptr, {}}), seen_), TrainingError);
  half.stop = {};
  half.resume = true;
  EXPECT_FALSE(train(half, seen_).stopped);
  EXPECT_EQ(read_content(path("half")), trained_);
}

}  // namespace
}  // namespace somatlas::pipeline
