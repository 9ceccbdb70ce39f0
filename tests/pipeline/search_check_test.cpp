// The check of a search by brute force, on a backend whose search is wrong: what it misplaces is
// counted, so a training that says 0 has had none.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "gpu/backend.h"
#include "pipeline/parallel_for.h"
#include "pipeline/trainer.h"
#include "store/atlas.h"
#include "store/store.h"
#include "tests/pipeline/random_corpus.h"
#include "tests/pipeline/training_fixture.h"

namespace somatlas::pipeline {
namespace {

using testing_corpus::commit;
using testing_corpus::random_corpus;

/// The CPU's, but its quick search puts some rows one neuron off.
class MisplacingBackend final : public gpu::Backend {
 public:
  MisplacingBackend(gpu::MapShape shape, std::size_t every)
      : right_(gpu::make_cpu_backend(shape, tbb_parallel_for())), every_(every) {}

  [[nodiscard]] std::string name() const override { return right_->name(); }
  [[nodiscard]] gpu::MapShape shape() const override { return right_->shape(); }
  [[nodiscard]] std::unique_ptr<gpu::Tile> make_tile(gpu::TileCapacity capacity) override {
    return right_->make_tile(capacity);
  }
  [[nodiscard]] std::unique_ptr<gpu::RowCache> make_row_cache(
      std::span<const gpu::TileCapacity> slots) override {
    return right_->make_row_cache(slots);
  }
  [[nodiscard]] std::unique_ptr<gpu::RowCache> make_host_row_cache(
      std::span<const gpu::TileCapacity> slots) override {
    return right_->make_host_row_cache(slots);
  }
  void clear_statistics() override { right_->clear_statistics(); }
  void submit(gpu::Tile& tile, gpu::Work work, gpu::Completion done) override {
    const bool wrong =
        method_ == gpu::SearchMethod::automatic && work == gpu::Work::search_and_accumulate;
    right_->submit(tile, work, [&, wrong, done = std::move(done)](std::exception_ptr error) {
      for (std::size_t row = 0; wrong && row < tile.rows(); row += every_) {
        if (tile.use()[row] == gpu::row_use::trains) {
          tile.bmu()[row] = (tile.bmu()[row] + 1) % static_cast<gpu::Neuron>(shape().neurons());
          ++misplaced_;
        }
      }
      done(error);
    });
  }
  void search_by(gpu::SearchMethod method) override {
    method_ = method;
    right_->search_by(method);
  }
  [[nodiscard]] double busy_seconds() const override { return right_->busy_seconds(); }
  void update(std::uint32_t radius) override { right_->update(radius); }
  void load(const std::function<void(gpu::DescriptorId, std::span<std::uint16_t>)>& planes,
            std::span<const std::uint8_t> vacant) override {
    right_->load(planes, vacant);
  }
  [[nodiscard]] gpu::HostBlock make_block(std::size_t bytes) override {
    return right_->make_block(bytes);
  }
  void read_planes(std::span<const gpu::DescriptorId> descriptors,
                   std::span<std::uint16_t> out) override {
    right_->read_planes(descriptors, out);
  }
  [[nodiscard]] gpu::Cells read_cells() override { return right_->read_cells(); }

  [[nodiscard]] std::uint64_t misplaced() const { return misplaced_; }

 private:
  std::unique_ptr<gpu::Backend> right_;
  std::size_t every_;
  std::uint64_t misplaced_ = 0;
  gpu::SearchMethod method_ = gpu::SearchMethod::automatic;
};

using SearchCheckTest = TrainingTest;

TEST_F(SearchCheckTest, EveryMisplacedArticleIsCounted) {
  commit(path("store"), "pubmed26n0001.xml.gz", random_corpus(random_, 300));
  TrainingOptions asked = options("work");
  asked.settings.side = 9;
  asked.settings.epoch_limit = 1;
  asked.tiles = 2;
  asked.tile_rows = 1 + random_() % 60;
  asked.check_rows = 1'000;  // all of them
  const auto store = store::Store::open(path("store"), store::Store::Access::read);
  const TrainingInput input = read_training_input(*store, asked, nullptr);
  const auto work = store::Atlas::open(path("work"), store::Atlas::Access::create);
  MisplacingBackend backend({asked.settings.side, input.index.size()}, 1 + random_() % 5);
  Recorder seen;
  Trainer trainer(*store, *work, nullptr, input, asked, {}, backend, seen);
  ASSERT_TRUE(trainer.run({}));
  ASSERT_EQ(seen.epochs_.size(), 1U);
  EXPECT_GT(backend.misplaced(), 0U);
  EXPECT_EQ(seen.epochs_[0].check.rows, input.training.training);
  EXPECT_EQ(seen.epochs_[0].check.mismatches, backend.misplaced());
}

}  // namespace
}  // namespace somatlas::pipeline
