// What the regions of a map are about: the leading descriptors of each, and its name. Planes are
// gathered in a second pass over the codebook, since regions follow from all of them. Always holds:
// sums are integers, so neither batches nor threads change anything.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/cell_labels.h"
#include "pipeline/map_regions.h"
#include "pipeline/mesh_topics.h"
#include "pipeline/region_names.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

/// The columns of cells that regions sum up.
struct RegionSums {
  std::span<const std::uint32_t> hits;
  std::span<const std::uint32_t> year_count;
  std::span<const std::uint64_t> year_sum;
  std::span<const std::uint32_t> recent_count;
};

class RegionCollector {
 public:
  /// articles: training articles. What is referred to must outlive it.
  RegionCollector(const MapRegions& regions, const MeshTopics& topics,
                  std::span<const std::uint32_t> hits, std::uint64_t articles);

  /// Adds planes one after the other, M weights each, over all threads; each descriptor once.
  /// Articles of a region with a descriptor are counted as the sum of hits * weight / 16383 over
  /// its cells, which is what its articles have but for what the update spreads across borders.
  void add_planes(std::span<const LabelDescriptor> descriptors,
                  std::span<const std::uint16_t> planes);

  /// The regions of every level, after all planes. Leading descriptors are ranked as those of cells
  /// are; names are RegionNames'.
  [[nodiscard]] std::array<std::vector<store::AtlasRegion>, store::region_levels> levels(
      std::uint32_t side, const RegionSums& sums) const;

 private:
  struct Candidate {
    std::uint32_t rank = 0;
    store::DescriptorCode code = store::no_descriptor;
    std::uint64_t articles = 0;
  };
  struct Region {
    std::uint64_t hits = 0;
    std::vector<Candidate> leading;  // at most leading_per_region, best first
  };

  void offer(Region& region, const LabelDescriptor& descriptor, std::uint64_t weighted) const;

  const MapRegions& regions_;
  const MeshTopics& topics_;
  std::span<const std::uint32_t> hits_;
  std::uint64_t articles_;
  std::array<std::vector<Region>, store::region_levels> levels_;
  std::vector<LabelDescriptor> descriptors_;
  std::vector<std::vector<Carried>> carried_;  // of each region: its topics
};

}  // namespace somatlas::pipeline
