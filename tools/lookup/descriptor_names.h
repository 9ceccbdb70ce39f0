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

#include "store/atlas.h"

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

  /// The end of a sentence about a name that find() does not know: `; did you mean "Neoplasms"?`
  /// names the nearest by spelling, the order of its words apart, or else the shortest that hold
  /// it; empty where there is none, or the name is very long.
  [[nodiscard]] std::string proposal(std::string_view wanted) const;

 private:
  std::span<const store::AtlasDescriptor> descriptors_;
  std::unordered_map<std::string_view, const store::AtlasDescriptor*> exact_;
  using Folded = std::unordered_map<std::string, const store::AtlasDescriptor*>;  // null: several
  Folded folded_;
  Folded entry_words_;
};

}  // namespace somatlas::lookup
