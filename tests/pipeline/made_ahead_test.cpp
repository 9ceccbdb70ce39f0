// Values made ahead come in order and once; what making one throws comes out where it is asked for,
// and one that nobody asks for any more does no harm.
#include "pipeline/made_ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <stdexcept>

#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

TEST(MadeAhead, ComesInOrderAndOnce) {
  std::mt19937_64 random(test_seed());
  for (int run = 0; run < 50; ++run) {
    const std::size_t count = random() % 100;
    const std::size_t at_once = 1 + random() % 20;
    std::atomic<std::size_t> made = 0;
    MadeAhead<std::size_t> values(
        count,
        [&](std::size_t i) {
          ++made;
          return 3 * i;
        },
        at_once);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(values.next(), 3 * i);
      ASSERT_LE(made, i + 1 + 2 * at_once);
    }
    EXPECT_EQ(values.next(), std::nullopt);
    EXPECT_EQ(made, count);
  }
}

TEST(MadeAhead, PassesOnWhatMakingThrows) {
  MadeAhead<int> values(
      10,
      [](std::size_t i) -> int {
        if (i == 7) {
          throw std::runtime_error("seven");
        }
        return static_cast<int>(i);
      },
      5);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(values.next(), i);
  }
  EXPECT_THROW((void)values.next(), std::runtime_error);
}

TEST(MadeAhead, MayBeLeftAtAnyTime) {
  const auto leave = [] {
    MadeAhead<int> values(
        10, [](std::size_t i) { return static_cast<int>(i); }, 3);
    (void)values.next();
    throw std::runtime_error("left");
  };
  EXPECT_THROW(leave(), std::runtime_error);
  MadeAhead<int> values(
      10, [](std::size_t i) { return static_cast<int>(i); }, 3);
  EXPECT_EQ(values.next(), 0);  // the rest is made for nobody, with nothing thrown
}

}  // namespace
}  // namespace somatlas::pipeline
