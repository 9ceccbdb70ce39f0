#include "pipeline/tile_plan.h"

#include <algorithm>

namespace somatlas::pipeline {

TilePlan plan_tiles(const ArticleSet& set, std::size_t rows_per_tile) {
  TilePlan plan;
  const auto add = [&](const PlannedTile& tile) {
    plan.tiles.push_back(tile);
    plan.capacity.rows = std::max<std::size_t>(plan.capacity.rows, tile.rows);
    plan.capacity.descriptors = std::max(plan.capacity.descriptors, tile.descriptors);
  };
  std::size_t i = 0;
  while (i < set.shards.size()) {
    const ShardRows& first = set.shards[i];
    if (first.rows > rows_per_tile) {
      for (std::uint32_t skip = 0; skip < first.rows;
           skip += static_cast<std::uint32_t>(rows_per_tile)) {
        const auto rows =
            static_cast<std::uint32_t>(std::min<std::size_t>(rows_per_tile, first.rows - skip));
        add({i, 1, skip, rows, first.descriptors, first.first_row + skip});
      }
      ++i;
      continue;
    }
    PlannedTile tile{.first_shard = i, .first_row = first.first_row};
    while (i < set.shards.size() && tile.rows + set.shards[i].rows <= rows_per_tile) {
      tile.rows += set.shards[i].rows;
      tile.descriptors += set.shards[i].descriptors;
      ++tile.shards;
      ++i;
    }
    add(tile);
  }
  return plan;
}

}  // namespace somatlas::pipeline
