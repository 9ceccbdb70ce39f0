// Names and entry words are compared without regard to case.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "tools/lookup/descriptor_names.h"
#include "tools/serve/answers.h"
#include "tools/serve/request_target.h"

namespace somatlas::serve {
namespace {

using nlohmann::json;

// The descriptor of that UI comes first, whatever else has the UI in its name.
void put_first(std::vector<NameIndex::Match>& matches, const AtlasView& view,
               store::DescriptorCode code) {
  if (const store::AtlasDescriptor* const found = view.descriptor(code)) {
    const auto place = static_cast<std::size_t>(found - view.descriptors().data());
    std::erase_if(matches,
                  [&](const NameIndex::Match& match) { return match.descriptor == place; });
    matches.push_back({.descriptor = place, .rank = 0, .entry_word = {}});
  }
}

json descriptor_json(const store::AtlasDescriptor& descriptor, std::string_view entry_word) {
  json entry{{"ui", store::descriptor_ui(descriptor.code)},
             {"name", descriptor.name},
             {"articles", descriptor.articles}};
  if (!entry_word.empty()) {
    entry["entry"] = entry_word;
  }
  return entry;
}

}  // namespace

json nearest_names(const AtlasView& view, std::span<const std::string_view> names) {
  json answers = json::array();
  for (const std::string_view name : names) {
    json& nearest = answers.emplace_back(json::array());
    for (const auto& [descriptor, entry_word] : view.codes().names().nearest(name)) {
      nearest.push_back(descriptor_json(*descriptor, entry_word));
    }
  }
  return answers;
}

json search_names(const AtlasView& view, std::string_view text) {
  const std::string wanted = lookup::folded(text);
  json found{{"descriptors", json::array()}};
  if (wanted.empty()) {
    return found;
  }
  if (const auto pmid = parse_number(wanted); pmid && *pmid > 0) {
    const auto place =
        view.with_mapper([&](pipeline::AtlasMapper& mapper) { return mapper.recorded(*pmid); });
    found["article"] = {{"pmid", *pmid}, {"found", place.has_value()}};
    if (place) {
      found["article"]["row"] = place->neuron / view.side();
      found["article"]["column"] = place->neuron % view.side();
    }
  }
  std::vector<NameIndex::Match> matches = view.names().find(wanted);
  std::string ui = wanted;
  std::ranges::transform(ui, ui.begin(), [](unsigned char c) { return std::toupper(c); });
  if (const auto code = store::descriptor_code_of(ui)) {
    put_first(matches, view, *code);
  }
  const auto order = [&](const NameIndex::Match& match) {
    return std::tuple(match.rank, ~view.descriptors()[match.descriptor].articles, match.descriptor);
  };
  const auto shown = std::min(matches.size(), most_found);
  std::ranges::partial_sort(matches, matches.begin() + static_cast<std::ptrdiff_t>(shown), {},
                            order);
  for (std::size_t i = 0; i < shown; ++i) {
    found["descriptors"].push_back(
        descriptor_json(view.descriptors()[matches[i].descriptor], matches[i].entry_word));
  }
  found["more"] = matches.size() - shown;
  if (matches.empty() && !found.contains("article")) {
    found["nearest"] = nearest_names(view, {{wanted}})[0];
  }
  return found;
}

}  // namespace somatlas::serve
