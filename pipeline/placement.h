// The last search: every article of the store gets its place under the final codebook.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pipeline/inheritance.h"
#include "pipeline/quality.h"
#include "pipeline/tile_pass.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

struct Placement {
  QualitySums training;
  QualitySums heldout;
  std::uint64_t placed = 0;
  std::uint64_t moved = 0;                // against the earlier atlas
  std::vector<std::uint32_t> hits;        // a neuron: training articles
  std::vector<std::uint32_t> year_count;  // a neuron: articles with a year
  std::vector<std::uint64_t> year_sum;
  std::vector<std::uint64_t> cell_articles;  // neuron << 32 | PMID, ascending
};

struct PlacementContext {
  const TilePlan& plan;       // of the set that is placed
  const Selection& training;  // which of its articles train
  const gpu::Cells& cells;    // of the final codebook
  std::uint32_t side = 0;
  store::Atlas* earlier = nullptr;  // with inheritance: to count what moved
  const Inheritance* inheritance = nullptr;
  std::function<void(std::uint64_t rows_done)> progress;
  std::stop_token stop;
};

/// Searches all tiles of the pass and writes their places to the work directory. Nothing where it
/// was asked to stop.
[[nodiscard]] std::optional<Placement> place_all(TilePass& pass, const PlacementContext& context,
                                                 store::Atlas& work);

/// Sums of one row; square_sum and norm are those of its BMU.
void add_row(QualitySums& sums, const gpu::Tile& tile, std::size_t row, std::uint32_t total,
             const gpu::Cells& cells, std::uint32_t side);

}  // namespace somatlas::pipeline
