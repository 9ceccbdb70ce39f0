// Leading descriptors and heights against the rules written out on dense weights, for planes in any
// order, spread over any number of collectors.
#include "pipeline/cell_labels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "store/atlas.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

__extension__ using Wide = unsigned __int128;

struct Plane {
  store::DescriptorCode code;
  std::uint32_t share;
  std::vector<std::uint16_t> weights;
};

struct Map {
  std::uint32_t side;
  std::vector<std::uint8_t> vacant;
  std::vector<Plane> planes;
};

Map random_map(std::mt19937_64& random, std::uint32_t side, std::size_t descriptors) {
  Map map{side, std::vector<std::uint8_t>(std::size_t{side} * side), {}};
  for (std::uint8_t& vacant : map.vacant) {
    vacant = random() % 5 == 0 ? 1 : 0;
  }
  // Few values, so that excesses tie; both widths of UI, so that code order is not UI order.
  for (std::size_t d = 0; d < descriptors; ++d) {
    const auto number = static_cast<std::uint32_t>(9000 + d / 2);
    Plane plane{store::descriptor_code(d % 2 == 0 ? number : number * 1000 + 5, d % 2 == 0 ? 6 : 9),
                static_cast<std::uint32_t>(random() % 3 * 100),
                {}};
    for (std::size_t i = 0; i < map.vacant.size(); ++i) {
      const std::uint64_t kind = random() % 4;
      const std::uint64_t weight = kind == 0   ? 0
                                   : kind == 1 ? random() % 16'384
                                               : random() % 4 * 100;
      plane.weights.push_back(static_cast<std::uint16_t>(map.vacant[i] != 0 ? 0 : weight));
    }
    map.planes.push_back(std::move(plane));
  }
  return map;
}

/// The UI as text, from the number and the width alone.
std::string ui(store::DescriptorCode code) {
  const std::string digits = std::to_string(code / 2);
  return "D" + std::string((code % 2 != 0 ? 9 : 6) - digits.size(), '0') + digits;
}

std::vector<std::uint32_t> leading_by_sorting(const Map& map) {
  std::vector<std::uint32_t> codes;
  for (std::size_t i = 0; i < map.vacant.size(); ++i) {
    std::vector<std::pair<std::int64_t, std::string>> order;
    std::vector<std::pair<std::string, std::uint32_t>> code_of;
    for (const Plane& plane : map.planes) {
      const std::int64_t excess = std::int64_t{plane.weights[i]} - plane.share;
      if (excess > 0 && map.vacant[i] == 0) {
        order.emplace_back(-excess, ui(plane.code));
        code_of.emplace_back(ui(plane.code), plane.code);
      }
    }
    std::sort(order.begin(), order.end());
    for (std::size_t rank = 0; rank < 5; ++rank) {
      const auto found = std::find_if(code_of.begin(), code_of.end(), [&](const auto& entry) {
        return rank < order.size() && entry.first == order[rank].second;
      });
      codes.push_back(found == code_of.end() ? 0xFFFF'FFFFU : found->second);
    }
  }
  return codes;
}

std::vector<std::uint32_t> heights_by_enumeration(const Map& map) {
  std::vector<std::uint32_t> heights;
  const int side = static_cast<int>(map.side);
  for (int a = 0; a < side * side; ++a) {
    std::uint64_t sum = 0;
    std::uint64_t neighbours = 0;
    for (int b = 0; b < side * side; ++b) {
      if (a == b || std::abs(a / side - b / side) > 1 || std::abs(a % side - b % side) > 1 ||
          map.vacant[static_cast<std::size_t>(a)] != 0 ||
          map.vacant[static_cast<std::size_t>(b)] != 0) {
        continue;
      }
      std::uint64_t square = 0;
      for (const Plane& plane : map.planes) {
        const std::int64_t difference = std::int64_t{plane.weights[static_cast<std::size_t>(a)]} -
                                        plane.weights[static_cast<std::size_t>(b)];
        square += static_cast<std::uint64_t>(difference * difference);
      }
      // The integer nearest to 2^20 sqrt(square) / 16383, by bisection.
      std::uint64_t low = 0;
      std::uint64_t high = std::uint64_t{1} << 32;
      while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        const Wide scaled = (2 * Wide{middle} - 1) * 16383;
        (scaled * scaled <= Wide{square} << 42 ? low : high) = middle;
      }
      sum += low;
      ++neighbours;
    }
    heights.push_back(neighbours == 0
                          ? 0
                          : static_cast<std::uint32_t>((2 * sum + neighbours) / (2 * neighbours)));
  }
  return heights;
}

