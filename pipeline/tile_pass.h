// Passes over an article set: a flow graph that decodes shards into tiles, hands them to the
// backend and takes the results, with a fixed number of tiles in flight; the first tiles of the
// plan may stay on the device from pass to pass. Always holds: what is in flight is what was
// allocated; an exception anywhere cancels the pass and reaches the caller; results depend neither
// on the order in which tiles finish nor on which stay.
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

/// What the host knows of the rows of a tile, beside the tile itself.
struct HostRows {
  std::uint64_t first_training_row = 0;  // of the set: the first at or behind the tile's first row
  std::vector<std::uint16_t> total;      // a row: its article's descriptors, unknown ones included
};

/// The token of the graph: a tile and what the host knows of its rows. Vectors have one value a row
/// of the tile.
struct PassTile {
  std::unique_ptr<gpu::Tile> tile;
  std::size_t index = 0;           // in the plan
  const HostRows* rows = nullptr;  // read_rows, or those of a tile that stays
  HostRows read_rows;
  // Empty where the tile was not read in this pass.
  std::vector<std::uint32_t> pmid;
  std::vector<std::uint16_t> year;
  std::vector<std::uint64_t> fingerprint;  // of the rows' descriptors; where it was asked for
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
  double device_idle_seconds = 0;  // in which the device worked on no tile
};

/// What may be in flight, for one pass after the other: a GPU's tiles take long to make.
using PassTiles = std::vector<std::unique_ptr<PassTile>>;
[[nodiscard]] PassTiles make_pass_tiles(gpu::Backend& backend, gpu::TileCapacity capacity,
                                        std::size_t count);

/// How many tiles of a plan stay between passes: its first on the device, then some on the host.
struct KeptTiles {
  std::size_t on_device = 0;
  std::size_t on_host = 0;
};

class TilePass {
 public:
  /// tiles: at least one, each with room for any of the plan's, and in no other pass's use. What is
  /// referred to must outlive the pass.
  TilePass(store::Store& store, const ArticleSet& set, const DescriptorIndex& index,
           const TilePlan& plan, gpu::Backend& backend, PassTiles& tiles, KeptTiles kept = {});
  ~TilePass();
  TilePass(const TilePass&) = delete;
  TilePass& operator=(const TilePass&) = delete;

  struct Body {
    gpu::Work work = gpu::Work::search;
    /// Called for each row in parallel.
    std::function<RowOrder(const PassRow&)> order;
    /// Called for each finished tile, in parallel.
    std::function<void(const PassTile&)> consume;
    /// Called for each tile that was consumed, in tile order, one at a time; may be null.
    std::function<void(const PassTile&)> in_order;
    bool fingerprints = false;  // of the rows that are read
    /// Rows are taken and used alike in every pass that says so, and have the BMUs that the last
    /// such pass left: so tiles may stay, and for those order is not called again.
    bool same_rows = false;
    std::function<void(std::uint64_t rows_done)>
        progress;  // may be null; called by one thread at a time
    std::stop_token stop;
  };

  /// False where it was asked to stop before the end: results are then partial and worthless.
  [[nodiscard]] bool run(const Body& body);
  [[nodiscard]] PassTimes last_times() const { return times_; }

 private:
  /// A tile that stays.
  struct Kept {
    gpu::RowCache* cache;
    std::size_t slot;
    bool there = false;
    HostRows rows;
  };
  void keep_tiles(std::size_t count, std::unique_ptr<gpu::RowCache> (gpu::Backend::*make)(
                                         std::span<const gpu::TileCapacity>));
  void make_ready(PassTile& token, std::size_t tile, const Body& body);
  void settle(PassTile& token, std::size_t tile, const Body& body);
  void fill(PassTile& target, const PlannedTile& planned, const Body& body) const;

  store::Store& store_;
  const ArticleSet& set_;
  const DescriptorIndex& index_;
  const TilePlan& plan_;
  gpu::Backend& backend_;
  std::vector<std::unique_ptr<gpu::RowCache>> caches_;
  std::vector<Kept> kept_;  // by tile of the plan
  PassTiles& tokens_;
  PassTimes times_;
};

}  // namespace somatlas::pipeline
