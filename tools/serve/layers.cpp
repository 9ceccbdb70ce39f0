// The layers of an atlas: which there are, what their colours mean, and a shade for every cell.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "pipeline/lift.h"
#include "store/store_error.h"
#include "tools/export/atlas_export.h"
#include "tools/serve/atlas_view.h"
#include "tools/serve/palettes.h"
#include "tools/serve/request_target.h"

namespace somatlas::serve {
namespace {

using exports::decimals;
using pipeline::Shade;
using pipeline::ShadeRange;

constexpr double distance_one = 1 << 20;
constexpr double weight_one = 16383;
// The ends of a scale leave out the outermost hundredth on each side, which few cells have.
constexpr double outermost = 0.01;
constexpr double most_growth = 2;  // as a power of two

// A scale ends before what few cells have: its last words say that more lies there.
void mark_ends(std::vector<LegendTick>& ticks, const ShadeRange& range, const ShadeRange& all) {
  if (all.low < range.low) {
    ticks.front().text = "≤ " + ticks.front().text;
  }
  if (all.high > range.high) {
    ticks.back().text = "≥ " + ticks.back().text;
  }
}

std::vector<LegendTick> linear_ticks(const ShadeRange& range, int places, double unit = 1) {
  std::vector<LegendTick> ticks;
  for (const double place : {0.0, 0.5, 1.0}) {
    ticks.push_back(
        {place, decimals((range.low + place * (range.high - range.low)) / unit, places)});
  }
  return ticks;
}

std::vector<LegendTick> logarithmic_ticks(const ShadeRange& range) {
  std::vector<LegendTick> ticks{{0, decimals(range.low, 0)}};
  const double low = std::log1p(range.low);
  const double high = std::log1p(range.high);
  const double middle = std::round(std::expm1((low + high) / 2));
  if (middle > range.low && middle < range.high) {
    ticks.push_back({(std::log1p(middle) - low) / (high - low), decimals(middle, 0)});
  }
  if (range.high > range.low) {
    ticks.push_back({1, decimals(range.high, 0)});
  }
  return ticks;
}

// What each cell has; nothing where there is nothing to show.
std::optional<double> value_of(const store::AtlasCells& cells, const std::string& id,
                               std::size_t cell, std::uint64_t recent, std::uint64_t dated) {
  if (id == "hits") {
    return cells.hits[cell] > 0 ? std::optional(double(cells.hits[cell])) : std::nullopt;
  }
  if (id == "umatrix") {
    return static_cast<double>(cells.height[cell]);
  }
  if (cells.year_count[cell] == 0) {
    return std::nullopt;
  }
  if (id == "years") {
    return static_cast<double>(cells.year_sum[cell]) / cells.year_count[cell];
  }
  const double growth =
      pipeline::growth(cells.recent_count[cell], cells.year_count[cell], recent, dated);
  return std::log2(std::max(growth, 1e-6));
}

// The years of "hits.1990-1999"; nothing where id is none such.
std::optional<std::pair<unsigned, unsigned>> years_of(const std::string& id) {
  constexpr std::string_view before = "hits.";
  constexpr std::size_t digits = 4;
  if (!id.starts_with(before) || id.size() != before.size() + 2 * digits + 1 ||
      id[before.size() + digits] != '-') {
    return std::nullopt;
  }
  const std::string_view text(id);
  const auto first = parse_number(text.substr(before.size(), digits));
  const auto last = parse_number(text.substr(before.size() + digits + 1));
  return first && last && *first <= *last ? std::optional(std::pair(*first, *last)) : std::nullopt;
}

}  // namespace

void AtlasView::make_layers() {
  const auto recent =
      std::accumulate(cells_.recent_count.begin(), cells_.recent_count.end(), std::uint64_t{0});
  const auto dated =
      std::accumulate(cells_.year_count.begin(), cells_.year_count.end(), std::uint64_t{0});
  ShadeRange all;  // from the least to the greatest value of the last range
  const auto range_of = [&](const std::string& id) {
    std::vector<double> values;
    for (std::size_t i = 0; i < cells_.vacant.size(); ++i) {
      const auto value =
          cells_.vacant[i] != 0 ? std::nullopt : value_of(cells_, id, i, recent, dated);
      if (value) {
        values.push_back(*value);
      }
    }
    all = {.low = pipeline::quantile(values, 0), .high = pipeline::quantile(values, 1)};
    return ShadeRange{.low = pipeline::quantile(values, outermost),
                      .high = pipeline::quantile(values, 1 - outermost)};
  };
  constexpr std::array<const char*, 3> level_titles{"Regions", "Areas", "Continents"};
  for (std::size_t level = 0; level < level_titles.size(); ++level) {
    layers_.push_back({.id = "region" + std::to_string(level + 1),
                       .title = level_titles[level],
                       .quantity = "",
                       .palette = Palette::parts,
                       .level = level,
                       .ticks = {}});
  }
  ShadeRange hits = range_of("hits");
  hits.low = 1;
  hits.high = std::max(hits.high, 2.0);
  hits.logarithmic = true;
  ranges_["hits"] = hits;
  layers_.push_back({.id = "hits",
                     .title = "Articles",
                     .quantity = "training articles in a cell",
                     .palette = Palette::sequential,
                     .level = {},
                     .ticks = logarithmic_ticks(hits)});
  mark_ends(layers_.back().ticks, hits, all);
  ranges_["umatrix"] = range_of("umatrix");
  layers_.push_back({.id = "umatrix",
                     .title = "Borders (U-matrix)",
                     .quantity = "mean distance to the neighbouring cells",
                     .palette = Palette::sequential,
                     .level = {},
                     .ticks = linear_ticks(ranges_["umatrix"], 2, distance_one)});
  mark_ends(layers_.back().ticks, ranges_["umatrix"], all);
  if (dated == 0) {
    return;
  }
  ranges_["years"] = range_of("years");
  layers_.push_back({.id = "years",
                     .title = "Mean year",
                     .quantity = "mean year of publication",
                     .palette = Palette::sequential,
                     .level = {},
                     .ticks = linear_ticks(ranges_["years"], 0)});
  mark_ends(layers_.back().ticks, ranges_["years"], all);
  if (recent > 0) {
    ranges_["growth"] = {.low = -most_growth, .high = most_growth};
    layers_.push_back({.id = "growth",
                       .title = "Growth",
                       .quantity = "articles from " + std::to_string(cells_.recent_from) +
                                   " on, against what the corpus leads to expect",
                       .palette = Palette::diverging,
                       .level = {},
                       .ticks = {{0, "≤ a quarter"}, {0.5, "as expected"}, {1, "≥ four times"}}});
  }
}

std::optional<Layer> AtlasView::layer(const std::string& id) const {
  if (const auto known = std::ranges::find(layers_, id, &Layer::id); known != layers_.end()) {
    return *known;
  }
  if (const auto years = years_of(id)) {
    if (!year_counts_.whole()) {
      return std::nullopt;
    }
    const std::string named = std::to_string(years->first) + " to " + std::to_string(years->second);
    return Layer{.id = id,
                 .title = "Articles of " + named,
                 .quantity = "articles of these years in a cell; one scale for all years",
                 .palette = Palette::sequential,
                 .level = {},
                 .ticks = logarithmic_ticks(year_range())};
  }
  const std::optional<store::DescriptorCode> code = store::descriptor_code_of(id);
  const store::AtlasDescriptor* const found = code ? descriptor(*code) : nullptr;
  if (found == nullptr) {
    return std::nullopt;
  }
  Layer plane{.id = id,
              .title = found->name.empty() ? id : found->name,
              .quantity = "share of the articles around a cell that have it",
              .palette = Palette::sequential,
              .level = {},
              .ticks = {}};
  const std::uint16_t most = most_weight_of(*shades(id));
  plane.ticks = {{0, "0 %"},
                 {0.5, decimals(50 * most / weight_one, 1) + " %"},
                 {1, decimals(100 * most / weight_one, 1) + " %"}};
  return plane;
}

ByteCache::Value AtlasView::shades(const std::string& id) const {
  return cache_.get("shades/" + id, [&] { return make_shades(id); });
}

std::string AtlasView::tile(const Layer& layer, std::uint32_t zoom, std::uint32_t x,
                            std::uint32_t y) const {
  const ByteCache::Value shade = shades(layer.id);
  pipeline::TileSource source{
      .side = side(),
      .shade = {reinterpret_cast<const Shade*>(shade->data()), std::size_t{side()} * side()},
      .part = {}};
  if (layer.level) {
    source.part = part(*layer.level);
  }
  return encode_tile(pipeline::render_tile(source, zoom, x, y), layer.palette);
}

std::string AtlasView::make_shades(const std::string& id) const {
  std::string shades(cells_.vacant.size(), static_cast<char>(pipeline::shade_no_value));
  const auto known = std::ranges::find(layers_, id, &Layer::id);
  if (const auto years = years_of(id)) {
    return year_shades(years->first, years->second);
  }
  if (known == layers_.end()) {
    return plane_shades(store::descriptor_code_of(id).value());
  }
  if (known->level) {
    const std::vector<std::uint32_t>& part = part_[*known->level];
    const std::vector<Shade> colours =
        pipeline::part_colours(side(), part, cells_.levels[*known->level].size(), parts_colours);
    for (std::size_t i = 0; i < shades.size(); ++i) {
      shades[i] = static_cast<char>(colours[part[i]]);
    }
    return shades;
  }
  const auto recent =
      std::accumulate(cells_.recent_count.begin(), cells_.recent_count.end(), std::uint64_t{0});
  const auto dated =
      std::accumulate(cells_.year_count.begin(), cells_.year_count.end(), std::uint64_t{0});
  const ShadeRange& range = ranges_.at(id);
  for (std::size_t i = 0; i < shades.size(); ++i) {
    if (cells_.vacant[i] != 0) {
      shades[i] = static_cast<char>(pipeline::shade_vacant);
    } else if (const auto value = value_of(cells_, id, i, recent, dated)) {
      shades[i] = static_cast<char>(pipeline::shade_of(*value, range));
    }
  }
  return shades;
}

// One scale for all years, so that colours of two ranges can be compared.
const ShadeRange& AtlasView::year_range() const {
  std::call_once(year_range_made_, [this] {
    std::vector<double> values;
    for (const std::uint32_t count : year_counts_.of_cells(0, 9999)) {
      if (count > 0) {
        values.push_back(count);
      }
    }
    year_range_ = {.low = 1,
                   .high = std::max(2.0, pipeline::quantile(values, 1 - outermost)),
                   .logarithmic = true};
  });
  return year_range_;
}

std::string AtlasView::year_shades(unsigned first, unsigned last) const {
  const ShadeRange& range = year_range();
  const std::vector<std::uint32_t> counts = year_counts_.of_cells(first, last);
  std::string shades(cells_.vacant.size(), static_cast<char>(pipeline::shade_no_value));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (cells_.vacant[i] != 0) {
      shades[i] = static_cast<char>(pipeline::shade_vacant);
    } else if (counts[i] > 0) {
      shades[i] = static_cast<char>(pipeline::shade_of(counts[i], range));
    }
  }
  return shades;
}

// The largest weight stands behind the shades.
std::string AtlasView::plane_shades(store::DescriptorCode code) const {
  const auto plane = atlas_.plane(code);
  if (!plane || plane->size() != cells_.vacant.size()) {
    throw store::StoreError(atlas_.directory() + " lists " + store::descriptor_ui(code) +
                            " but has no whole plane of it; train it again");
  }
  const std::uint16_t most = *std::ranges::max_element(*plane);
  std::string shades(plane->size() + 2, '\0');
  for (std::size_t i = 0; i < plane->size(); ++i) {
    const Shade shade = cells_.vacant[i] != 0
                            ? pipeline::shade_vacant
                            : pipeline::shade_of((*plane)[i], {.low = 0, .high = double(most)});
    shades[i] = static_cast<char>(shade);
  }
  shades[plane->size()] = static_cast<char>(most & 0xFFU);
  shades[plane->size() + 1] = static_cast<char>(most >> 8U);
  return shades;
}

}  // namespace somatlas::serve
