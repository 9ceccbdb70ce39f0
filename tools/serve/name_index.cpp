// Names stand in the order of their descriptors, each one's own before its entry words, and matches
// are met in that order.
#include "tools/serve/name_index.h"

#include <algorithm>
#include <limits>

#include "tools/lookup/article_input.h"
#include "tools/lookup/descriptor_names.h"

namespace somatlas::serve {
namespace {

constexpr char separator = '\n';
constexpr std::string_view between_words = " ,-()'";

}  // namespace

NameIndex::NameIndex(std::span<const store::AtlasDescriptor> descriptors,
                     std::span<const store::EntryWords> words) {
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    add(descriptors[i].name, i, false);
    const auto entry =
        std::ranges::lower_bound(words, descriptors[i].code, {}, &store::EntryWords::code);
    if (entry != words.end() && entry->code == descriptors[i].code) {
      for (const std::string& word : entry->words) {
        add(word, i, true);
      }
    }
  }
}

void NameIndex::add(std::string_view name, std::size_t descriptor, bool is_entry_word) {
  const std::string_view shown = lookup::trimmed(name);
  // What does not fit four gigabytes is not found; MeSH takes eight megabytes.
  if (shown.empty() || shown.size() >= std::numeric_limits<std::uint32_t>::max() - folded_.size()) {
    return;
  }
  items_.push_back({static_cast<std::uint32_t>(folded_.size()),
                    static_cast<std::uint32_t>(descriptor), is_entry_word});
  folded_.append(lookup::folded(shown)).push_back(separator);
  written_.append(shown).push_back(separator);
}

std::vector<NameIndex::Match> NameIndex::find(std::string_view text) const {
  std::vector<Match> matches;
  if (text.empty() || text.find(separator) != std::string_view::npos) {
    return matches;
  }
  std::size_t item = 0;
  const auto end_of = [this](std::size_t i) {  // behind its separator
    return i + 1 < items_.size() ? std::size_t{items_[i + 1].begin} : folded_.size();
  };
  for (std::size_t at = folded_.find(text); at != std::string::npos;) {
    while (end_of(item) <= at) {
      ++item;
    }
    const std::size_t begin = items_[item].begin;
    const std::size_t length = end_of(item) - 1 - begin;
    const bool begins_word = at > begin && between_words.find(folded_[at - 1]) != std::string::npos;
    const int distance = at == begin ? (length == text.size() ? 0 : 1) : begins_word ? 2 : 3;
    const Match match{items_[item].descriptor, 2 * distance + (items_[item].is_entry_word ? 1 : 0),
                      items_[item].is_entry_word ? std::string_view(written_).substr(begin, length)
                                                 : std::string_view()};
    if (matches.empty() || matches.back().descriptor != match.descriptor) {
      matches.push_back(match);
    } else if (match.rank < matches.back().rank) {
      matches.back() = match;
    }
    // Nothing behind the beginning of a word is nearer.
    at = folded_.find(text, distance < 3 ? end_of(item) : at + 1);
  }
  return matches;
}

}  // namespace somatlas::serve
