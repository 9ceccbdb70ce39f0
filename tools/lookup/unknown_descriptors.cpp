// A name of an input reaches a terminal: it is cut where it is long, without control characters.
#include "tools/lookup/unknown_descriptors.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "tools/export/delimited.h"
#include "tools/lookup/clean_text.h"

namespace somatlas::lookup {
namespace {

std::string shown(const std::string& name) {
  constexpr std::size_t longest = 80;
  const std::string_view text = cut_to(name, longest);
  return "\"" + exports::tsv_field(text) + (text.size() < name.size() ? "...\"" : "\"");
}

// Distinct for distinct names, and no longer than its longest however long they are.
std::string key_of(const std::string& name, std::size_t longest) {
  std::string key = folded(name);
  if (key.size() > longest) {
    const std::size_t whole = std::hash<std::string>()(key);
    key.resize(longest);
    key += '\n' + std::to_string(whole);
  }
  return key;
}

}  // namespace

void UnknownDescriptors::add(const std::string& name, std::uint64_t line) {
  const std::string key = key_of(name, longest_kept);
  const auto known = articles_.find(key);
  if (known != articles_.end()) {
    ++known->second.articles;
  } else if (articles_.size() < most_counted) {
    articles_.emplace(key, Met{name.substr(0, longest_kept), 1, line});
  } else {
    uncounted_ = true;
  }
}

std::vector<std::string> UnknownDescriptors::sentences(const DescriptorNames& names) const {
  std::vector<Met> order;
  order.reserve(articles_.size());
  for (const auto& [key, met] : articles_) {
    order.push_back(met);
  }
  std::ranges::sort(order, [](const Met& a, const Met& b) {
    return a.articles != b.articles ? a.articles > b.articles : a.name < b.name;
  });
  std::vector<std::string> texts;
  for (const auto& [name, articles, line] : order) {
    if (texts.size() == most_named) {
      texts.push_back("and " + std::string(uncounted_ ? "more than " : "") +
                      std::to_string(order.size() - most_named) + " further unknown descriptor" +
                      (order.size() - most_named == 1 ? "" : "s"));
      break;
    }
    texts.push_back(
        "the atlas has no descriptor " + shown(name) + ": on " + std::to_string(articles) +
        (articles == 1 ? " article" : " articles") +
        (line == 0 ? "" : (articles == 1 ? ", line " : ", first in line ") + std::to_string(line)) +
        names.proposal(name));
  }
  return texts;
}

}  // namespace somatlas::lookup
