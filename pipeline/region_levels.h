// Joins the regions of a map to areas and these to continents, by what their articles are about.
// Always holds: only regions that touch are joined, so areas and continents hang together too.
#pragma once

#include <cstdint>
#include <span>

#include "pipeline/map_regions.h"
#include "pipeline/region_weights.h"

namespace somatlas::pipeline {

/// Fills in regions.parent. Regions are joined two at a time, those first that add least to the sum
/// of squared distances of articles from their region's mean (J. H. Ward, "Hierarchical grouping to
/// optimize an objective function", 1963), until region_targets() are left; ties by number. Of n
/// regions it takes O(n^2).
void join_regions(MapRegions& regions, std::uint32_t side, const RegionWeights& weights,
                  std::span<const std::uint32_t> hits);

}  // namespace somatlas::pipeline
