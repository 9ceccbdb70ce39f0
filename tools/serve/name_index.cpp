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

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(between_words); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(between_words, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(between_words, end);
  }
  return words;
}

// Whether a word of the name begins with it.
bool has_word(std::string_view name, std::string_view word) {
  for (std::size_t at = name.find(word); at != std::string_view::npos;
       at = name.find(word, at + 1)) {
    if (at == 0 || between_words.find(name[at - 1]) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

// Matches come in the order of descriptors; of several the nearest is kept.
void add_match(std::vector<NameIndex::Match>& matches, const NameIndex::Match& match) {
  if (matches.empty() || matches.back().descriptor != match.descriptor) {
    matches.push_back(match);
  } else if (match.rank < matches.back().rank) {
    matches.back() = match;
  }
}

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

std::size_t NameIndex::end_of(std::size_t item) const {
  return item + 1 < items_.size() ? std::size_t{items_[item + 1].begin} : folded_.size();
}

NameIndex::Match NameIndex::match_of(std::size_t item, int distance) const {
  const auto& [begin, descriptor, is_entry_word] = items_[item];
  return {descriptor, 2 * distance + (is_entry_word ? 1 : 0),
          is_entry_word ? std::string_view(written_).substr(begin, end_of(item) - 1 - begin)
                        : std::string_view()};
}

std::vector<NameIndex::Match> NameIndex::find_whole(std::string_view text) const {
  std::vector<Match> matches;
  std::size_t item = 0;
  for (std::size_t at = folded_.find(text); at != std::string::npos;) {
    while (end_of(item) <= at) {
      ++item;
    }
    const std::size_t begin = items_[item].begin;
    const std::size_t length = end_of(item) - 1 - begin;
    const bool begins_word = at > begin && between_words.find(folded_[at - 1]) != std::string::npos;
    const int distance = at == begin ? (length == text.size() ? 0 : 1) : begins_word ? 2 : 3;
    add_match(matches, match_of(item, distance));
    // Nothing behind the beginning of a word is nearer.
    at = folded_.find(text, distance < 3 ? end_of(item) : at + 1);
  }
  return matches;
}

std::vector<NameIndex::Match> NameIndex::find_words(std::span<const std::string_view> words) const {
  const std::string_view rarest = *std::ranges::max_element(words, {}, &std::string_view::size);
  std::vector<Match> matches;
  std::size_t item = 0;
  for (std::size_t at = folded_.find(rarest); at != std::string::npos;) {
    while (end_of(item) <= at) {
      ++item;
    }
    const std::size_t begin = items_[item].begin;
    const auto name = std::string_view(folded_).substr(begin, end_of(item) - 1 - begin);
    if (std::ranges::all_of(words, [&](std::string_view word) { return has_word(name, word); })) {
      add_match(matches, match_of(item, 4));
    }
    at = folded_.find(rarest, end_of(item));
  }
  return matches;
}

std::vector<NameIndex::Match> NameIndex::find(std::string_view text) const {
  if (text.empty() || text.find(separator) != std::string_view::npos) {
    return {};
  }
  std::vector<Match> matches = find_whole(text);
  if (const std::vector<std::string_view> words = words_of(text); words.size() > 1) {
    const std::size_t whole = matches.size();
    for (const Match& match : find_words(words)) {
      const auto known = std::ranges::lower_bound(
          matches.begin(), matches.begin() + static_cast<std::ptrdiff_t>(whole), match.descriptor,
          {}, &Match::descriptor);
      if (known == matches.begin() + static_cast<std::ptrdiff_t>(whole) ||
          known->descriptor != match.descriptor) {
        matches.push_back(match);
      }
    }
    std::ranges::inplace_merge(matches, matches.begin() + static_cast<std::ptrdiff_t>(whole), {},
                               &Match::descriptor);
  }
  return matches;
}

}  // namespace somatlas::serve
