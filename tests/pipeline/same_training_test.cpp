// Trainings that must come to the same atlas, on every device: with tiles that stay or stream,
// stopped after any epoch and resumed; and a mapper that finds the places that were recorded.
#include <algorithm>

#include "pipeline/mapping.h"
#include "store/atlas.h"
#include "tests/pipeline/random_corpus.h"
#include "tests/pipeline/training_fixture.h"

namespace somatlas::pipeline {
namespace {

namespace fs = std::filesystem;
using testing_corpus::commit;
using testing_corpus::Corpus;
using testing_corpus::random_corpus;

TEST_P(DeviceTrainingTest, TilesThatStayOnTheDeviceChangeNothing) {
  Corpus corpus = random_corpus(random_, 250);
  commit(path("store"), "pubmed26n0001.xml.gz", corpus);
  TrainingOptions asked = options("none");
  asked.settings.side = 17;
  asked.tile_rows = 1 + random_() % 40;
  asked.tiles = 1 + random_() % 3;
  asked.device_cache = 0;
  Recorder none;
  ASSERT_FALSE(train(asked, none).stopped);
  EXPECT_EQ(none.plan_.kept_tiles, 0U);
  EXPECT_EQ(none.plan_.kept_bytes, 0U);
  ASSERT_GT(none.plan_.tiles, 4U);
  const AtlasContent expected = read_content(path("none"));

  EXPECT_EQ(none.plan_.kept_on_host, device_ == Device::cuda ? none.plan_.tiles : 0);
  asked.host_memory = none.plan_.host_bytes;
  for (const gpu::MemoryPart& part : none.plan_.parts) {
    asked.host_memory -= part.name == "tiles that are sent anew" ? part.host_bytes : 0;
  }
  asked.atlas_directory = path("streams");
  Recorder streams;
  ASSERT_FALSE(train(asked, streams).stopped);
  EXPECT_EQ(streams.plan_.kept_tiles + streams.plan_.kept_on_host, 0U);
  EXPECT_EQ(read_content(path("streams")), expected);

  asked.host_memory = 0;
  asked.device_cache.reset();
  asked.atlas_directory = path("all");
  Recorder all;
  ASSERT_FALSE(train(asked, all).stopped);
  EXPECT_EQ(all.plan_.kept_tiles, all.plan_.tiles);
  const auto bytes = device_ == Device::cuda ? &MemoryPlan::device_bytes : &MemoryPlan::host_bytes;
  EXPECT_GE(all.plan_.*bytes, none.plan_.*bytes + all.plan_.kept_bytes);
  EXPECT_EQ(read_content(path("all")), expected);

  asked.device_cache = all.plan_.kept_bytes / 2;
  asked.atlas_directory = path("half");
  Recorder half;
  half.stop_after_ = static_cast<std::uint32_t>(none.epochs_.size() / 2);
  asked.stop = half.stop_.get_token();
  ASSERT_TRUE(train(asked, half).stopped);
  EXPECT_GT(half.plan_.kept_tiles, 0U);
  EXPECT_LT(half.plan_.kept_tiles, half.plan_.tiles);
  EXPECT_LE(half.plan_.kept_bytes, *asked.device_cache);
  asked.stop = {};
  asked.resume = true;
  Recorder rest;
  ASSERT_FALSE(train(asked, rest).stopped);
  EXPECT_EQ(read_content(path("half")), expected);

  for (const Recorder* seen : {&streams, &all, &half, &rest}) {
    for (const EpochFigures& figures : seen->epochs_) {
      const EpochFigures& same = none.epochs_.at(figures.epoch);
      EXPECT_EQ(figures.quality.qe, same.quality.qe);
      EXPECT_EQ(figures.quality.heldout_qe, same.quality.heldout_qe);
      EXPECT_EQ(figures.quality.cosine_qe, same.quality.cosine_qe);
      EXPECT_EQ(figures.quality.topographic_error, same.quality.topographic_error);
      EXPECT_EQ(figures.moved_share, same.moved_share);
      EXPECT_GE(figures.waiting_seconds, 0);
      EXPECT_LE(figures.waiting_seconds, figures.search_seconds);
    }
  }

  // Going on from it, kept or not.
  commit(path("store"), "pubmed26n0002.xml.gz", random_corpus(random_, 60));
  asked = options("on_none");
  asked.from = path("none");
  asked.tile_rows = 1 + random_() % 40;
  asked.device_cache = 0;
  Recorder on_none;
  ASSERT_FALSE(train(asked, on_none).stopped);
  asked.atlas_directory = path("on_all");
  asked.device_cache.reset();
  Recorder on_all;
  ASSERT_FALSE(train(asked, on_all).stopped);
  EXPECT_GT(on_all.plan_.kept_tiles, 0U);
  EXPECT_EQ(read_content(path("on_all")), read_content(path("on_none")));
}

TEST_P(DeviceTrainingTest, ResumingAfterAnyEpochEndsInTheSameAtlas) {
  commit(path("store"), "pubmed26n0001.xml.gz", random_corpus(random_, 200));
  Recorder whole;
  ASSERT_FALSE(train(options("whole"), whole).stopped);
  const AtlasContent expected = read_content(path("whole"));
  EXPECT_EQ(whole.last_checkpoint_, whole.epochs_.back().epoch);
  for (std::uint32_t epoch = 0; epoch < whole.epochs_.size(); ++epoch) {
    const std::string name = "stopped" + std::to_string(epoch);
    Recorder first;
    first.stop_after_ = epoch;
    TrainingOptions asked = options(name);
    asked.stop = first.stop_.get_token();
    ASSERT_TRUE(train(asked, first).stopped);
    EXPECT_EQ(first.last_checkpoint_, std::min(epoch + 1, whole.epochs_.back().epoch));
    ASSERT_FALSE(fs::exists(asked.atlas_directory));
    asked.stop = {};
    asked.resume = true;
    asked.tile_rows = 1 + random_() % 50;
    asked.device_cache = random_() % 20'000;
    Recorder second;
    ASSERT_FALSE(train(asked, second).stopped);
    EXPECT_EQ(read_content(path(name)), expected) << "stopped after epoch " << epoch;
    const bool last = epoch + 1 == whole.epochs_.size();
    EXPECT_EQ(second.epochs_.size(), last ? 1 : whole.epochs_.size() - epoch - 1);
  }
}

/// Asks to stop once so many planes are done of a pass over so many.
class StoppingAmongPlanes : public Recorder {
 public:
  StoppingAmongPlanes(std::uint64_t planes, std::uint64_t of) : planes_(planes), of_(of) {}
  void progress(std::uint64_t done, std::uint64_t of) override {
    if (of == of_ && done >= planes_) {
      stop_.request_stop();
    }
  }

