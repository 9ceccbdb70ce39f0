// The nearest names against plain comparison of all, and how long it takes of as many as MeSH has.
#include "tools/lookup/nearest_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/seed.h"

namespace somatlas::lookup {
namespace {

// Words of few letters.
std::string words_of(std::mt19937_64& random, std::size_t most_words, std::size_t longest) {
  std::vector<std::string> words(1 + random() % most_words);
  for (std::string& word : words) {
    for (std::size_t length = 1 + random() % longest; length > 0; --length) {
      word.push_back("abcd"[random() % 4]);
    }
  }
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

// What is compared.
std::string key_of(const std::string& name, bool in_order) {
  std::istringstream blanks_apart(name);
  std::vector<std::string> words{std::istream_iterator<std::string>(blanks_apart), {}};
  if (in_order) {
    std::ranges::sort(words);
  }
  std::string joined;
  for (const std::string& word : words) {
    joined += (joined.empty() ? "" : " ") + word;
  }
  return joined;
}

std::size_t plain_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      table[i][j] = i == 0 || j == 0
                        ? i + j
                        : std::min({table[i - 1][j] + 1, table[i][j - 1] + 1,
                                    table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
    }
  }
  return table[a.size()][b.size()];
}

TEST(NearestNames, AreThoseOfThePlainTable) {
  std::mt19937_64 random(test_seed());
  std::size_t met = 0;
  for (int round = 0; round < 60; ++round) {
    // Texts of one to four times 64 letters, a few edits from some of the names.
    const std::size_t most_words = 1 + random() % 12;
    std::vector<std::string> names;
    NearestNames nearest;
    for (int i = 0; i < 30; ++i) {
      names.push_back(words_of(random, most_words, 1 + random() % 14));
      if (i > 0 && random() % 2 == 0) {
        names.back() = names[random() % names.size()];
        names.back().insert(random() % (names.back().size() + 1), 1, "abcd"[random() % 4]);
        names.back().erase(random() % names.back().size(), random() % 3);
      }
      nearest.add(names.back());
    }
    for (int k = 0; k < 10; ++k) {
      std::string text = names[random() % names.size()];
      for (std::size_t edits = random() % 6; edits > 0 && !text.empty(); --edits) {
        text[random() % text.size()] = "abcd"[random() % 4];
      }
      std::size_t least = std::max<std::size_t>(1, key_of(text, false).size() / 4);
      std::vector<std::uint32_t> expected;
      for (std::uint32_t i = 0; i < names.size(); ++i) {
        const std::size_t distance =
            std::min(plain_distance(key_of(text, false), key_of(names[i], false)),
                     plain_distance(key_of(text, true), key_of(names[i], true)));
        if (key_of(names[i], false).empty() || distance > least) {
          continue;
        }
        if (distance < least) {
          expected.clear();
          least = distance;
        }
        expected.push_back(i);
      }
      if (key_of(text, false).empty() || text.size() > NearestNames::longest_looked_for) {
        expected.clear();
      }
      EXPECT_EQ(nearest.find(text), expected) << text;
      met += expected.size();
    }
  }
  EXPECT_GT(met, 300U);
}

TEST(NearestNames, AreComparedWithoutCaseAndOrderOfWords) {
  NearestNames nearest;
  for (const char* const name : {"Diabetes Mellitus, Type 2", "", "Pain", "PAIN", "Ache"}) {
    nearest.add(name);
  }
  EXPECT_EQ(nearest.find(" type-2 (diabetes) MELITUS "), std::vector<std::uint32_t>{0});
  EXPECT_EQ(nearest.find("Xiabetes Mellitus, Type 2"), std::vector<std::uint32_t>{0});
  EXPECT_EQ(nearest.find("pan"), (std::vector<std::uint32_t>{2, 3}));
  for (const std::string& text : {std::string(), std::string(" ,-"), std::string("Cough"),
                                  std::string(201, 'p'), std::string(1'000'000, 'p')}) {
    EXPECT_TRUE(nearest.find(text).empty()) << text.substr(0, 80);
  }
}

TEST(NearestNames, AreFoundAmongAsManyAsMeshHasWhileOneTypes) {
  std::mt19937_64 random(test_seed());
  std::vector<std::string> names(280'000);
  std::ranges::generate(names, [&] { return words_of(random, 4, 12); });  // some 20 letters
  NearestNames nearest;
  const auto begun = std::chrono::steady_clock::now();
  std::ranges::for_each(names, [&](const std::string& name) { nearest.add(name); });
  const auto milliseconds_since = [](std::chrono::steady_clock::time_point then) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - then)
        .count();
  };
  std::cout << "numbered in " << milliseconds_since(begun) << " ms\n";
  for (const std::size_t letters : {1U, 8U, 20U, 40U, 65U, 200U}) {
    std::string text;
    while (text.size() < letters) {
      text.push_back("abcdx"[random() % 5]);
    }
    double quickest = 1e9;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto then = std::chrono::steady_clock::now();
      static_cast<void>(nearest.find(text));
      quickest = std::min(quickest, milliseconds_since(then));
    }
    std::cout << letters << " letters in " << quickest << " ms\n";
    EXPECT_LT(quickest, 5000) << text;  // with sanitizers, beside other work
  }
}

}  // namespace
}  // namespace somatlas::lookup
