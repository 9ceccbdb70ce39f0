// One training from the opened store to the finished atlas: what train() does once the arguments
// make sense. Always holds: the work directory holds the assignment that some codebook was made
// from: the present one's at the start, at the end and where it stops, and in between one of not
// long ago, so that checkpoints take a tenth of the time at most.
#pragma once

#include <memory>
#include <optional>

#include "gpu/backend.h"
#include "pipeline/article_set.h"
#include "pipeline/checkpoint.h"
#include "pipeline/inheritance.h"
#include "pipeline/placement.h"
#include "pipeline/stopwatch.h"
#include "pipeline/tile_pass.h"
#include "pipeline/training.h"
#include "store/atlas.h"
#include "store/store.h"

namespace somatlas::pipeline {

/// What is known of a training before any memory is taken for it.
struct TrainingInput {
  Device device = Device::cpu;  // settled
  ArticleSet training;          // training and held-out articles
  ArticleSet placement;         // every article with a descriptor
  DescriptorIndex index;
  std::vector<std::uint64_t> frequencies;  // by dense id
  Sample sample;                           // for a start by principal components
  std::uint32_t recent_from = 0;           // ArticleSets
  TilePlan training_tiles;
  TilePlan placement_tiles;
  /// Of tiles that serve both plans.
  [[nodiscard]] gpu::TileCapacity capacity() const;
};

/// earlier: the atlas the run goes on from, or null; its descriptors get ids too. Throws
/// TrainingError where there is nothing to train on, or not the device that was asked for.
[[nodiscard]] TrainingInput read_training_input(store::Store& store, const TrainingOptions& options,
                                                store::Atlas* earlier);

class Trainer {
 public:
  /// What is referred to outlives the trainer.
  Trainer(store::Store& store, store::Atlas& work, store::Atlas* earlier,
          const TrainingInput& input, const TrainingOptions& options, KeptTiles kept,
          gpu::Backend& backend, TrainingObserver& observer);

  /// Trains to the end and completes the work directory; resumed: where to go on from, with the
  /// settings of the options. Nothing where it was asked to stop.
  [[nodiscard]] std::optional<AtlasMeta> run(std::optional<Checkpoint> resumed);
  /// Completes the work directory with the imported map of the options. Nothing where it was asked
  /// to stop.
  [[nodiscard]] std::optional<AtlasMeta> adopt();

 private:
  /// What an epoch's search comes to.
  struct EpochSums {
    QualitySums training;
    QualitySums heldout;
    std::uint64_t moved = 0;  // training articles whose BMU is not their last one
  };

  [[nodiscard]] bool begin();
  [[nodiscard]] bool start_places();
  [[nodiscard]] bool inherit_places();
  [[nodiscard]] bool adopt_codebook(const Codebook& codebook);
  [[nodiscard]] bool adopt_matches(const BestMatches& matches);
  [[nodiscard]] bool place_others();
  [[nodiscard]] bool rebuild_statistics();
  [[nodiscard]] TilePass::Body whole_pass(gpu::Work work);
  [[nodiscard]] RowOrder order_of(const PassRow& row) const;
  [[nodiscard]] EpochSums take_found(const PassTile& tile, std::size_t begin, std::size_t end,
                                     std::uint64_t training_row);
  [[nodiscard]] std::optional<EpochSums> search();
  [[nodiscard]] SearchCheck check_search();
  [[nodiscard]] bool epochs();
  [[nodiscard]] std::optional<AtlasMeta> finish();
  [[nodiscard]] std::vector<gpu::DescriptorId> ids_with_planes() const;
  void describe_run();
  void update(std::uint32_t radius);
  void report(const EpochSums& sums);
  void save();
  void save_if_new();
  [[nodiscard]] std::function<void(std::uint64_t)> progress(std::uint64_t of);

  store::Store& store_;
  store::Atlas& work_;
  store::Atlas* earlier_;
  const TrainingInput& input_;
  const TrainingOptions& options_;
  gpu::Backend& backend_;
  TrainingObserver& observer_;
  PassTiles tiles_;               // of this pass, and then of the last one
  std::optional<TilePass> pass_;  // over the training articles
  Checkpoint state_;
  Assignment assignment_;  // that the codebook was made from
  Assignment found_;       // by the search with it
  bool saved_ = true;      // state_ and assignment_ are those of the last checkpoint
  std::optional<Inheritance> inheritance_;
  gpu::Cells cells_;
  std::uint32_t radius_ = 0;  // of the codebook
  double update_seconds_ = 0;
  double checkpoint_seconds_ = 0;  // that the last one took
  Stopwatch since_checkpoint_;
};

/// The figures of a search. cells: of its codebook; hits: of the search, or empty.
[[nodiscard]] Quality quality_of(const QualitySums& training, const QualitySums& heldout,
                                 const QualitySums& detailed, const gpu::Cells& cells,
                                 std::span<const std::uint32_t> hits);

}  // namespace somatlas::pipeline
