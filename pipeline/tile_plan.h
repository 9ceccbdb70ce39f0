// How the rows of an article set are cut into tiles: whole shards together up to a number of rows,
// or pieces of one shard. Always holds: tiles cover every row once, in order; the plan depends on
// the set and the tile size alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/tile.h"
#include "pipeline/article_set.h"

namespace somatlas::pipeline {

struct PlannedTile {
  std::size_t first_shard = 0;  // index into ArticleSet::shards
  std::size_t shards = 0;
  std::uint32_t skip_rows = 0;  // selected rows of the first shard that belong to earlier tiles
  std::uint32_t rows = 0;
  std::size_t descriptors = 0;  // of its shards: at least those of its rows
  std::uint64_t first_row = 0;  // in the set
  [[nodiscard]] gpu::TileCapacity capacity() const { return {rows, descriptors}; }
};

struct TilePlan {
  std::vector<PlannedTile> tiles;
  gpu::TileCapacity capacity;  // that holds any of them
};

/// rows_per_tile at least 1.
[[nodiscard]] TilePlan plan_tiles(const ArticleSet& set, std::size_t rows_per_tile);

}  // namespace somatlas::pipeline