TEST(CellCollector, EqualsTheRulesWrittenOut) {
  std::mt19937_64 random(test_seed());
  for (const std::uint32_t side : {1U, 2U, 3U, 7U, 16U}) {
    for (const std::size_t descriptors : {0U, 1U, 4U, 30U}) {
      const Map map = random_map(random, side, descriptors);
      CellCollector collector(side, map.vacant);
      for (const Plane& plane : map.planes) {
        collector.add_rows(plane.code, plane.share, plane.weights, 0, side);
      }
      ASSERT_EQ(collector.leading(), leading_by_sorting(map)) << "side " << side;
      ASSERT_EQ(collector.heights(), heights_by_enumeration(map)) << "side " << side;
    }
  }
}

TEST(CellCollector, TheOrderOfPlanesAndRowsDoesNotMatter) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 30; ++trial) {
    const Map map = random_map(random, 9, 40);
    std::vector<Plane> planes = map.planes;
    CellCollector collector(map.side, map.vacant);
    for (std::size_t begin = 0, end = 0; begin < map.side; begin = end) {
      end += 1 + random() % (map.side - begin);
      std::shuffle(planes.begin(), planes.end(), random);
      for (const Plane& plane : planes) {
        collector.add_rows(plane.code, plane.share, plane.weights, begin, end);
      }
    }
    ASSERT_EQ(collector.leading(), leading_by_sorting(map));
    ASSERT_EQ(collector.heights(), heights_by_enumeration(map));
  }
}

TEST(CellCollector, ASingleCellHasLabelsAndNoHeight) {
  CellCollector collector(1, std::vector<std::uint8_t>{0});
  const std::vector<std::uint16_t> one{16383};
  collector.add_rows(store::descriptor_code(7, 6), 16383, one, 0, 1);  // all have it: no excess
  collector.add_rows(store::descriptor_code(8, 6), 16382, one, 0, 1);
  EXPECT_EQ(collector.leading(),
            (std::vector<std::uint32_t>{16, 0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF}));
  EXPECT_EQ(collector.heights(), std::vector<std::uint32_t>{0});
}

TEST(CellCollector, AHeightIsTheMeanOverUsableNeighbours) {
  // Weights 0 and 1 side by side, two vacant cells below.
  CellCollector collector(2, std::vector<std::uint8_t>{0, 0, 1, 1});
  collector.add_rows(2, 0, std::vector<std::uint16_t>{0, 16383, 0, 0}, 0, 2);
  EXPECT_EQ(collector.heights(), (std::vector<std::uint32_t>{1U << 20, 1U << 20, 0, 0}));
}

TEST(CellCollector, RefusesOtherSizes) {
  EXPECT_THROW(CellCollector(3, std::vector<std::uint8_t>(8)), std::invalid_argument);
  CellCollector collector(3, std::vector<std::uint8_t>(9));
  const std::vector<std::uint16_t> plane(9);
  EXPECT_THROW(collector.add_rows(2, 0, std::span(plane).first(8), 0, 3), std::invalid_argument);
  EXPECT_THROW(collector.add_rows(2, 0, plane, 0, 4), std::invalid_argument);
  EXPECT_THROW(collector.add_rows(2, 0, plane, 2, 1), std::invalid_argument);
}

}  // namespace
}  // namespace somatlas::pipeline
