// Searches of names and entry words against plain comparison of each, and how long one takes of as
// many as MeSH has.
#include "tools/serve/name_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/seed.h"
#include "tools/lookup/descriptor_names.h"

namespace somatlas::serve {
namespace {

using Found = std::vector<std::tuple<std::size_t, int, std::string>>;

Found found_by(const NameIndex& index, std::string_view text) {
  Found found;
  for (const NameIndex::Match& match : index.find(text)) {
    found.emplace_back(match.descriptor, match.rank, match.entry_word);
  }
  return found;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalpha(c) != 0) {
      words.back().push_back(c);
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) {
    words.pop_back();
  }
  return words;
}

struct Names {
  std::vector<store::AtlasDescriptor> descriptors;
  std::vector<store::EntryWords> words;

  /// Letters from few, so that short texts match in every way.
  Names(std::mt19937_64& random, std::size_t count, std::size_t longest, std::size_t most_words) {
    const auto name = [&] {
      std::string text;
      for (std::size_t length = random() % (longest + 1); length > 0; --length) {
        text.push_back("aAbB ,-("[random() % 8]);
      }
      return text;
    };
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto code = store::descriptor_code(i, 6);
      descriptors.push_back({code, name(), {}, i});
      store::EntryWords entry{code, {}};
      for (std::size_t n = random() % (most_words + 1); n > 0; --n) {
        entry.words.push_back(name());
      }
      if (!entry.words.empty()) {
        words.push_back(std::move(entry));
      }
    }
    std::ranges::sort(words, {}, &store::EntryWords::code);
  }

  [[nodiscard]] Found found_plainly(const std::string& text) const {
    Found found;
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
      std::optional<std::pair<int, std::string>> best;
      const auto look = [&](const std::string& name, bool is_entry_word) {
        const std::string folded = lookup::folded(name);
        int rank = 10;
        for (std::size_t at = 0; at + text.size() <= folded.size(); ++at) {
          if (folded.compare(at, text.size(), text) == 0) {
            const bool begins = at > 0 && !std::isalpha(folded[at - 1]);
            rank = std::min(rank, folded == text ? 0 : at == 0 ? 2 : begins ? 4 : 6);
          }
        }
        const std::vector<std::string> parts = words_of(text);
        if (parts.size() > 1 && std::ranges::all_of(parts, [&](const std::string& word) {
              return std::ranges::any_of(words_of(folded), [&](const std::string& other) {
                return other.starts_with(word);
              });
            })) {
          rank = std::min(rank, 8);
        }
        rank += is_entry_word ? 1 : 0;
        if (rank < 10 && (!best || rank < best->first)) {
          best = {rank,
                  is_entry_word ? name.substr(name.find_first_not_of(' '), folded.size()) : ""};
        }
      };
      look(descriptors[i].name, false);
      const auto entry = std::ranges::find(words, descriptors[i].code, &store::EntryWords::code);
      for (std::size_t k = 0; entry != words.end() && k < entry->words.size(); ++k) {
        look(entry->words[k], true);
      }
      if (best) {
        found.emplace_back(i, best->first, best->second);
      }
    }
    return found;
  }
};

TEST(NameIndex, FindsWhatPlainComparisonFinds) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 20; ++round) {
    const Names names(random, random() % 60, 1 + random() % 12, random() % 6);
    const NameIndex index(names.descriptors, names.words);
    for (const std::string text : {"a", "b", "ab", "ba", "aa", "a b", "b,a", "-a", "(", "abab",
                                   "a-", "ba(b", "a b b", "b ab,", "aa-b"}) {
      EXPECT_EQ(found_by(index, text), names.found_plainly(text)) << text;
    }
    EXPECT_EQ(found_by(index, ""), Found{});
    EXPECT_EQ(found_by(index, "a\na"), Found{});
  }
}

TEST(NameIndex, SearchesAsManyNamesAsMeshHasWhileOneTypes) {
  std::mt19937_64 random(test_seed());
  const Names names(random, 30'000, 50, 16);
  const NameIndex index(names.descriptors, names.words);
  for (const std::string text : {"a", "ab", "abba", "ab ab,ba", "nowhere"}) {
    auto quickest = std::chrono::steady_clock::duration::max();
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto begun = std::chrono::steady_clock::now();
      const std::size_t found = index.find(text).size();
      quickest = std::min(quickest, std::chrono::steady_clock::now() - begun);
      EXPECT_EQ(found > 0, text != "nowhere");
    }
    const double milliseconds = std::chrono::duration<double, std::milli>(quickest).count();
    std::cout << '"' << text << "\" in " << milliseconds << " ms\n";
    EXPECT_LT(milliseconds, 5000) << text;  // with sanitizers, beside other work
  }
}

}  // namespace
}  // namespace somatlas::serve
