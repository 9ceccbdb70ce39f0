// What the regions of a map weigh of each descriptor, gathered in the one pass over the planes that
// can only begin when the regions are there: how alike regions are, and what their articles carry.
// Always holds: sums are integers, so neither batches nor threads change anything.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "gpu/contract.h"
#include "pipeline/map_regions.h"

namespace somatlas::pipeline {

/// What the articles of a region carry of a descriptor.
struct RegionWeight {
  std::uint64_t sum = 0;         // of hits * weight over the region's cells
  std::uint32_t descriptor = 0;  // its place in the order of planes

  /// How many of the region's articles have it, rounded half up: as many as do, but for what the
  /// update spreads across borders.
  [[nodiscard]] std::uint64_t articles() const {
    return (sum + gpu::weight_one / 2) / gpu::weight_one;
  }
};

/// Takes 8 bytes for each pair of regions, that is 32 a cell (map_regions.h), and 16 for each
/// region and descriptor that it has.
class RegionWeights {
 public:
  /// vacant and hits: of the cells. What is referred to must outlive it.
  RegionWeights(const MapRegions& regions, std::span<const std::uint8_t> vacant,
                std::span<const std::uint32_t> hits);

  /// Adds planes one after the other, M weights each, over all threads, each once.
  void add_planes(std::span<const std::uint16_t> planes);

  [[nodiscard]] std::size_t regions() const { return mass_.size(); }
  /// What a region has, in the order of planes; descriptors with a sum of 0 are left out.
  [[nodiscard]] const std::deque<RegionWeight>& of(std::size_t region) const {
    return weights_[region];
  }
  /// Hits and usable cells of a region.
  [[nodiscard]] std::uint64_t mass(std::size_t region) const { return mass_[region]; }
  /// The squared distance of two regions' mean weights, in units of a weight's; 0 to itself. A mean
  /// counts every usable cell for its hits and one more.
  [[nodiscard]] std::uint64_t square_distance(std::size_t a, std::size_t b) const;

 private:
  const MapRegions& regions_;
  std::span<const std::uint8_t> vacant_;
  std::span<const std::uint32_t> hits_;
  std::uint32_t planes_ = 0;  // that were added
  std::vector<std::uint64_t> mass_;
  std::vector<std::uint64_t> product_;  // of means, summed over planes: a * regions + b, b <= a
  std::vector<std::deque<RegionWeight>> weights_;  // which grow without a copy
};

}  // namespace somatlas::pipeline
