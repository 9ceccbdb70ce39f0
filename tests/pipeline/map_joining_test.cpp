// Regions against a plain reading of their definition, on random maps with many ties and on maps
// where one basin meets all others; and how long such a map may take.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/map_regions.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

using Cells = std::vector<std::uint32_t>;

struct Map {
  std::uint32_t side = 0;
  std::vector<std::uint8_t> vacant;
  Cells hits;
  CellBorders borders;

  /// Calls visit(cell, its right or lower neighbour, their distance) for all pairs, by first edge.
  void each_edge(
      const std::function<void(std::uint32_t, std::uint32_t, std::uint32_t)>& visit) const {
    for (std::uint32_t cell = 0; cell < hits.size(); ++cell) {
      if (cell % side + 1 < side) {
        visit(cell, cell + 1, borders.right[cell]);
      }
      if (cell + side < hits.size()) {
        visit(cell, cell + side, borders.down[cell]);
      }
    }
  }
};

/// Heights below `heights` and distances below `distances`; one cell in `vacant` is vacant.
Map random_map(std::mt19937_64& random, std::uint32_t side, std::uint32_t heights,
               std::uint32_t distances, std::uint32_t vacant) {
  Map map;
  map.side = side;
  const std::size_t cells = std::size_t{side} * side;
  for (std::size_t i = 0; i < cells; ++i) {
    map.vacant.push_back(random() % vacant == 0 ? 1 : 0);
    map.hits.push_back(map.vacant[i] != 0 ? 0 : static_cast<std::uint32_t>(random() % 4));
    map.borders.height.push_back(static_cast<std::uint32_t>(random() % heights));
  }
  map.borders.right.assign(cells, CellBorders::no_distance);
  map.borders.down.assign(cells, CellBorders::no_distance);
  map.each_edge([&](std::uint32_t cell, std::uint32_t other, std::uint32_t) {
    if (map.vacant[cell] == 0 && map.vacant[other] == 0) {
      (other == cell + 1 ? map.borders.right : map.borders.down)[cell] =
          static_cast<std::uint32_t>(random() % distances);
    }
  });
  return map;
}

/// Low cells with high rims in a low net: the net is one basin, which meets all others.
Map hub_map(std::mt19937_64& random, std::uint32_t side, bool alike) {
  Map map = random_map(random, side, 1, 1, ~0U);
  const auto place = [&](std::uint32_t cell) {
    return std::max(cell % side % 4, cell / side % 4);  // 0: in the net
  };
  for (std::uint32_t cell = 0; cell < map.hits.size(); ++cell) {
    const bool in_the_middle = cell % side % 4 == 2 && cell / side % 4 == 2;
    map.hits[cell] = 1;
    map.borders.height[cell] = place(cell) == 0 || in_the_middle ? 0 : 9;
  }
  map.each_edge([&](std::uint32_t cell, std::uint32_t other, std::uint32_t) {
    const bool across = (place(cell) == 0) != (place(other) == 0);
    (other == cell + 1 ? map.borders.right : map.borders.down)[cell] =
        across ? (alike ? 500 : 400 + static_cast<std::uint32_t>(random() % 200)) : 1;
  });
  return map;
}

/// From the lowest cell on, each into the basin of the neighbour that it is nearest to.
Cells plain_basins(const Map& map) {
  constexpr std::uint32_t none = ~0U;
  const std::size_t cells = map.hits.size();
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> around(cells);
  map.each_edge([&](std::uint32_t cell, std::uint32_t other, std::uint32_t distance) {
    around[cell].emplace_back(other, distance);
    around[other].emplace_back(cell, distance);
  });
  std::set<std::pair<std::uint32_t, std::uint32_t>> order;
  for (std::uint32_t cell = 0; cell < cells; ++cell) {
    std::ranges::sort(around[cell]);
    if (map.vacant[cell] == 0) {
      order.emplace(map.borders.height[cell], cell);
    }
  }
  Cells basin(cells, order.empty() ? 0 : none);
  for (const auto& [height, cell] : order) {
    std::uint32_t least = none;
    basin[cell] = cell;
    for (const auto& [other, distance] : around[cell]) {
      if (other != cell && map.vacant[other] == 0 && basin[other] != none &&
          (basin[cell] == cell || distance < least)) {
        basin[cell] = basin[other];
        least = distance;
      }
    }
  }
  Cells queue;
  for (const auto& [height, cell] : order) {
    queue.push_back(cell);
  }
  std::ranges::sort(queue);
  for (std::size_t next = 0; next < queue.size(); ++next) {
    for (const auto& [other, distance] : around[queue[next]]) {
      if (basin[other] == none) {
        basin[other] = basin[queue[next]];
        queue.push_back(other);
      }
    }
  }
  return basin;
}

