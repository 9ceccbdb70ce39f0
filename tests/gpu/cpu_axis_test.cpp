// The tables that the CPU's update spreads counts by, against literal windows.
#include "gpu/cpu_axis.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/gpu/backends.h"
#include "tests/gpu/reference.h"

namespace somatlas::gpu::testing {
namespace {

/// A count at a place after three box passes, literally.
std::vector<std::int64_t> spread_count(std::size_t side, std::size_t place, std::size_t radius) {
  std::vector<std::int64_t> line(side);
  line[place] = 1;
  for (int pass = 0; pass < 3; ++pass) {
    const std::vector<std::int64_t> from = line;
    for (std::size_t x = 0; x < side; ++x) {
      line[x] = 0;
      for (std::size_t at = x - std::min(x, radius); at < std::min(side, x + radius + 1); ++at) {
        line[x] += from[at];
      }
    }
  }
  return line;
}

void expect_tables(std::size_t side, std::size_t radius) {
  SCOPED_TRACE("side " + std::to_string(side) + ", radius " + std::to_string(radius));
  const AxisSpread axis(side, radius);
  ASSERT_GE(axis.pitch(), side);
  ASSERT_EQ(axis.pitch() % patch_columns, 0U);
  std::int64_t most = 0;
  for (std::size_t place = 0; place < side; ++place) {
    std::vector<std::int64_t> expected = spread_count(side, place, radius);
    most = std::max(most, *std::max_element(expected.begin(), expected.end()));
    // Three running sums of the jumps are the factors.
    std::vector<std::int64_t> line(side);
    std::size_t next = 0;
    ASSERT_LE(axis.jumps(place).size(), 9U);
    for (const AxisSpread::Jump& jump : axis.jumps(place)) {
      ASSERT_GE(jump.place, next);
      ASSERT_LT(jump.place, side);
      next = jump.place + 1;
      line[jump.place] = jump.by;
    }
    for (int order = 0; order < 3; ++order) {
      for (std::size_t x = 1; x < side; ++x) {
        line[x] += line[x - 1];
      }
    }
    ASSERT_EQ(line, expected) << place;
    expected.resize(axis.pitch());
    for (std::size_t x = 0; x < expected.size(); ++x) {
      ASSERT_EQ(axis.factors(place)[x], expected[x]) << place << " for " << x;
      if (expected[x] != 0) {
        ASSERT_LE(std::max(x, place) - std::min(x, place), axis.reach());
      }
    }
  }
  ASSERT_EQ(axis.most_factor(), most);
}

TEST(CpuAxis, FactorsAndJumpsAreThreeBoxPasses) {
  for (std::size_t side = 1; side <= 24; ++side) {
    for (std::size_t radius = 0; radius <= side + 2; ++radius) {
      expect_tables(side, radius);
    }
  }
  auto random = generator(81);
  for (int trial = 0; trial < 20; ++trial) {
    const std::size_t side = 25 + random() % 100;
    expect_tables(side, random() % (side + 3));
  }
}

}  // namespace
}  // namespace somatlas::gpu::testing
