// The last search: every article of the store gets its place under the final codebook, and what the
// codebook was made from is completed, so that the store is read once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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
  std::vector<std::uint32_t> recent_count;  // of year_count, those of recent_from or later
  std::uint32_t recent_from = 0;
  // An article each: neuron << 32 | PMID, or no_cell; ascending from each of `ascending` to the
  // next, which is a higher range of PMIDs.
  std::unique_ptr<std::uint64_t[]> cell_articles;
  std::vector<std::uint64_t> ascending;
  static constexpr std::uint64_t no_cell = UINT64_MAX;
};

struct PlacementContext {
  const ArticleSet& placed;
  const TilePlan& plan;        // of these
  const ArticleSet& training;  // those of them that train or are held out
  const gpu::Cells& cells;     // of the final codebook
  std::uint32_t side = 0;
  std::uint32_t recent_from = 0;    // a year; 0: none is recent
  store::Atlas* earlier = nullptr;  // with inheritance: to count what moved
  const Inheritance* inheritance = nullptr;
  std::function<void(std::uint64_t rows_done)> progress;
  std::stop_token stop;
};

/// Searches all tiles of the pass and writes their places to the work directory, and with PMIDs and
/// fingerprints the assignment that it holds. Nothing where it was asked to stop. Throws
/// store::StoreError where that assignment does not fit the articles.
[[nodiscard]] std::optional<Placement> place_all(TilePass& pass, const PlacementContext& context,
                                                 store::Atlas& work);

/// Sums of one row; square_sum and norm are those of its BMU.
void add_row(QualitySums& sums, const gpu::Tile& tile, std::size_t row, std::uint32_t total,
             const gpu::Cells& cells, std::uint32_t side);

}  // namespace somatlas::pipeline
