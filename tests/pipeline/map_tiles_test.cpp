// Tiles against a plain reading of what they are: the cell under each pixel found by division.
#include "pipeline/map_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

using Shades = std::vector<Shade>;

struct RandomMap {
  std::uint32_t side;
  Shades shade;
  std::vector<std::uint32_t> part;

  RandomMap(std::uint32_t edge, std::mt19937_64& random) : side(edge) {
    for (std::size_t i = 0; i < std::size_t{edge} * edge; ++i) {
      const std::uint64_t kind = random() % 8;
      shade.push_back(kind == 0   ? shade_vacant
                      : kind == 1 ? shade_no_value
                                  : static_cast<Shade>(random() % (most_shade + 1)));
      part.push_back(static_cast<std::uint32_t>(random() % 3));
    }
  }
};

// The shade at a pixel of the whole map drawn at that zoom.
Shade plain(const RandomMap& map, bool parts, std::uint32_t zoom, std::uint32_t row,
            std::uint32_t column) {
  const std::uint64_t whole = std::uint64_t{tile_edge} << zoom;
  const std::uint64_t padded = std::bit_ceil(map.side);
  const auto cell = [&](std::uint64_t r, std::uint64_t c) { return r * map.side + c; };
  if (whole >= padded) {
    const std::uint64_t edge = whole / padded;
    const std::uint64_t r = row / edge;
    const std::uint64_t c = column / edge;
    if (r >= map.side || c >= map.side) {
      return shade_outside;
    }
    const std::uint64_t line = std::max<std::uint64_t>(1, edge / 32);
    if (parts && edge >= 4 &&
        ((row % edge < line && r > 0 && map.part[cell(r, c)] != map.part[cell(r - 1, c)]) ||
         (column % edge < line && c > 0 && map.part[cell(r, c)] != map.part[cell(r, c - 1)]))) {
      return shade_border;
    }
    const Shade shade = map.shade[cell(r, c)];
    return edge >= 4 && shade == shade_vacant && (row + column) % 4 == 0 ? shade_vacant_line
                                                                         : shade;
  }
  const std::uint64_t edge = padded / whole;
  Shades values;
  bool inside = false;
  bool usable = false;
  for (std::uint64_t r = row * edge; r < (row + 1) * edge; ++r) {
    for (std::uint64_t c = column * edge; c < (column + 1) * edge; ++c) {
      if (r < map.side && c < map.side) {
        inside = true;
        const Shade shade = map.shade[cell(r, c)];
        usable = usable || shade != shade_vacant;
        if (shade <= most_shade) {
          values.push_back(shade);
        }
      }
    }
  }
  if (values.empty()) {
    return usable ? shade_no_value : inside ? shade_vacant : shade_outside;
  }
  std::size_t sum = 0;
  for (const Shade value : values) {
    sum += value;
  }
  return parts ? values.front()
               : static_cast<Shade>(std::lround(double(sum) / double(values.size())));
}

TEST(MapTiles, ShowTheCellUnderEachPixel) {
  std::mt19937_64 random(test_seed());
  for (const std::uint32_t side : {1U, 3U, 48U, 256U, 700U}) {
    const RandomMap map(side, random);
    for (const bool parts : {false, true}) {
      for (int round = 0; round < 4; ++round) {
        const auto zoom = static_cast<std::uint32_t>(random() % (most_zoom(side) + 1));
        const auto x = static_cast<std::uint32_t>(random() % (1U << zoom));
        const auto y = static_cast<std::uint32_t>(random() % (1U << zoom));
        TileSource source{.side = side, .shade = map.shade, .part = {}};
        if (parts) {
          source.part = map.part;
        }
        const Shades tile = render_tile(source, zoom, x, y);
        Shades expected;
        for (std::uint32_t row = 0; row < tile_edge; ++row) {
          for (std::uint32_t column = 0; column < tile_edge; ++column) {
            expected.push_back(
                plain(map, parts, zoom, y * tile_edge + row, x * tile_edge + column));
          }
        }
        ASSERT_TRUE(tile == expected) << side << ' ' << zoom << ' ' << x << ' ' << y << parts;
      }
    }
  }
}

TEST(MapTiles, ShadesGoFromTheLowEndToTheHighOne) {
  const ShadeRange linear{.low = 10, .high = 20};
  EXPECT_EQ(shade_of(10, linear), 0);
  EXPECT_EQ(shade_of(9, linear), 0);
  EXPECT_EQ(shade_of(15, linear), most_shade / 2);
  EXPECT_EQ(shade_of(20, linear), most_shade);
  EXPECT_EQ(shade_of(1e9, linear), most_shade);
  EXPECT_EQ(shade_of(5, {.low = 7, .high = 7}), 0);
  const ShadeRange logarithmic{.low = 0, .high = 99, .logarithmic = true};
  EXPECT_EQ(shade_of(9, logarithmic), most_shade / 2);
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({3, 1, 2}, 1), 3);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

TEST(MapTiles, NeighbouringPartsHaveColoursOfTheirOwn) {
  constexpr std::uint32_t side = 24;
  constexpr std::size_t count = 36;
  constexpr std::size_t colours = 9;
  std::vector<std::uint32_t> part;  // bricks of 4 x 4, each row of them shifted
  for (std::uint32_t i = 0; i < side * side; ++i) {
    const std::uint32_t row = i / side / 4;
    part.push_back(6 * row + (i % side + 2 * row) / 4 % 6);
  }
  const std::vector<Shade> colour = part_colours(side, part, count, colours);
  ASSERT_EQ(colour.size(), count);
  for (std::size_t i = 0; i < part.size(); ++i) {
    EXPECT_LT(colour[part[i]], colours);
    if (i % side + 1 < side && part[i] != part[i + 1]) {
      EXPECT_NE(colour[part[i]], colour[part[i + 1]]);
    }
    if (i + side < part.size() && part[i] != part[i + side]) {
      EXPECT_NE(colour[part[i]], colour[part[i + side]]);
    }
  }
  // With too few colours there is still one for each.
  for (const Shade each : part_colours(side, part, count, 2)) {
    EXPECT_LT(each, 2);
  }
}

}  // namespace
}  // namespace somatlas::pipeline
