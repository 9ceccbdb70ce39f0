// What a page needs before it shows anything, and the names on the map.
#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "tools/serve/answers.h"
#include "tools/serve/palettes.h"

namespace somatlas::serve {
namespace {

using nlohmann::json;

constexpr std::size_t legend_colours = 24;

const char* name_of(Palette palette) {
  return palette == Palette::sequential  ? "sequential"
         : palette == Palette::diverging ? "diverging"
                                         : "parts";
}

json colours_for_legend(Palette palette) {
  json colours = json::array();
  const std::size_t count = palette == Palette::parts ? parts_colours : legend_colours;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t shade =
        palette == Palette::parts ? i : i * pipeline::most_shade / (count - 1);
    colours.push_back(css_colour(colours_of(palette)[shade]));
  }
  return colours;
}

void keep_most(std::vector<std::pair<std::uint64_t, std::uint32_t>>& ranked) {
  const auto kept = std::min(ranked.size(), most_labels);
  std::ranges::partial_sort(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(kept));
  ranked.resize(kept);
}

}  // namespace

json describe_layer(const Layer& layer) {
  json ticks = json::array();
  for (const LegendTick& tick : layer.ticks) {
    ticks.push_back({{"place", tick.place}, {"text", tick.text}});
  }
  json described{{"id", layer.id},
                 {"title", layer.title},
                 {"quantity", layer.quantity},
                 {"palette", name_of(layer.palette)},
                 {"ticks", std::move(ticks)}};
  if (layer.level) {
    described["level"] = *layer.level + 1;
  }
  return described;
}

json describe_atlas(const AtlasView& view) {
  json layers = json::array();
  for (const Layer& layer : view.layers()) {
    layers.push_back(describe_layer(layer));
  }
  json levels = json::array();
  for (std::size_t level = 0; level < store::region_levels; ++level) {
    levels.push_back({{"level", level + 1}, {"regions", view.cells().levels[level].size()}});
  }
  json palettes;
  for (const Palette palette : {Palette::sequential, Palette::diverging, Palette::parts}) {
    palettes[name_of(palette)] = colours_for_legend(palette);
  }
  const bool vacant = std::ranges::find(view.cells().vacant, 1) != view.cells().vacant.end();
  return {{"state", view.state()},
          {"side", view.side()},
          {"padded_side", std::bit_ceil(view.side())},
          {"most_zoom", pipeline::most_zoom(view.side())},
          {"training_articles", view.meta().training_articles},
          {"placed_articles", view.meta().placed_articles},
          {"descriptors", view.meta().descriptors},
          {"epochs", view.meta().epochs},
          {"qe", view.meta().quality.qe},
          {"layers", std::move(layers)},
          {"levels", std::move(levels)},
          {"palettes", std::move(palettes)},
          {"vacant", vacant},
          {"vacant_colour", css_colour(colours_of(Palette::parts)[pipeline::shade_vacant])},
          {"no_value_colour", css_colour(colours_of(Palette::parts)[pipeline::shade_no_value])},
          {"years_known", view.store() != nullptr}};
}

json describe_years(const YearCounts::State& state) {
  json steps = json::array();
  for (const auto& [year, articles] : state.articles) {
    steps.push_back({year, articles});
  }
  return {{"ranges", state.ranges},
          {"counted", state.counted},
          {"step", state.step},
          {"undated", state.undated},
          {"articles", std::move(steps)}};
}

json list_labels(const AtlasView& view, std::optional<std::size_t> level,
                 const CellWindow& window) {
  const std::uint32_t side = view.side();
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked;  // by falling hits, then number
  json labels = json::array();
  if (level) {
    const std::vector<store::AtlasRegion>& regions = view.cells().levels[*level];
    for (std::uint32_t number = 0; number < regions.size(); ++number) {
      const std::uint32_t row = regions[number].centre / side;
      const std::uint32_t column = regions[number].centre % side;
      if (row >= window.top && row <= window.bottom && column >= window.left &&
          column <= window.right) {
        ranked.emplace_back(~regions[number].hits, number);
      }
    }
    keep_most(ranked);
    for (const auto& [hits, number] : ranked) {
      labels.push_back({{"row", regions[number].centre / side},
                        {"column", regions[number].centre % side},
                        {"level", *level + 1},
                        {"number", number},
                        {"name", regions[number].name},
                        {"cells", regions[number].cells},
                        {"hits", regions[number].hits}});
    }
    return labels;
  }
  for (std::uint32_t row = window.top; row <= window.bottom; ++row) {
    for (std::uint32_t column = window.left; column <= window.right; ++column) {
      const std::uint32_t cell = row * side + column;
      if (view.cells().leading[store::leading_per_cell * cell] != store::no_descriptor) {
        ranked.emplace_back(~std::uint64_t{view.cells().hits[cell]}, cell);
      }
    }
  }
  keep_most(ranked);
  for (const auto& [hits, cell] : ranked) {
    const std::uint32_t code = view.cells().leading[store::leading_per_cell * cell];
    const store::AtlasDescriptor* const found = view.descriptor(code);
    labels.push_back({{"row", cell / side},
                      {"column", cell % side},
                      {"name", found == nullptr ? store::descriptor_ui(code) : found->name},
                      {"cells", 1},
                      {"hits", view.cells().hits[cell]}});
  }
  return labels;
}

}  // namespace somatlas::serve
