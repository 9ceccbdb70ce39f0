// Names are compared in small letters; nearness is the number of letters to change, to add or to
// take away between the two names with their words in alphabetical order.
#include "tools/lookup/descriptor_names.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "store/descriptor_code.h"
#include "tools/lookup/article_input.h"

namespace somatlas::lookup {
namespace {

constexpr std::size_t longest_looked_for = 200;
constexpr std::size_t most_proposals = 3;

// "Diabetes Mellitus, Type 2" and "type 2 diabetes mellitus" alike.
std::string words_in_order(std::string_view text) {
  std::string small = folded(text);
  std::vector<std::string_view> words;
  constexpr std::string_view between = " ,;.-()/'\"";
  for (std::size_t at = small.find_first_not_of(between); at != std::string::npos;) {
    const std::size_t end = std::min(small.find_first_of(between, at), small.size());
    words.push_back(std::string_view(small).substr(at, end - at));
    at = small.find_first_not_of(between, end);
  }
  std::sort(words.begin(), words.end());
  std::string key;
  for (const std::string_view word : words) {
    key += key.empty() ? "" : " ";
    key += word;
  }
  return key;
}

// Levenshtein's distance; most + 1 where it is more than most.
std::size_t edits(std::string_view a, std::string_view b, std::size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) {
    return most + 1;
  }
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    std::size_t least = row[0];
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
      least = std::min(least, row[j + 1]);
    }
    if (least > most) {
      return most + 1;
    }
  }
  return row.back();
}

}  // namespace

// Bytes past ASCII stay as they are.
std::string folded(std::string_view text) {
  std::string small(trimmed(text));
  for (char& c : small) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return small;
}

DescriptorNames::DescriptorNames(std::span<const store::AtlasDescriptor> descriptors,
                                 std::span<const store::EntryWords> words)
    : descriptors_(descriptors) {
  for (const store::AtlasDescriptor& descriptor : descriptors_) {
    if (!descriptor.name.empty() && exact_.emplace(descriptor.name, &descriptor).second) {
      const auto [known, added] = folded_.emplace(folded(descriptor.name), &descriptor);
      known->second = added ? &descriptor : nullptr;
    }
  }
  std::unordered_map<store::DescriptorCode, const store::AtlasDescriptor*> of_code;
  for (const store::AtlasDescriptor& descriptor : descriptors_) {
    of_code.emplace(descriptor.code, &descriptor);
  }
  for (const store::EntryWords& entry : words) {
    const auto descriptor = of_code.find(entry.code);
    if (descriptor == of_code.end()) {
      continue;
    }
    for (const std::string& word : entry.words) {
      const auto [known, added] = entry_words_.emplace(folded(word), descriptor->second);
      if (!added && known->second != descriptor->second) {
        known->second = nullptr;
      }
    }
  }
}

const store::AtlasDescriptor* DescriptorNames::find(std::string_view wanted) const {
  const store::AtlasDescriptor* const heading = find_heading(wanted);
  if (heading != nullptr || entry_words_.empty()) {
    return heading;
  }
  const std::string name = folded(wanted);
  const auto known = folded_.contains(name) ? entry_words_.end() : entry_words_.find(name);
  return known == entry_words_.end() ? nullptr : known->second;
}

const store::AtlasDescriptor* DescriptorNames::find_heading(std::string_view wanted) const {
  const std::string_view name = trimmed(wanted);
  if (const auto exact = exact_.find(name); exact != exact_.end()) {
    return exact->second;
  }
  if (const auto code = store::descriptor_code_of(name)) {
    const auto of_code = std::ranges::find(descriptors_, *code, &store::AtlasDescriptor::code);
    return of_code == descriptors_.end() ? nullptr : &*of_code;
  }
  const auto known = folded_.find(folded(name));
  return known == folded_.end() ? nullptr : known->second;
}

std::string DescriptorNames::proposal(std::string_view wanted) const {
  const std::string_view name = trimmed(wanted);
  if (name.empty() || name.size() > longest_looked_for || store::descriptor_code_of(name)) {
    return "";
  }
  const std::string key = words_in_order(name);
  const std::string part = folded(name);
  const store::AtlasDescriptor* nearest = nullptr;
  std::size_t most = std::max<std::size_t>(1, key.size() / 4);
  std::vector<const store::AtlasDescriptor*> holding;
  for (const store::AtlasDescriptor& descriptor : descriptors_) {
    const std::size_t distance = edits(key, words_in_order(descriptor.name), most);
    // Of several that are as near, the one on most articles.
    if (distance < most ||
        (distance == most && (nearest == nullptr || descriptor.articles > nearest->articles))) {
      nearest = &descriptor;
      most = distance;
    }
    if (folded(descriptor.name).find(part) != std::string::npos) {
      holding.push_back(&descriptor);
    }
  }
  if (nearest != nullptr) {
    holding = {nearest};
  }
  std::ranges::stable_sort(holding, {},
                           [](const auto* descriptor) { return descriptor->name.size(); });
  holding.resize(std::min(holding.size(), most_proposals));
  std::string text;
  for (std::size_t i = 0; i < holding.size(); ++i) {
    text += i == 0 ? "; did you mean \"" : i + 1 < holding.size() ? ", \"" : " or \"";
    text += holding[i]->name + "\"";
  }
  return text.empty() ? text : text + "?";
}

}  // namespace somatlas::lookup
