// Tiles a map with regions along the ridges of its U-matrix; regions lie in areas, and these in
// continents. Always holds: every cell, vacant or not, lies in exactly one region, a region's cells
// hang together over their edges, and the same map is tiled the same way everywhere.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/cell_labels.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

/// How many regions a level has at most, by the side of the map: two regions a row of cells, up to
/// 4,096, eight cells each at least; about ten continents; areas between the two, as many times
/// more than continents as there are regions to an area.
[[nodiscard]] std::array<std::uint32_t, store::region_levels> region_targets(std::uint32_t side);

/// Regions of each level are numbered by falling hits, ties by their first cell.
struct MapRegions {
  std::vector<std::uint32_t> region;  // a cell: its region
  // Of the regions of a level, the number of the region of the next that they lie in; of the last
  // level 0.
  std::array<std::vector<std::uint32_t>, store::region_levels> parent;

  /// The region of a level that each cell lies in.
  [[nodiscard]] std::vector<std::uint32_t> of_cells(std::size_t level) const;
};

/// The regions alone; areas and continents are join_regions()'s (pipeline/region_levels.h).
/// Floods the heights from their lowest cells: a basin grows until it meets another, and
/// vacant cells go to the basin round them. Basins are then joined two at a time, those with the
/// least d^2 / (1/a + 1/b) first, its mantissa cut to 13 bits: d is the mean distance between
/// neighbouring cells on both sides of their border, a and b are their shares of the cells and of
/// the hits, added, so that small ones and those with low borders go first. Ties by the first pair
/// of cells on the border: of the lowest cell, and its right neighbour before the lower one. hits:
/// training articles of each cell.
[[nodiscard]] MapRegions tile_map(std::uint32_t side, std::span<const std::uint8_t> vacant,
                                  const CellBorders& borders, std::span<const std::uint32_t> hits);

/// Numbers what cells lie in anew, from 0, by falling hits, ties by the first cell; returns how
/// many there are.
std::size_t number_regions(std::vector<std::uint32_t>& region, std::span<const std::uint32_t> hits);

/// For each of `count` regions the cell that is farthest from its border, counted in steps to a
/// neighbour; ties by more hits, then the lower number. The edge of the map is a border. region: a
/// cell's, all of which occur.
[[nodiscard]] std::vector<std::uint32_t> region_centres(std::uint32_t side,
                                                        std::span<const std::uint32_t> region,
                                                        std::size_t count,
                                                        std::span<const std::uint32_t> hits);

}  // namespace somatlas::pipeline
