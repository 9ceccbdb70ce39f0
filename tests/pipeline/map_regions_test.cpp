// Regions of random maps: they tile the map without holes, hang together, nest, and are the same
// for every number of threads; borders run along ridges, and centres lie inside.
#include "pipeline/map_regions.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "pipeline/region_levels.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

struct Map {
  std::uint32_t side = 0;
  std::vector<std::uint8_t> vacant;
  std::vector<std::uint32_t> hits;
  std::vector<std::uint16_t> planes;  // one after the other
  CellBorders borders;
};

constexpr std::size_t planes = 70;  // more than are taken at once

Map random_map(std::mt19937_64& random, std::uint32_t side) {
  Map map;
  map.side = side;
  const std::size_t cells = std::size_t{side} * side;
  const std::uint64_t vacant_of_ten = random() % 11;
  for (std::size_t i = 0; i < cells; ++i) {
    map.vacant.push_back(random() % 10 < vacant_of_ten ? 1 : 0);
    map.hits.push_back(map.vacant[i] != 0 ? 0 : static_cast<std::uint32_t>(random() % 30));
  }
  CellCollector collector(side, map.vacant, std::vector<std::uint32_t>(cells), 100);
  // Patches of few values: many heights tie.
  for (std::size_t d = 0; d < planes; ++d) {
    const std::uint64_t patch = 1 + random() % side;
    const std::uint64_t salt = random();
    for (std::size_t i = 0; i < cells; ++i) {
      const std::uint64_t at = (i / side / patch * 31 + i % side / patch) * 77 + salt;
      map.planes.push_back(static_cast<std::uint16_t>(
          map.vacant[i] != 0 ? 0 : at * 0x9E37'79B9'7F4A'7C15U >> 62 << 12));
    }
    collector.add_rows({static_cast<store::DescriptorCode>(2 * d), 1, true},
                       std::span(map.planes).subspan(d * cells, cells), 0, side);
  }
  map.borders = collector.borders();
  return map;
}

MapRegions regions_of(const Map& map) {
  MapRegions regions = tile_map(map.side, map.vacant, map.borders, map.hits);
  RegionWeights weights(regions, map.vacant, map.hits);
  weights.add_planes(map.planes);
  join_regions(regions, map.side, weights, map.hits);
  return regions;
}

/// How many pieces, over edges, the cells of equal numbers make.
std::size_t pieces(std::uint32_t side, const std::vector<std::uint32_t>& number) {
  std::vector<std::uint8_t> seen(number.size());
  std::size_t count = 0;
  for (std::size_t start = 0; start < number.size(); ++start) {
    if (seen[start] != 0) {
      continue;
    }
    ++count;
    std::vector<std::size_t> open{start};
    seen[start] = 1;
    while (!open.empty()) {
      const std::size_t cell = open.back();
      open.pop_back();
      for (std::size_t other = 0; other < number.size(); ++other) {
        const std::size_t rows =
            cell / side > other / side ? cell / side - other / side : other / side - cell / side;
        const std::size_t columns =
            cell % side > other % side ? cell % side - other % side : other % side - cell % side;
        if (rows + columns == 1 && seen[other] == 0 && number[other] == number[cell]) {
          seen[other] = 1;
          open.push_back(other);
        }
      }
    }
  }
  return count;
}

TEST(MapRegions, TileTheMapAndHangTogether) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 60; ++trial) {
    const auto side = static_cast<std::uint32_t>(1 + random() % 20);
    const Map map = random_map(random, side);
    const MapRegions regions = regions_of(map);
    const auto targets = region_targets(side);
    std::vector<std::uint32_t> below;
    for (std::size_t level = 0; level < targets.size(); ++level) {
      const std::vector<std::uint32_t> of_cell = regions.of_cells(level);
      const std::size_t count = regions.parent[level].size();
      ASSERT_LE(count, targets[level]);
      // Each number occurs, in one piece; so none lies in another as a hole of a third kind.
      ASSERT_EQ(std::set(of_cell.begin(), of_cell.end()).size(), count);
      ASSERT_EQ(*std::max_element(of_cell.begin(), of_cell.end()), count - 1);
      ASSERT_EQ(pieces(side, of_cell), count) << "side " << side << ", level " << level;
      // By falling hits, then first cell.
      std::vector<std::uint64_t> hits(count);
      std::vector<std::size_t> first(count, of_cell.size());
      for (std::size_t i = 0; i < of_cell.size(); ++i) {
        hits[of_cell[i]] += map.hits[i];
        first[of_cell[i]] = std::min(first[of_cell[i]], i);
      }
      for (std::size_t r = 1; r < count; ++r) {
        ASSERT_TRUE(hits[r - 1] > hits[r] || (hits[r - 1] == hits[r] && first[r - 1] < first[r]));
      }
    }
  }
}

TEST(MapRegions, DoNotDependOnThreads) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 5; ++trial) {
    const Map map = random_map(random, 24);
    std::vector<MapRegions> found;
    for (const std::size_t threads : {1U, 2U, 7U}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      found.push_back(regions_of(map));
    }
    for (const MapRegions& other : found) {
      EXPECT_EQ(other.region, found[0].region);
      EXPECT_EQ(other.parent, found[0].parent);
    }
  }
}

