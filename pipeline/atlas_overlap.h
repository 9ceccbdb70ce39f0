// The articles that two atlases share, and in which part of each map they lie. Always holds: only
// articles with a place in an atlas count for it; a shard of each is in memory at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/atlas.h"

namespace somatlas::pipeline {

/// An atlas and the part of its map that each cell lies in; what is referred to must outlive it.
struct MapParts {
  store::Atlas& atlas;
  std::span<const std::uint32_t> part;  // of each cell, below parts
  std::size_t parts = 0;
};

/// The parts of the region level of each cell.
[[nodiscard]] std::vector<std::uint32_t> parts_of(const store::AtlasCells& cells,
                                                  std::size_t level);

struct AtlasOverlap {
  struct Flow {
    std::uint32_t part = 0;      // of the later map
    std::uint64_t articles = 0;  // never 0
    friend bool operator==(const Flow&, const Flow&) = default;
  };
  struct Side {
    std::uint64_t articles = 0;
    std::vector<std::uint64_t> in;      // by part
    std::vector<std::uint64_t> shared;  // by part, those that the other atlas has too
  };
  Side before;
  Side after;
  std::uint64_t shared = 0;
  std::vector<std::vector<Flow>> flows;  // by part of the earlier map, ascending: shared articles
  std::uint64_t same_cell = 0;           // of the shared, in the cell of the same number
  std::uint64_t trained = 0;             // of the shared, trained on in both
  std::uint64_t same_descriptors = 0;    // of these, with the same descriptors
};

/// Reads all places and assignments of both. Throws store::StoreError where a place lies outside
/// the map.
[[nodiscard]] AtlasOverlap overlap_of(const MapParts& before, const MapParts& after);

}  // namespace somatlas::pipeline
