// The names nearest to a misspelt one. Always holds: the answer is exact, that of comparing every
// name, and a search of as many names as MeSH has takes some milliseconds: 64 letters of the
// distance are worked out at once, and names whose length alone is too far are passed over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace somatlas::lookup {

class NearestNames {
 public:
  /// Names are numbered from 0 as they come.
  void add(std::string_view name);

  /// Numbers of the names at the least distance from text, ascending; none where that is more than
  /// a quarter of text's letters, or one letter of few, or text is longer than longest_looked_for.
  /// The distance: bytes to change, to add or to take away between the two in small letters, with
  /// their words as they stand or in alphabetical order, whichever are nearer: words may have
  /// changed places, and a slip in a first letter would put them in another order.
  /// Source: G. Myers, "A fast bit-vector algorithm for approximate string matching based on
  /// dynamic programming", 1999; H. Hyyroe's form for whole words, 2003.
  [[nodiscard]] std::vector<std::uint32_t> find(std::string_view text) const;

  static constexpr std::size_t longest_looked_for = 200;  // bytes

 private:
  struct Keys {
    std::string text;  // of all names, one behind the other
    std::vector<std::uint32_t> ends;
  };
  std::array<Keys, 2> keys_;  // words as they stand, in order
};

}  // namespace somatlas::lookup
