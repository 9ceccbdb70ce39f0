// The regions of a map as a network: what VOSviewer, GraphML and others draw.
// Always holds: regions keep their numbers; a link is named once, the lower number first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/atlas.h"

namespace somatlas::exports {

struct NetworkRegion {
  std::string name;  // never empty
  double x = 0;      // of its centre: columns and rows from the middle of the map, in [-1, 1],
  double y = 0;      // y upwards
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  std::uint32_t area = 0;  // numbers in the levels above
  std::uint32_t continent = 0;
  std::string area_name;
  std::string continent_name;
  std::uint32_t cells = 0;
  std::uint64_t hits = 0;
  std::optional<double> mean_year;
  std::optional<double> growth;  // nothing: no article has a year
  std::vector<std::string> leading;
  std::string leading_ui;  // of the first; empty: none
};

struct RegionNetwork {
  std::vector<NetworkRegion> regions;
  /// Pairs of neighbouring cells (over an edge) on both sides of a border.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> borders;
};

/// Throws store::StoreError where the cells are not those of the atlas's side.
[[nodiscard]] RegionNetwork region_network(store::Atlas& atlas);

}  // namespace somatlas::exports
