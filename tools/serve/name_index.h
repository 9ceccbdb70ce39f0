// All names that lead to an atlas's descriptors, to be searched as they are typed: folded once and
// laid one behind the other, so that a search is one pass over a few megabytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/atlas.h"

namespace somatlas::serve {

class NameIndex {
 public:
  /// words: entry words of the descriptors, by ascending code; those of others are left out.
  NameIndex(std::span<const store::AtlasDescriptor> descriptors,
            std::span<const store::EntryWords> words);

  struct Match {
    std::size_t descriptor = 0;   // its place among the descriptors
    int rank = 0;                 // 0: it is the name, 1: it is an entry word; a name, 3: an entry
                                  // word begins with it; 4, 5: a word of them does; 6, 7: holds
                                  // it; 8, 9: each word of the text begins a word of it
    std::string_view entry_word;  // that was matched; empty: the name was
  };
  /// Each descriptor that has text in its name or an entry word, once and by its best match, in
  /// their order. text: folded (tools/lookup/descriptor_names.h).
  [[nodiscard]] std::vector<Match> find(std::string_view text) const;

 private:
  struct Item {
    std::uint32_t begin = 0;  // in both texts
    std::uint32_t descriptor = 0;
    bool is_entry_word = false;
  };
  void add(std::string_view name, std::size_t descriptor, bool is_entry_word);
  [[nodiscard]] std::size_t end_of(std::size_t item) const;  // behind its separator
  [[nodiscard]] Match match_of(std::size_t item, int distance) const;
  [[nodiscard]] std::vector<Match> find_whole(std::string_view text) const;
  [[nodiscard]] std::vector<Match> find_words(std::span<const std::string_view> words) const;

  std::string folded_;
  std::string written_;  // as MeSH writes it, letter under letter
  std::vector<Item> items_;
};

}  // namespace somatlas::serve