TEST(MapRegions, BordersRunAlongRidges) {
  // Two halves of equal likeness; nothing but the step between them is high. On a map of side 4
  // there are two regions.
  const std::uint32_t side = 4;
  const std::vector<std::uint8_t> vacant(16);
  CellCollector collector(side, vacant, std::vector<std::uint32_t>(16), 2);
  std::vector<std::uint16_t> plane;
  for (std::size_t i = 0; i < 16; ++i) {
    plane.push_back(i % side < 2 ? 0 : 16'383);
  }
  collector.add_rows({2, 1, true}, plane, 0, side);
  const MapRegions regions =
      tile_map(side, vacant, collector.borders(), std::vector<std::uint32_t>(16, 1));
  EXPECT_EQ(regions.region,
            (std::vector<std::uint32_t>{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}));
}

TEST(MapRegions, VacantCellsGoToTheRegionRoundThem) {
  const std::uint32_t side = 3;
  std::vector<std::uint8_t> vacant(9, 1);
  for (const std::size_t usable : {0U, 1U, 2U, 3U, 5U}) {
    vacant[usable] = 0;
  }
  const CellCollector collector(side, vacant, std::vector<std::uint32_t>(9), 1);
  const MapRegions regions =
      tile_map(side, vacant, collector.borders(), std::vector<std::uint32_t>(9));
  EXPECT_EQ(regions.region, std::vector<std::uint32_t>(9, 0));
  // A map of vacant cells alone is one region.
  const std::vector<std::uint8_t> all(9, 1);
  const CellCollector none(side, all, std::vector<std::uint32_t>(9), 1);
  EXPECT_EQ(tile_map(side, all, none.borders(), std::vector<std::uint32_t>(9)).region,
            std::vector<std::uint32_t>(9, 0));
}

TEST(MapRegions, Targets) {
  using Targets = std::array<std::uint32_t, 3>;
  EXPECT_EQ(region_targets(1), (Targets{1, 1, 1}));
  EXPECT_EQ(region_targets(5), (Targets{3, 1, 1}));
  EXPECT_EQ(region_targets(48), (Targets{96, 30, 10}));
  EXPECT_EQ(region_targets(1'024), (Targets{2'048, 143, 10}));
  EXPECT_EQ(region_targets(20'000), (Targets{4'096, 202, 10}));
}

TEST(MapRegions, RefuseOtherSizes) {
  const CellCollector collector(2, std::vector<std::uint8_t>(4), std::vector<std::uint32_t>(4), 1);
  const CellBorders borders = collector.borders();
  const std::vector<std::uint32_t> hits(4);
  const std::vector<std::uint8_t> vacant(4);
  EXPECT_NO_THROW((void)tile_map(2, vacant, borders, hits));
  EXPECT_THROW((void)tile_map(3, vacant, borders, hits), std::invalid_argument);
  EXPECT_THROW((void)tile_map(2, std::span(vacant).first(3), borders, hits), std::invalid_argument);
  EXPECT_THROW((void)tile_map(2, vacant, borders, std::span(hits).first(3)), std::invalid_argument);
}

TEST(RegionCentres, AreFarthestFromTheBorder) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 30; ++trial) {
    const auto side = static_cast<std::uint32_t>(1 + random() % 14);
    const Map map = random_map(random, side);
    const MapRegions regions = regions_of(map);
    const std::size_t count = regions.parent[0].size();
    const auto centres = region_centres(side, regions.region, count, map.hits);
    // Steps within the region to the nearest cell beside another region or the edge: as many as
    // times that all cells at the border can be taken away before the cell is one of them.
    std::vector<std::uint32_t> left = regions.region;
    std::vector<std::uint32_t> steps(left.size());
    constexpr std::uint32_t gone = 0xFFFF'FFFF;
    for (std::uint32_t step = 0;
         std::any_of(left.begin(), left.end(), [](std::uint32_t r) { return r != gone; }); ++step) {
      std::vector<std::size_t> taken;
      for (std::size_t i = 0; i < left.size(); ++i) {
        const bool inside = i / side > 0 && i / side + 1 < side && i % side > 0 &&
                            i % side + 1 < side && left[i - 1] == left[i] &&
                            left[i + 1] == left[i] && left[i - side] == left[i] &&
                            left[i + side] == left[i];
        if (left[i] != gone && !inside) {
          taken.push_back(i);
          steps[i] = step;
        }
      }
      for (const std::size_t i : taken) {
        left[i] = gone;
      }
    }
    for (std::uint32_t region = 0; region < count; ++region) {
      std::uint32_t best = gone;
      for (std::uint32_t i = 0; i < steps.size(); ++i) {
        if (regions.region[i] == region &&
            (best == gone || steps[i] > steps[best] ||
             (steps[i] == steps[best] && map.hits[i] > map.hits[best]))) {
          best = i;
        }
      }
      ASSERT_EQ(centres[region], best) << "side " << side << ", region " << region;
    }
  }
}

}  // namespace
}  // namespace somatlas::pipeline
