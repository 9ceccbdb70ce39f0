// Areas and continents against a plain reading of Ward's joining, on random maps with many ties and
// on maps where one region meets all others; and how long such a map may take.
#include "pipeline/region_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/repetitions.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

using Cells = std::vector<std::uint32_t>;

struct Map {
  std::uint32_t side = 0;
  std::vector<std::uint8_t> vacant;
  Cells hits;
  std::vector<std::uint16_t> planes;
  MapRegions regions;
};

/// weights: how many values they have; with 1 all joins tie but for the masses.
Map with_weights(std::mt19937_64& random, std::uint32_t side, Cells region, std::size_t planes,
                 std::uint32_t weights, std::uint32_t hits) {
  Map map;
  map.side = side;
  std::set<std::uint32_t> usable;  // each region has such a cell
  for (std::size_t i = 0; i < region.size(); ++i) {
    map.vacant.push_back(random() % 8 == 0 && usable.contains(region[i]) ? 1 : 0);
    usable.insert(region[i]);
    map.hits.push_back(map.vacant[i] != 0 ? 0 : static_cast<std::uint32_t>(random() % hits));
  }
  for (std::size_t i = 0; i < planes * region.size(); ++i) {
    map.planes.push_back(static_cast<std::uint16_t>(
        map.vacant[i % region.size()] != 0 ? 0 : random() % weights * (16'383 / weights)));
  }
  map.regions.parent[0].assign(number_regions(region, map.hits), 0);
  map.regions.region = std::move(region);
  return map;
}

/// Rectangles, and now and then one cell of its own in them.
Map patches(std::mt19937_64& random) {
  const auto side = static_cast<std::uint32_t>(2 + random() % 15);
  const auto width = static_cast<std::uint32_t>(1 + random() % 4);
  const std::uint64_t odd = 2 + random() % 9;
  Cells region;
  for (std::uint32_t cell = 0; cell < side * side; ++cell) {
    region.push_back(cell / side / width * side + cell % side / width);
    if (random() % odd == 0) {
      region.back() = side * side + cell;
    }
  }
  return with_weights(random, side, region, 1 + random() % 5,
                      static_cast<std::uint32_t>(1 + random() % 4),
                      static_cast<std::uint32_t>(1 + random() % 3));
}

/// Single cells, each alone in a net that is one region.
Map hub(std::mt19937_64& random, std::uint32_t side, std::uint32_t weights) {
  Cells region;
  for (std::uint32_t cell = 0; cell < side * side; ++cell) {
    region.push_back(cell / side % 2 == 1 && cell % side % 2 == 1 ? cell + 1 : 0);
  }
  return with_weights(random, side, region, 6, weights, 9);
}

void join(Map& map) {
  RegionWeights means(map.regions, map.vacant, map.hits);
  means.add_planes(map.planes);
  join_regions(map.regions, map.side, means, map.hits);
}

/// Each join by going through all pairs of regions that share an edge of cells.
std::vector<Cells> plain_levels(const Map& map) {
  RegionWeights means(map.regions, map.vacant, map.hits);
  means.add_planes(map.planes);
  Cells region = map.regions.region;
  std::map<std::uint32_t, double> mass;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> cost;  // both ways
  for (std::uint32_t a = 0; a < means.regions(); ++a) {
    mass[a] = static_cast<double>(means.mass(a));
  }
  for (const auto& [a, mass_a] : mass) {
    for (const auto& [b, mass_b] : mass) {
      if (a != b) {
        cost[{a, b}] = static_cast<double>(means.square_distance(a, b)) *
                       (mass_a * mass_b / (mass_a + mass_b));
      }
    }
  }
  std::vector<Cells> levels;
  const auto targets = region_targets(map.side);
  for (std::size_t level = 1; level < targets.size(); ++level) {
    while (mass.size() > targets[level]) {
      std::set<std::tuple<double, std::uint32_t, std::uint32_t>> joins;
      for (std::uint32_t cell = 0; cell < region.size(); ++cell) {
        for (const std::uint32_t other : {cell + 1, cell + map.side}) {
          if (other < region.size() && (other != cell + 1 || other % map.side != 0) &&
              region[cell] != region[other]) {
            const auto [a, b] = std::minmax(region[cell], region[other]);
            joins.emplace(cost.at({a, b}), a, b);
          }
        }
      }
      const auto [between, a, b] = *joins.begin();
      for (const auto& [c, mass_c] : mass) {
        if (c != a && c != b) {
          const double joined = ((mass[a] + mass_c) * cost[{a, c}] +
                                 (mass[b] + mass_c) * cost[{b, c}] - mass_c * between) /
                                (mass[a] + mass[b] + mass_c);
          cost[{a, c}] = joined;
          cost[{c, a}] = joined;
        }
      }
      mass[a] += mass[b];
      mass.erase(b);
      std::ranges::replace(region, b, a);
    }
    Cells numbered = region;
    number_regions(numbered, map.hits);
    levels.push_back(numbered);
  }
  return levels;
}

void expect_the_definition(Map map) {
  const std::vector<Cells> expected = plain_levels(map);
  join(map);
  for (std::size_t level = 1; level <= expected.size(); ++level) {
    EXPECT_EQ(map.regions.of_cells(level), expected[level - 1])
        << "side " << map.side << ", level " << level;
  }
}

TEST(RegionLevels, AreThoseOfTheDefinition) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 200; ++trial) {
    expect_the_definition(patches(random));
  }
}

TEST(RegionLevels, AreThoseOfTheDefinitionWhereOneRegionMeetsAllOthers) {
  std::mt19937_64 random(test_seed());
  for (const std::uint32_t side : {5U, 9U, 14U}) {
    for (const std::uint32_t weights : {1U, 2U, 50U}) {
      expect_the_definition(hub(random, side, weights));
    }
  }
}

// Tenths of a second; where each join looks at all pairs, more than twenty seconds.
TEST(RegionLevels, TakeNoTimeWhereOneRegionMeetsAllOthers) {
  std::mt19937_64 random(test_seed());
  // 4,096 regions, which cubic work made 23 s and more of; a sixteenth of them in a slow build.
  const auto side = static_cast<std::uint32_t>(32 * repetitions(4, 4));
  for (const std::uint32_t weights : {1U, 50U}) {
    Map map = hub(random, side, weights);
    RegionWeights means(map.regions, map.vacant, map.hits);
    means.add_planes(map.planes);
    const auto begun = std::chrono::steady_clock::now();
    join_regions(map.regions, map.side, means, map.hits);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
    EXPECT_LT(taken.count(), 10);  // beside other work
  }
}

}  // namespace
}  // namespace somatlas::pipeline
