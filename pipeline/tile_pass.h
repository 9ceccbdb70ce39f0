// One pass over an article set: a flow graph that decodes shards into tiles, hands them to the
// backend and takes the results, with a fixed number of tiles in flight. Always holds: what is in
// flight is what was allocated; an exception anywhere cancels the pass and reaches the caller;
// results do not depend on the order in which tiles finish.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "gpu/backend.h"
#include "pipeline/article_set.h"
#include "pipeline/tile_plan.h"

namespace somatlas::pipeline {

/// Stands where an article is no training article.
inline constexpr std::uint64_t no_row = UINT64_MAX;

/// The token of the graph: a tile and what the host knows of its rows. Vectors have one value a row
/// of the tile.
struct PassTile {
  std::unique_ptr<gpu::Tile> tile;
  std::size_t index = 0;                    // in the pass
  std::vector<std::uint64_t> training_row;  // in the set; no_row where held out
  std::vector<std::uint32_t> pmid;
  std::vector<std::uint16_t> year;
  std::vector<std::uint16_t> total;  // descriptors of the article, unknown ones included
};

/// A row as it is read.
struct PassRow {
  std::uint64_t training_row;  // among the set's training articles; no_row where held out
  std::uint32_t pmid;
  std::span<const store::DescriptorCode> codes;
  std::span<const gpu::DescriptorId> known;
};

/// What a pass does with a row: whether it goes into the tile, how it is used, and the BMU it is
/// given.
struct RowOrder {
  bool take = true;
  std::uint8_t use = gpu::row_use::none;
  gpu::Neuron bmu = gpu::no_neuron;
};

struct PassTimes {
  double seconds = 0;
  double device_idle_seconds = 0;  // nothing was submitted and not completed
};

class TilePass {
 public:
  /// tiles: how many are in flight at most. What is referred to must outlive the pass.
  TilePass(store::Store& store, const ArticleSet& set, const DescriptorIndex& index,
           const TilePlan& plan, gpu::Backend& backend, std::size_t tiles);
  ~TilePass();
  TilePass(const TilePass&) = delete;
  TilePass& operator=(const TilePass&) = delete;

  struct Body {
    gpu::Work work = gpu::Work::search;
    /// Called for each row in parallel.
    std::function<RowOrder(const PassRow&)> order;
    /// Called for each finished tile: in tile order, one at a time, where in_order; else in
    /// parallel.
    std::function<void(const PassTile&)> consume;
    bool in_order = false;
    std::function<void(std::uint64_t rows_done)>
        progress;  // may be null; called by one thread at a time
    std::stop_token stop;
    std::size_t first_tile = 0;  // a part of the plan
    std::size_t last_tile = SIZE_MAX;
  };

  /// False where it was asked to stop before the end: results are then partial and worthless.
  [[nodiscard]] bool run(const Body& body);
  [[nodiscard]] PassTimes last_times() const { return times_; }

 private:
  void fill(PassTile& target, const PlannedTile& planned, const Body& body) const;

  store::Store& store_;
  const ArticleSet& set_;
  const DescriptorIndex& index_;
  const TilePlan& plan_;
  gpu::Backend& backend_;
  std::vector<std::unique_ptr<PassTile>> tokens_;
  PassTimes times_;
};

}  // namespace somatlas::pipeline
