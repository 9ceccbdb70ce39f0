// Descriptors as people name them: by UI, by the name of the MeSH heading in whatever case, or by
// an entry word.
// Always holds: an exact name comes first, and a heading's before an entry word; a name that fits
// several headings but for its case, or entry words of several, is none of them; a proposal is
// never taken for what was meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/atlas.h"
#include "tools/lookup/nearest_names.h"

namespace somatlas::lookup {

/// A name without the blanks around it and in small letters: two spellings that are equal so mean
/// one descriptor, where they mean any.
[[nodiscard]] std::string folded(std::string_view name);

class DescriptorNames {
 public:
  /// The descriptors are those of an atlas and outlive this.
  explicit DescriptorNames(std::span<const store::AtlasDescriptor> descriptors,
                           std::span<const store::EntryWords> words = {});

  /// By UI, name or entry word, blanks around it left out; null where there is none. Case is that
  /// of ASCII.
  [[nodiscard]] const store::AtlasDescriptor* find(std::string_view wanted) const;
  /// By UI or name alone.
  [[nodiscard]] const store::AtlasDescriptor* find_heading(std::string_view wanted) const;

  /// What may have been meant.
  struct Meant {
    const store::AtlasDescriptor* descriptor = nullptr;
    std::string_view entry_word;  // that is as near; empty: the name is
  };
  /// What may be meant by a name that find() does not know, at most most_meant descriptors: those
  /// of which the name or an entry word is nearest by spelling (NearestNames), or else the shortest
  /// names that hold it. Of as near ones those by name come first, and those of more articles.
  [[nodiscard]] std::vector<Meant> nearest(std::string_view wanted) const;
  /// The same as the end of a sentence: `; did you mean "Neoplasms" or "Pain" (entry word
  /// "Ache")?`; empty where there is none.
  [[nodiscard]] std::string proposal(std::string_view wanted) const;

  static constexpr std::size_t most_meant = 3;

 private:
  void add_spelling(std::string_view name, const store::AtlasDescriptor& descriptor,
                    bool is_entry_word);

  std::span<const store::AtlasDescriptor> descriptors_;
  std::unordered_map<std::string_view, const store::AtlasDescriptor*> exact_;
  using Folded = std::unordered_map<std::string, const store::AtlasDescriptor*>;  // null: several
  Folded folded_;
  Folded entry_words_;
  // Of names and entry words, in the order that nearest_ numbers them.
  struct Spelling {
    const store::AtlasDescriptor* descriptor = nullptr;
    std::uint32_t begin = 0;  // in written_, where an entry word is; a name is its descriptor's
    std::uint32_t length = 0;
  };
  std::vector<Spelling> spellings_;
  std::string written_;
  NearestNames nearest_;
};

}  // namespace somatlas::lookup