struct Border {
  std::uint64_t first = 0;
  std::uint64_t distance = 0;
  std::uint64_t edges = 0;
};

/// Each join by going through all borders between all cells.
Cells plain_regions(const Map& map) {
  Cells region = plain_basins(map);
  const std::size_t cells = region.size();
  std::uint32_t highest = 0;
  map.each_edge([&](std::uint32_t cell, std::uint32_t other, std::uint32_t distance) {
    if (region[cell] != region[other] && distance != CellBorders::no_distance) {
      highest = std::max(highest, distance);
    }
  });
  const auto all = std::accumulate(map.hits.begin(), map.hits.end(), std::uint64_t{1});
  for (;;) {
    std::map<std::uint32_t, std::uint64_t> mass;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      mass[region[cell]] += all + std::uint64_t{map.hits[cell]} * cells;
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, Border> borders;
    map.each_edge([&](std::uint32_t cell, std::uint32_t other, std::uint32_t distance) {
      if (region[cell] != region[other]) {
        const std::uint64_t edge = 2 * std::uint64_t{cell} + (other == cell + 1 ? 0 : 1);
        Border& border =
            borders.try_emplace(std::minmax(region[cell], region[other]), Border{edge, 0, 0})
                .first->second;
        if (distance != CellBorders::no_distance) {
          border.distance += distance;
          ++border.edges;
        }
      }
    });
    if (mass.size() <= region_targets(map.side)[0] || borders.empty()) {
      return region;
    }
    std::vector<std::tuple<double, std::uint64_t, std::uint32_t, std::uint32_t>> joins;
    for (const auto& [pair, border] : borders) {
      const double distance = border.edges == 0 ? static_cast<double>(highest)
                                                : static_cast<double>(border.distance) /
                                                      static_cast<double>(border.edges);
      const double cost = distance * distance *
                          (1 / (1 / static_cast<double>(mass[pair.first]) +
                                1 / static_cast<double>(mass[pair.second])));
      int exponent = 0;
      const double fraction = std::frexp(cost, &exponent);
      joins.emplace_back(std::ldexp(std::floor(fraction * 8192), exponent - 13), border.first,
                         pair.first, pair.second);
    }
    const auto& [cost, first, a, b] = *std::ranges::min_element(joins);
    std::ranges::replace(region, b, a);
  }
}

void expect_the_definition(const Map& map) {
  Cells expected = plain_regions(map);
  const std::size_t count = number_regions(expected, map.hits);
  const MapRegions regions = tile_map(map.side, map.vacant, map.borders, map.hits);
  EXPECT_EQ(regions.region, expected) << "side " << map.side;
  EXPECT_EQ(regions.parent[0].size(), count);
}

TEST(MapJoining, IsThatOfTheDefinition) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 300; ++trial) {
    const auto side = static_cast<std::uint32_t>(1 + random() % 14);
    expect_the_definition(random_map(random, side, static_cast<std::uint32_t>(1 + random() % 40),
                                     static_cast<std::uint32_t>(1 + random() % 20),
                                     static_cast<std::uint32_t>(1 + random() % 9)));
  }
}

TEST(MapJoining, IsThatOfTheDefinitionWhereOneBasinMeetsAllOthers) {
  std::mt19937_64 random(test_seed());
  for (const std::uint32_t side : {4U, 9U, 16U, 29U, 40U}) {
    expect_the_definition(hub_map(random, side, false));
    expect_the_definition(hub_map(random, side, true));
  }
}

// A tenth of a second; where each join looks at all other basins, more than half a minute.
TEST(MapJoining, TakesNoTimeWhereOneBasinMeetsAllOthers) {
  std::mt19937_64 random(test_seed());
  for (const bool alike : {false, true}) {
    const Map map = hub_map(random, 512, alike);
    const auto begun = std::chrono::steady_clock::now();
    (void)tile_map(map.side, map.vacant, map.borders, map.hits);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
    EXPECT_LT(taken.count(), 10);  // with sanitizers, beside other work
  }
}

}  // namespace
}  // namespace somatlas::pipeline
