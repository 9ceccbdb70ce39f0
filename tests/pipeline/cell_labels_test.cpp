// Leading descriptors and borders against the rules written out on dense weights, for planes in any
// order, spread over any number of collectors.
#include "pipeline/cell_labels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pipeline/lift.h"
#include "store/atlas.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t all_articles = 1'000;

struct Plane {
  LabelDescriptor descriptor;
  std::vector<std::uint16_t> weights;
};

struct Map {
  std::uint32_t side;
  std::vector<std::uint8_t> vacant;
  std::vector<std::uint32_t> evidence;
  std::vector<Plane> planes;
};

Map random_map(std::mt19937_64& random, std::uint32_t side, std::size_t descriptors) {
  Map map{side, std::vector<std::uint8_t>(std::size_t{side} * side), {}, {}};
  for (std::uint8_t& vacant : map.vacant) {
    vacant = random() % 5 == 0 ? 1 : 0;
    map.evidence.push_back(static_cast<std::uint32_t>(random() % 4 * 200));
  }
  // Few values, so that gains tie; both widths of UI, so that code order is not UI order.
  for (std::size_t d = 0; d < descriptors; ++d) {
    const auto number = static_cast<std::uint32_t>(9000 + d / 2);
    Plane plane{
        {store::descriptor_code(d % 2 == 0 ? number : number * 1000 + 5, d % 2 == 0 ? 6 : 9),
         1 + random() % 3 * 100, random() % 4 != 0},
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

CellLabels labels_by_sorting(const Map& map) {
  CellLabels labels;
  for (std::size_t i = 0; i < map.vacant.size(); ++i) {
    std::vector<std::tuple<bool, std::int64_t, std::string, const Plane*>> order;
    for (const Plane& plane : map.planes) {
      const std::int64_t gain = LiftScale(plane.descriptor.articles, all_articles)
                                    .gain(plane.weights[i] / 16383.0, map.evidence[i] / 16.0);
      if (gain > 0 && map.vacant[i] == 0) {
        order.emplace_back(!plane.descriptor.topic, -gain, ui(plane.descriptor.code), &plane);
      }
    }
    std::sort(order.begin(), order.end());
    for (std::size_t rank = 0; rank < 5; ++rank) {
      const Plane* const plane = rank < order.size() ? std::get<3>(order[rank]) : nullptr;
      labels.leading.push_back(plane == nullptr ? 0xFFFF'FFFFU : plane->descriptor.code);
      labels.weight.push_back(plane == nullptr ? std::uint16_t{0} : plane->weights[i]);
    }
  }
  return labels;
}

/// The integer nearest to 2^20 sqrt(square) / 16383 of two cells, by bisection.
std::uint64_t distance(const Map& map, std::size_t a, std::size_t b) {
  std::uint64_t square = 0;
  for (const Plane& plane : map.planes) {
    const std::int64_t difference = std::int64_t{plane.weights[a]} - plane.weights[b];
    square += static_cast<std::uint64_t>(difference * difference);
  }
  std::uint64_t low = 0;
  std::uint64_t high = std::uint64_t{1} << 32;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    const Wide scaled = (2 * Wide{middle} - 1) * 16383;
    (scaled * scaled <= Wide{square} << 42 ? low : high) = middle;
  }
  return low;
}

CellBorders borders_by_enumeration(const Map& map) {
  CellBorders borders;
  const int side = static_cast<int>(map.side);
  for (int a = 0; a < side * side; ++a) {
    std::uint64_t sum = 0;
    std::uint64_t neighbours = 0;
    std::uint32_t right = 0xFFFF'FFFF;
    std::uint32_t down = 0xFFFF'FFFF;
    for (int b = 0; b < side * side; ++b) {
      if (a == b || std::abs(a / side - b / side) > 1 || std::abs(a % side - b % side) > 1 ||
          map.vacant[static_cast<std::size_t>(a)] != 0 ||
          map.vacant[static_cast<std::size_t>(b)] != 0) {
        continue;
      }
      const std::uint64_t between =
          distance(map, static_cast<std::size_t>(a), static_cast<std::size_t>(b));
      if (a / side == b / side && b == a + 1) {
        right = static_cast<std::uint32_t>(between);
      } else if (b == a + side) {
        down = static_cast<std::uint32_t>(between);
      }
      sum += between;
      ++neighbours;
    }
    borders.height.push_back(
        neighbours == 0 ? 0
                        : static_cast<std::uint32_t>((2 * sum + neighbours) / (2 * neighbours)));
    borders.right.push_back(right);
    borders.down.push_back(down);
  }
  return borders;
}

void expect_rules(const CellCollector& collector, const Map& map) {
  const CellLabels labels = labels_by_sorting(map);
  ASSERT_EQ(collector.labels().leading, labels.leading) << "side " << map.side;
  ASSERT_EQ(collector.labels().weight, labels.weight) << "side " << map.side;
  const CellBorders borders = borders_by_enumeration(map);
  ASSERT_EQ(collector.borders().height, borders.height) << "side " << map.side;
  ASSERT_EQ(collector.borders().right, borders.right) << "side " << map.side;
  ASSERT_EQ(collector.borders().down, borders.down) << "side " << map.side;
}

CellCollector collector_of(const Map& map) {
  return {map.side, map.vacant, map.evidence, all_articles};
}

TEST(CellCollector, EqualsTheRulesWrittenOut) {
  std::mt19937_64 random(test_seed());
  for (const std::uint32_t side : {1U, 2U, 3U, 7U, 16U}) {
    for (const std::size_t descriptors : {0U, 1U, 4U, 30U}) {
      const Map map = random_map(random, side, descriptors);
      CellCollector collector = collector_of(map);
      for (const Plane& plane : map.planes) {
        collector.add_rows(plane.descriptor, plane.weights, 0, side);
      }
      ASSERT_NO_FATAL_FAILURE(expect_rules(collector, map));
    }
  }
}

TEST(CellCollector, PassesOverNothingOfNearlyEmptyPlanes) {
  std::mt19937_64 random(test_seed());
  for (const std::uint32_t side : {31U, 33U, 65U, 70U}) {
    Map map = random_map(random, side, 6);
    for (Plane& plane : map.planes) {
      for (std::uint16_t& weight : plane.weights) {
        weight = static_cast<std::uint16_t>(random() % 60 == 0 ? weight : 0);
      }
    }
    CellCollector collector = collector_of(map);
    for (const Plane& plane : map.planes) {
      for (std::size_t begin = 0; begin < side; begin += 30) {
        collector.add_rows(plane.descriptor, plane.weights, begin,
                           std::min<std::size_t>(side, begin + 30));
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_rules(collector, map));
  }
}

TEST(CellCollector, TheOrderOfPlanesAndRowsDoesNotMatter) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 30; ++trial) {
    const Map map = random_map(random, 9, 40);
    std::vector<Plane> planes = map.planes;
    CellCollector collector = collector_of(map);
    for (std::size_t begin = 0, end = 0; begin < map.side; begin = end) {
      end += 1 + random() % (map.side - begin);
      std::shuffle(planes.begin(), planes.end(), random);
      for (const Plane& plane : planes) {
        collector.add_rows(plane.descriptor, plane.weights, begin, end);
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_rules(collector, map));
  }
}

TEST(CellCollector, ASingleCellHasLabelsAndNoHeight) {
  CellCollector collector(1, std::vector<std::uint8_t>{0}, {100 * 16}, 100);
  const std::vector<std::uint16_t> one{16383};
  collector.add_rows({store::descriptor_code(7, 6), 100, true}, one, 0, 1);  // all have it: no gain
  collector.add_rows({store::descriptor_code(9, 6), 50, false}, one, 0, 1);
  collector.add_rows({store::descriptor_code(8, 6), 90, true}, one, 0, 1);
  constexpr std::uint32_t none = 0xFFFF'FFFF;
  EXPECT_EQ(collector.labels().leading, (std::vector<std::uint32_t>{16, 18, none, none, none}));
  EXPECT_EQ(collector.borders().height, std::vector<std::uint32_t>{0});
}

TEST(CellCollector, AHeightIsTheMeanOverUsableNeighbours) {
  // Weights 0 and 1 side by side, two vacant cells below.
  CellCollector collector(2, std::vector<std::uint8_t>{0, 0, 1, 1}, {16, 16, 0, 0}, 2);
  collector.add_rows({2, 1, true}, std::vector<std::uint16_t>{0, 16383, 0, 0}, 0, 2);
  EXPECT_EQ(collector.borders().height, (std::vector<std::uint32_t>{1U << 20, 1U << 20, 0, 0}));
}

TEST(CellCollector, RefusesOtherSizes) {
  EXPECT_THROW(CellCollector(3, std::vector<std::uint8_t>(8), std::vector<std::uint32_t>(9), 1),
               std::invalid_argument);
  EXPECT_THROW(CellCollector(3, std::vector<std::uint8_t>(9), std::vector<std::uint32_t>(8), 1),
               std::invalid_argument);
  CellCollector collector(3, std::vector<std::uint8_t>(9), std::vector<std::uint32_t>(9), 1);
  const std::vector<std::uint16_t> plane(9);
  const LabelDescriptor one{2, 1, true};
  EXPECT_THROW(collector.add_rows(one, std::span(plane).first(8), 0, 3), std::invalid_argument);
  EXPECT_THROW(collector.add_rows(one, plane, 0, 4), std::invalid_argument);
  EXPECT_THROW(collector.add_rows(one, plane, 2, 1), std::invalid_argument);
}

TEST(CellEvidence, IsTheHitsAroundOverTheWeightOfTheCellsOwn) {
  std::mt19937_64 random(test_seed());
  for (const std::uint32_t side : {1U, 2U, 5U, 12U}) {
    for (const std::uint32_t radius : {0U, 1U, 2U, 15U}) {
      std::vector<std::uint32_t> hits(std::size_t{side} * side);
      for (std::uint32_t& count : hits) {
        count = random() % 3 == 0 ? static_cast<std::uint32_t>(random() % 10'000'000) : 0;
      }
      // Box passes as the contract has them, by summing every window.
      const auto edge = static_cast<std::int64_t>(side);
      const auto r = static_cast<std::int64_t>(radius);
      std::vector<Wide> plane(hits.begin(), hits.end());
      for (int pass = 0; pass < 6; ++pass) {
        std::vector<Wide> sum(plane.size(), 0);
        for (std::int64_t i = 0; i < edge * edge; ++i) {
          for (std::int64_t j = 0; j < edge * edge; ++j) {
            const bool row = i / edge == j / edge && std::abs(i % edge - j % edge) <= r;
            const bool column = i % edge == j % edge && std::abs(i / edge - j / edge) <= r;
            if (pass % 2 == 0 ? row : column) {
              sum[static_cast<std::size_t>(i)] += plane[static_cast<std::size_t>(j)];
            }
          }
        }
        plane = sum;
      }
      // What one article in the middle of an endless row leaves there.
      std::map<std::int64_t, std::uint64_t> line{{0, 1}};
      for (int pass = 0; pass < 3; ++pass) {
        std::map<std::int64_t, std::uint64_t> spread;
        for (const auto& [at, weight] : line) {
          for (std::int64_t shift = -r; shift <= r; ++shift) {
            spread[at + shift] += weight;
          }
        }
        line = spread;
      }
      const std::vector<std::uint32_t> evidence = cell_evidence(hits, side, radius);
      for (std::size_t i = 0; i < hits.size(); ++i) {
        const Wide exact = 16 * plane[i] / (Wide{line[0]} * line[0]);
        ASSERT_EQ(evidence[i], static_cast<std::uint32_t>(std::min<Wide>(exact, 0xFFFF'FFFF)));
      }
    }
  }
}

}  // namespace
}  // namespace somatlas::pipeline