 private:
  std::uint64_t planes_;
  std::uint64_t of_;
};

TEST_P(DeviceTrainingTest, StoppedWhileItsPlanesAreWrittenItEndsInTheSameAtlas) {
  commit(path("store"), "pubmed26n0001.xml.gz", random_corpus(random_, 400));
  Recorder whole;
  ASSERT_FALSE(train(options("whole"), whole).stopped);
  const AtlasContent expected = read_content(path("whole"));
  const std::uint64_t planes = expected.planes.size();
  // No pass over articles is taken for one over planes.
  ASSERT_GT(expected.assignment.size(), 2 * planes);
  for (const std::uint64_t done : {std::uint64_t{0}, planes, 2 * planes}) {
    const std::string name = "stopped" + std::to_string(done);
    StoppingAmongPlanes first(done, 2 * planes);
    TrainingOptions asked = options(name);
    asked.stop = first.stop_.get_token();
    ASSERT_TRUE(train(asked, first).stopped);
    ASSERT_FALSE(fs::exists(asked.atlas_directory));
    asked.stop = {};
    asked.resume = true;
    Recorder second;
    ASSERT_FALSE(train(asked, second).stopped);
    EXPECT_EQ(read_content(path(name)), expected) << "stopped after " << done << " planes";
  }
}

TEST_P(DeviceTrainingTest, TheMapperFindsThePlacesThatTrainingRecorded) {
  const Corpus corpus = random_corpus(random_, 200);
  commit(path("store"), "pubmed26n0001.xml.gz", corpus);
  Recorder seen;
  ASSERT_FALSE(train(options("atlas"), seen).stopped);
  const auto atlas = store::Atlas::open(path("atlas"), store::Atlas::Access::read);
  AtlasMapper mapper(*atlas);
  for (const auto& [pmid, codes] : corpus) {
    if (codes.empty()) {
      continue;
    }
    const std::vector<std::vector<store::DescriptorCode>> one{codes};
    const auto placed = mapper.place(one, std::vector<std::uint32_t>{0});
    const auto recorded = mapper.recorded(pmid);
    ASSERT_EQ(placed.at(0).has_value(), recorded.has_value());
    if (recorded) {
      EXPECT_EQ(placed[0]->neuron, recorded->neuron);
      EXPECT_EQ(placed[0]->second, recorded->second);
      EXPECT_EQ(placed[0]->distance, recorded->distance);
    }
  }
}

}  // namespace
}  // namespace somatlas::pipeline
