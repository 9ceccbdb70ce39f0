// What the regions of a map are about: the leading descriptors of each, and its name. Always holds:
// sums are integers, so threads change nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/map_regions.h"
#include "pipeline/region_names.h"
#include "pipeline/region_weights.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

/// The columns of cells that regions sum up.
struct RegionSums {
  std::span<const std::uint32_t> hits;
  std::span<const std::uint32_t> year_count;
  std::span<const std::uint64_t> year_sum;
  std::span<const std::uint32_t> recent_count;
};

/// The regions of every level, over all threads. weights: of every descriptor of the corpus.
/// Leading descriptors are ranked as those of cells are; names are RegionNames'.
[[nodiscard]] std::array<std::vector<store::AtlasRegion>, store::region_levels> label_regions(
    const LabelCorpus& corpus, std::uint32_t side, const MapRegions& regions,
    const RegionWeights& weights, const RegionSums& sums);

}  // namespace somatlas::pipeline
