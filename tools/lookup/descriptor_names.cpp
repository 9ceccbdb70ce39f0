// Names are compared in small letters.
#include "tools/lookup/descriptor_names.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "store/descriptor_code.h"
#include "tools/lookup/article_input.h"

namespace somatlas::lookup {

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
    add_spelling(descriptor.name, descriptor, false);
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
      add_spelling(word, *descriptor->second, true);
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

void DescriptorNames::add_spelling(std::string_view name, const store::AtlasDescriptor& descriptor,
                                   bool is_entry_word) {
  const std::string_view shown = is_entry_word ? trimmed(name) : std::string_view();
  if (written_.size() + shown.size() > std::numeric_limits<std::uint32_t>::max()) {
    return;
  }
  spellings_.push_back({&descriptor, static_cast<std::uint32_t>(written_.size()),
                        static_cast<std::uint32_t>(shown.size())});
  written_ += shown;
  nearest_.add(name);
}

std::vector<DescriptorNames::Meant> DescriptorNames::nearest(std::string_view wanted) const {
  const std::string_view name = trimmed(wanted);
  std::vector<Meant> meant;
  if (name.empty() || name.size() > NearestNames::longest_looked_for ||
      store::descriptor_code_of(name)) {
    return meant;
  }
  for (const std::uint32_t number : nearest_.find(name)) {
    const Spelling& found = spellings_[number];
    meant.push_back(
        {found.descriptor, std::string_view(written_).substr(found.begin, found.length)});
  }
  std::ranges::stable_sort(meant, {}, [](const Meant& one) {
    return std::pair(!one.entry_word.empty(), ~one.descriptor->articles);
  });
  std::vector<Meant> chosen;
  for (const Meant& one : meant) {
    if (chosen.size() < most_meant && std::ranges::none_of(chosen, [&](const Meant& other) {
          return other.descriptor->name == one.descriptor->name;
        })) {
      chosen.push_back(one);
    }
  }
  if (!chosen.empty()) {
    return chosen;
  }
  const std::string part = folded(name);
  for (const store::AtlasDescriptor& descriptor : descriptors_) {
    if (folded(descriptor.name).find(part) != std::string::npos) {
      chosen.push_back({&descriptor, {}});
    }
  }
  std::ranges::stable_sort(chosen, {},
                           [](const Meant& one) { return one.descriptor->name.size(); });
  chosen.resize(std::min(chosen.size(), most_meant));
  return chosen;
}

std::string DescriptorNames::proposal(std::string_view wanted) const {
  const std::vector<Meant> meant = nearest(wanted);
  std::string text;
  for (std::size_t i = 0; i < meant.size(); ++i) {
    text += i == 0 ? "; did you mean \"" : i + 1 < meant.size() ? ", \"" : " or \"";
    text += meant[i].descriptor->name + "\"";
    if (!meant[i].entry_word.empty()) {
      text += " (entry word \"" + std::string(meant[i].entry_word) + "\")";
    }
  }
  return text.empty() ? text : text + "?";
}

}  // namespace somatlas::lookup
