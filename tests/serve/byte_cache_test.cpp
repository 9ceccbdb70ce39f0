// The cache of layers and tiles: what it keeps, what it gives up, and that nothing is made twice.
#include "tools/serve/byte_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace somatlas::serve {
namespace {

TEST(ByteCache, GivesUpWhatWasAskedForLongestAgo) {
  ByteCache cache(3500);
  const auto get = [&cache](const std::string& key) {
    return *cache.get(key, [&key] { return std::string(1000, key.front()); });
  };
  EXPECT_EQ(get("a"), std::string(1000, 'a'));
  EXPECT_EQ(get("b").front(), 'b');
  EXPECT_EQ(get("a").front(), 'a');
  EXPECT_EQ(get("c").front(), 'c');
  EXPECT_TRUE(cache.holds("a"));
  EXPECT_FALSE(cache.holds("b"));
  EXPECT_TRUE(cache.holds("c"));
  EXPECT_LE(cache.bytes(), 3500U);
  EXPECT_EQ(cache.get("large", [] { return std::string(5000, 'x'); })->size(), 5000U);
  EXPECT_FALSE(cache.holds("large"));
  EXPECT_TRUE(cache.holds("a"));
}

TEST(ByteCache, MakesAValueOnceForAllWhoWait) {
  ByteCache cache(1 << 20);
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto value = cache.get("key", [&made] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        ++made;
        return std::string("value");
      });
      EXPECT_EQ(*value, "value");
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(made, 1);
}

TEST(ByteCache, AFailureIsNotKept) {
  ByteCache cache(1 << 20);
  EXPECT_THROW((void)cache.get("key", []() -> std::string { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(*cache.get("key", [] { return std::string("value"); }), "value");
}

}  // namespace
}  // namespace somatlas::serve
