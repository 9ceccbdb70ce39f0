// The card of one cell, and its articles' years.
#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/lift.h"
#include "tools/serve/answers.h"

namespace somatlas::serve {
namespace {

using nlohmann::json;

constexpr double weight_one = 16383;
constexpr std::size_t ranges_read_at_once = 48;
constexpr unsigned year_before_all = 1779;  // years are kept as bytes from here on; 0: none

json descriptor_json(const AtlasView& view, store::DescriptorCode code) {
  const store::AtlasDescriptor* const found = view.descriptor(code);
  const std::string ui = store::descriptor_ui(code);
  return {{"ui", ui}, {"name", found == nullptr || found->name.empty() ? ui : found->name}};
}

json regions_of(const AtlasView& view, std::uint32_t cell) {
  json regions = json::array();
  for (std::size_t level = 0; level < store::region_levels; ++level) {
    const std::uint32_t number = view.part(level)[cell];
    const store::AtlasRegion& region = view.cells().levels[level][number];
    regions.push_back({{"level", level + 1},
                       {"number", number},
                       {"name", region.name},
                       {"cells", region.cells},
                       {"hits", region.hits}});
  }
  return regions;
}

json leading_of(const AtlasView& view, std::uint32_t cell) {
  json leading = json::array();
  for (const auto& [code, weight] : view.leading(cell)) {
    json entry = descriptor_json(view, code);
    const double share = weight / weight_one;
    entry["share"] = share;
    const store::AtlasDescriptor* const found = view.descriptor(code);
    if (found != nullptr && found->articles > 0) {
      entry["lift"] = share * static_cast<double>(view.meta().training_articles) /
                      static_cast<double>(found->articles);
    }
    leading.push_back(std::move(entry));
  }
  return leading;
}

json neighbours_of(const AtlasView& view, std::uint32_t cell) {
  const std::uint32_t side = view.side();
  const std::uint32_t row = cell / side;
  const std::uint32_t column = cell % side;
  json neighbours = json::array();
  for (std::uint32_t r = row - std::min(row, 1U); r <= std::min(row + 1, side - 1); ++r) {
    for (std::uint32_t c = column - std::min(column, 1U); c <= std::min(column + 1, side - 1);
         ++c) {
      const std::uint32_t other = r * side + c;
      if (other == cell) {
        continue;
      }
      const std::uint32_t first = view.cells().leading[store::leading_per_cell * other];
      json entry{{"row", r}, {"column", c}, {"hits", view.cells().hits[other]}};
      if (first != store::no_descriptor) {
        entry["name"] = descriptor_json(view, first)["name"];
      }
      neighbours.push_back(std::move(entry));
    }
  }
  return neighbours;
}

// Of each PMID of a range its year as a byte.
std::string years_of_range(store::Store& store, std::uint32_t range) {
  std::string years(store::pmids_per_shard, '\0');
  if (const std::optional<store::Shard> shard = store.shard(range)) {
    for (std::size_t i = 0; i < shard->rows(); ++i) {
      const unsigned year = shard->year[i];
      const bool fits = year > year_before_all && year <= year_before_all + 255;
      years[shard->low[i]] = static_cast<char>(fits ? year - year_before_all : 0);
    }
  }
  return years;
}

}  // namespace

json describe_cell(const AtlasView& view, std::uint32_t cell, std::size_t page) {
  const store::AtlasCells& cells = view.cells();
  json card{{"row", cell / view.side()},
            {"column", cell % view.side()},
            {"vacant", cells.vacant[cell] != 0},
            {"hits", cells.hits[cell]},
            {"height", cells.height[cell] / double(1 << 20)},
            {"regions", regions_of(view, cell)},
            {"leading", leading_of(view, cell)},
            {"neighbours", neighbours_of(view, cell)},
            {"dated", cells.year_count[cell]},
            {"recent", cells.recent_count[cell]},
            {"recent_from", cells.recent_from},
            {"years_known", view.store() != nullptr}};
  if (cells.year_count[cell] > 0) {
    card["mean_year"] = static_cast<double>(cells.year_sum[cell]) / cells.year_count[cell];
  }
  const std::vector<std::uint32_t> pmids = view.atlas().articles(cell);
  const std::size_t first = std::min(page * pmids_a_page, pmids.size());
  const std::size_t last = std::min(first + pmids_a_page, pmids.size());
  card["articles"] = pmids.size();
  card["page"] = page;
  card["pages"] = (pmids.size() + pmids_a_page - 1) / pmids_a_page;
  card["pmids"] = std::vector<std::uint32_t>(pmids.begin() + static_cast<std::ptrdiff_t>(first),
                                             pmids.begin() + static_cast<std::ptrdiff_t>(last));
  return card;
}

json describe_briefly(const AtlasView& view, std::uint32_t cell) {
  const store::AtlasCells& cells = view.cells();
  json leading = json::array();
  for (const auto& [code, weight] : view.leading(cell)) {
    if (leading.size() < leading_in_brief) {
      leading.push_back(descriptor_json(view, code)["name"]);
    }
  }
  return {{"row", cell / view.side()},
          {"column", cell % view.side()},
          {"vacant", cells.vacant[cell] != 0},
          {"hits", cells.hits[cell]},
          {"region", cells.levels[0][cells.region[cell]].name},
          {"leading", std::move(leading)}};
}

json count_years(const AtlasView& view, std::uint32_t cell) {
  std::map<unsigned, std::size_t> counts;
  std::size_t counted = 0;
  std::size_t read = 0;
  std::uint32_t range = 0xFFFF'FFFF;
  bool skipped = false;
  ByteCache::Value years;
  const std::vector<std::uint32_t> pmids =
      view.store() == nullptr ? std::vector<std::uint32_t>{} : view.atlas().articles(cell);
  for (const std::uint32_t pmid : pmids) {
    if (pmid / store::pmids_per_shard != range) {
      range = pmid / store::pmids_per_shard;
      const std::string key = "years/" + std::to_string(range);
      read += view.cache().holds(key) ? 0 : 1;
      skipped = read > ranges_read_at_once;
      if (!skipped) {
        years = view.cache().get(key, [&] { return years_of_range(*view.store(), range); });
      }
    }
    if (!skipped) {
      ++counted;
      const auto year = static_cast<unsigned char>((*years)[pmid % store::pmids_per_shard]);
      if (year != 0) {
        ++counts[year_before_all + year];
      }
    }
  }
  json by_year = json::array();
  for (const auto& [year, count] : counts) {
    by_year.push_back({year, count});
  }
  return {{"articles", pmids.size()}, {"counted", counted}, {"by_year", std::move(by_year)}};
}

}  // namespace somatlas::serve
