// Joins the regions of a map to areas and these to continents, by what their articles are about.
// Always holds: only regions that touch are joined, so areas and continents hang together too;
// likeness is summed in integers, so neither batches nor threads change anything.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/map_regions.h"

namespace somatlas::pipeline {

/// How far the mean weights of the regions are from one another. Takes 8 bytes for each pair of
/// regions, that is 32 a cell (map_regions.h).
class RegionLikeness {
 public:
  /// vacant and hits: of the cells. What is referred to must outlive it.
  RegionLikeness(const MapRegions& regions, std::span<const std::uint8_t> vacant,
                 std::span<const std::uint32_t> hits);

  /// Adds planes one after the other, M weights each, over all threads, each once. A region's mean
  /// counts every usable cell for its hits and one more.
  void add_planes(std::span<const std::uint16_t> planes);

  [[nodiscard]] std::size_t regions() const { return mass_.size(); }
  /// Hits and usable cells of a region.
  [[nodiscard]] std::uint64_t mass(std::size_t region) const { return mass_[region]; }
  /// The squared distance of two regions' means, in units of a weight's; 0 to itself.
  [[nodiscard]] std::uint64_t square_distance(std::size_t a, std::size_t b) const;

 private:
  const MapRegions& regions_;
  std::span<const std::uint8_t> vacant_;
  std::span<const std::uint32_t> hits_;
  std::vector<std::uint64_t> mass_;
  std::vector<std::uint64_t> product_;  // of means, summed over planes: a * regions + b, b <= a
};

/// Fills in regions.parent. Regions are joined two at a time, those first that add least to the sum
/// of squared distances of articles from their region's mean (J. H. Ward, "Hierarchical grouping to
/// optimize an objective function", 1963), until region_targets() are left; ties by number.
void join_regions(MapRegions& regions, std::uint32_t side, const RegionLikeness& likeness,
                  std::span<const std::uint32_t> hits);

}  // namespace somatlas::pipeline
