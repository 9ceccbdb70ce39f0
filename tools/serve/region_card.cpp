// The card of a region, area or continent.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/lift.h"
#include "tools/serve/answers.h"

namespace somatlas::serve {
namespace {

using nlohmann::json;

constexpr std::size_t most_below = 20;

json name_json(const AtlasView& view, std::size_t level, std::uint32_t number) {
  const store::AtlasRegion& region = view.cells().levels[level][number];
  return {{"level", level + 1}, {"number", number}, {"name", region.name}, {"hits", region.hits}};
}

json above(const AtlasView& view, std::size_t level, std::uint32_t number) {
  json parts = json::array();
  for (; level + 1 < store::region_levels; ++level) {
    number = view.cells().levels[level][number].parent;
    parts.push_back(name_json(view, level + 1, number));
  }
  return parts;
}

// Those of most articles, and how many there are.
json below(const AtlasView& view, std::size_t level, std::uint32_t number) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked;  // by falling hits, then number
  if (level > 0) {
    const std::vector<store::AtlasRegion>& parts = view.cells().levels[level - 1];
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
      if (parts[part].parent == number) {
        ranked.emplace_back(~parts[part].hits, part);
      }
    }
    std::ranges::sort(ranked);
  }
  json parts = json::array();
  for (std::size_t i = 0; i < std::min(ranked.size(), most_below); ++i) {
    parts.push_back(name_json(view, level - 1, ranked[i].second));
  }
  return {{"parts", ranked.size()}, {"largest", std::move(parts)}};
}

json leading_of(const AtlasView& view, const store::AtlasRegion& region) {
  json leading = json::array();
  for (const store::AtlasRegion::Leading& one : region.leading) {
    const store::AtlasDescriptor* const found = view.descriptor(one.code);
    const std::string ui = store::descriptor_ui(one.code);
    const double share = static_cast<double>(one.articles) / static_cast<double>(region.hits);
    json entry{{"ui", ui},
               {"name", found == nullptr || found->name.empty() ? ui : found->name},
               {"share", share}};
    if (found != nullptr && found->articles > 0) {
      entry["lift"] = share * static_cast<double>(view.meta().training_articles) /
                      static_cast<double>(found->articles);
    }
    leading.push_back(std::move(entry));
  }
  return leading;
}

}  // namespace

std::vector<CellWindow> windows_of(const AtlasView& view, std::size_t level) {
  const std::uint32_t side = view.side();
  std::vector<CellWindow> windows(view.cells().levels[level].size(),
                                  {.top = side, .left = side, .bottom = 0, .right = 0});
  for (std::uint32_t row = 0; row < side; ++row) {
    for (std::uint32_t column = 0; column < side; ++column) {
      CellWindow& window = windows[view.part(level)[row * side + column]];
      window.top = std::min(window.top, row);
      window.left = std::min(window.left, column);
      window.bottom = std::max(window.bottom, row);
      window.right = std::max(window.right, column);
    }
  }
  return windows;
}

std::optional<double> growth_of(const AtlasView& view, const store::AtlasRegion& region) {
  std::uint64_t recent = 0;
  std::uint64_t dated = 0;
  for (const store::AtlasRegion& continent : view.cells().levels.back()) {
    recent += continent.recent_count;
    dated += continent.year_count;
  }
  return dated == 0 ? std::nullopt
                    : std::optional(
                          pipeline::growth(region.recent_count, region.year_count, recent, dated));
}

json describe_region(const AtlasView& view, std::size_t level, std::uint32_t number) {
  const store::AtlasRegion& region = view.cells().levels[level][number];
  const CellWindow window = windows_of(view, level)[number];
  json card = name_json(view, level, number);
  card.update({{"cells", region.cells},
               {"row", region.centre / view.side()},
               {"column", region.centre % view.side()},
               {"window",
                {{"top", window.top},
                 {"left", window.left},
                 {"bottom", window.bottom},
                 {"right", window.right}}},
               {"above", above(view, level, number)},
               {"below", below(view, level, number)},
               {"leading", leading_of(view, region)},
               {"dated", region.year_count},
               {"recent", region.recent_count},
               {"recent_from", view.cells().recent_from},
               {"years_known", view.store() != nullptr}});
  if (region.year_count > 0) {
    card["mean_year"] =
        static_cast<double>(region.year_sum) / static_cast<double>(region.year_count);
  }
  if (const auto growth = growth_of(view, region)) {
    card["growth"] = *growth;
  }
  return card;
}

json count_region_years(const AtlasView& view, std::size_t level, std::uint32_t number) {
  const YearCounts::State state = view.year_counts().go_on();
  json by_year = json::array();
  for (const auto& [year, articles] : view.year_counts().of_part(view.part(level), number)) {
    by_year.push_back({year, articles});
  }
  return {{"ranges", state.ranges},
          {"counted", state.counted},
          {"step", state.step},
          {"by_year", std::move(by_year)}};
}

}  // namespace somatlas::serve
