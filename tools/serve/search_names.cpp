// Names are compared without regard to case; each search goes through all of them, which takes
// thirty thousand comparisons.
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

constexpr int not_found = 4;

// 0 where it is the name, 1 where the name begins with it, 2 where one of its words does, 3 where
// it is inside.
int distance_from(const std::string& name, const std::string& wanted) {
  if (name == wanted) {
    return 0;
  }
  int nearest = not_found;
  for (std::size_t at = name.find(wanted); at != std::string::npos;
       at = name.find(wanted, at + 1)) {
    const bool begins_word =
        at > 0 && std::string_view(" ,-()'").find(name[at - 1]) != std::string_view::npos;
    nearest = std::min(nearest, at == 0 ? 1 : begins_word ? 2 : 3);
  }
  return nearest;
}

}  // namespace

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
  std::string ui = wanted;
  std::ranges::transform(ui, ui.begin(), [](unsigned char c) { return std::toupper(c); });
  const auto code = store::descriptor_code_of(ui);
  using Candidate = std::tuple<int, std::uint64_t, std::size_t>;
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < view.descriptors().size(); ++i) {
    const store::AtlasDescriptor& descriptor = view.descriptors()[i];
    const int distance =
        code == descriptor.code ? 0 : distance_from(lookup::folded(descriptor.name), wanted);
    if (distance < not_found) {
      candidates.emplace_back(distance, ~descriptor.articles, i);
    }
  }
  const auto shown = std::min(candidates.size(), most_found);
  std::ranges::partial_sort(candidates, candidates.begin() + static_cast<std::ptrdiff_t>(shown));
  for (std::size_t i = 0; i < shown; ++i) {
    const store::AtlasDescriptor& descriptor = view.descriptors()[std::get<2>(candidates[i])];
    found["descriptors"].push_back({{"ui", store::descriptor_ui(descriptor.code)},
                                    {"name", descriptor.name},
                                    {"articles", descriptor.articles}});
  }
  found["more"] = candidates.size() - shown;
  return found;
}

}  // namespace somatlas::serve
