// The descriptors of an input that an atlas does not know: counted as they are met, named at the
// end, a few of them. Always holds: memory and what is said are bounded, however wrong the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/lookup/descriptor_names.h"

namespace somatlas::lookup {

class UnknownDescriptors {
 public:
  /// One more article has a descriptor of that name or UI; spellings of one name are counted as it.
  /// line: the article's in the input; 0: it has none.
  void add(const std::string& name, std::uint64_t line = 0);
  [[nodiscard]] bool empty() const { return articles_.empty(); }

  /// Sentences: the 20 on most articles, by name at the same number, each with what may have been
  /// meant; then how many there are beside.
  [[nodiscard]] std::vector<std::string> sentences(const DescriptorNames& names) const;

 private:
  static constexpr std::size_t most_named = 20;
  static constexpr std::size_t most_counted = 10'000;
  static constexpr std::size_t longest_kept = 1'000;  // bytes of a name

  struct Met {
    std::string name;  // as it was spelt first
    std::uint64_t articles = 0;
    std::uint64_t line = 0;  // of the first of them; 0: none
  };
  std::unordered_map<std::string, Met> articles_;  // by folded name
  bool uncounted_ = false;                         // there were more than most_counted
};

}  // namespace somatlas::lookup
