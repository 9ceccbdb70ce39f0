// Lists hold numbers in a fixed order rather than names and values: a map may have a million cells.
// tools/serve/static/api.js reads them.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>
#include <utility>

#include "pipeline/made_ahead.h"
#include "tools/serve/answers.h"
#include "tools/serve/page_folder.h"

namespace somatlas::serve {
namespace {

using nlohmann::json;

// [hits, vacant, dated, sum of years, recent, region, [descriptor, weight, ...], [PMIDs, each less
// the one before], [year, articles, ...]]
json cell_data(const AtlasView& view, std::uint32_t cell, YearsOfRegions& by_region) {
  const store::AtlasCells& cells = view.cells();
  json leading = json::array();
  for (const auto& [code, weight] : view.leading(cell)) {
    if (const auto* const found = view.descriptor(code); found != nullptr) {
      leading.push_back(found - view.descriptors().data());
      leading.push_back(weight);
    }
  }
  json pmids = json::array();
  std::uint32_t before = 0;
  for (const std::uint32_t pmid : view.atlas().articles(cell)) {
    pmids.push_back(pmid - before);
    before = pmid;
  }
  json years = json::array();
  if (view.store() != nullptr) {
    json counts;
    do {  // some ranges of PMIDs at a time
      counts = count_years(view, cell);
    } while (counts["counted"] != counts["articles"]);
    for (const json& year : counts["by_year"]) {
      years.insert(years.end(), year.begin(), year.end());
      by_region[cells.region[cell]][year[0]] += year[1].get<std::uint64_t>();
    }
  }
  return {cells.hits[cell],     cells.vacant[cell],       cells.year_count[cell],
          cells.year_sum[cell], cells.recent_count[cell], cells.region[cell],
          std::move(leading),   std::move(pmids),         std::move(years)};
}

// Where a descriptor weighs most, the first of several; -1 where it weighs nothing.
std::int64_t heaviest_cell(const AtlasView& view, store::DescriptorCode code) {
  const auto plane = view.atlas().plane(code);
  if (!plane || plane->empty()) {
    return -1;
  }
  const auto most = std::ranges::max_element(*plane);
  return *most == 0 ? -1 : most - plane->begin();
}

}  // namespace

bool write_names(PageFolder& folder, const AtlasView& view,
                 std::span<const store::AtlasDescriptor> planes, const std::stop_token& stop) {
  const std::vector<store::AtlasDescriptor>& descriptors = view.descriptors();
  std::unordered_set<store::DescriptorCode> shown;
  for (const store::AtlasDescriptor& descriptor : planes) {
    shown.insert(descriptor.code);
  }
  pipeline::MadeAhead<std::int64_t> cells(descriptors.size(), [&](std::size_t i) {
    return shown.contains(descriptors[i].code) || stop.stop_requested()
               ? std::int64_t{-1}
               : heaviest_cell(view, descriptors[i].code);
  });
  json names = json::array();
  for (const store::AtlasDescriptor& descriptor : descriptors) {
    const std::string ui = store::descriptor_ui(descriptor.code);
    names.push_back({ui, descriptor.name.empty() ? ui : descriptor.name, descriptor.articles,
                     *cells.next(), shown.contains(descriptor.code) ? 1 : 0});
    if (stop.stop_requested()) {
      return false;
    }
  }
  folder.write_data("names", names);
  return true;
}

void write_entry_words(PageFolder& folder, const AtlasView& view) {
  json lists = json::array();
  for (const store::EntryWords& entry : view.entry_words()) {
    if (const auto* const found = view.descriptor(entry.code); found != nullptr) {
      json& list = lists.emplace_back(json::array({found - view.descriptors().data()}));
      for (const std::string& word : entry.words) {
        list.push_back(word);
      }
    }
  }
  folder.write_data("entry_words", lists);
}

void write_regions(PageFolder& folder, const AtlasView& view) {
  json levels = json::array();
  for (const std::vector<store::AtlasRegion>& level : view.cells().levels) {
    json regions = json::array();
    for (const store::AtlasRegion& region : level) {
      regions.push_back({region.name, region.centre, region.cells, region.hits, region.parent});
    }
    levels.push_back(std::move(regions));
  }
  folder.write_data("regions", levels);
}

// [top, left, bottom, right, dated, sum of years, recent, growth or -1, [descriptor, articles,
// ...], [year, articles, ...]]
void write_parts(PageFolder& folder, const AtlasView& view, YearsOfRegions years) {
  for (std::size_t level = 0; level < store::region_levels; ++level) {
    const std::vector<store::AtlasRegion>& regions = view.cells().levels[level];
    const std::vector<CellWindow> windows = windows_of(view, level);
    YearsOfRegions above(level + 1 < store::region_levels ? view.cells().levels[level + 1].size()
                                                          : 0);
    json parts = json::array();
    for (std::size_t number = 0; number < regions.size(); ++number) {
      const store::AtlasRegion& region = regions[number];
      json leading = json::array();
      for (const store::AtlasRegion::Leading& one : region.leading) {
        if (const auto* const found = view.descriptor(one.code); found != nullptr) {
          leading.push_back(found - view.descriptors().data());
          leading.push_back(one.articles);
        }
      }
      json by_year = json::array();
      for (const auto& [year, articles] : years[number]) {
        by_year.push_back(year);
        by_year.push_back(articles);
        if (!above.empty()) {
          above[region.parent][year] += articles;
        }
      }
      const CellWindow& window = windows[number];
      parts.push_back({window.top, window.left, window.bottom, window.right, region.year_count,
                       region.year_sum, region.recent_count, growth_of(view, region).value_or(-1),
                       std::move(leading), std::move(by_year)});
      if (parts.size() == regions_a_file || number + 1 == regions.size()) {
        folder.write_data(
            "parts/" + std::to_string(level + 1) + "/" + std::to_string(number / regions_a_file),
            std::exchange(parts, json::array()));
      }
    }
    years = std::move(above);
  }
}

bool write_cells(PageFolder& folder, const AtlasView& view, YearsOfRegions& years,
                 const std::stop_token& stop) {
  years.assign(view.cells().levels[0].size(), {});
  const std::uint32_t side = view.side();
  std::uint32_t number = 0;
  for (std::uint32_t top = 0; top < side; top += cells_edge) {
    for (std::uint32_t left = 0; left < side; left += cells_edge) {
      if (stop.stop_requested()) {
        return false;
      }
      json square = json::array();
      for (std::uint32_t row = top; row < std::min(top + cells_edge, side); ++row) {
        for (std::uint32_t column = left; column < std::min(left + cells_edge, side); ++column) {
          square.push_back(cell_data(view, row * side + column, years));
        }
      }
      folder.write_data("cells/" + std::to_string(number++), square);
    }
  }
  return true;
}

std::vector<std::uint32_t> write_places(PageFolder& folder, const AtlasView& view,
                                        const std::stop_token& stop) {
  std::vector<std::uint32_t> firsts;
  json pmids = json::array();
  json cells = json::array();
  json regions = json::array();
  std::uint32_t before = 0;
  const auto put = [&] {
    if (!pmids.empty()) {
      folder.write_data("places/" + std::to_string(firsts.size() - 1), {pmids, cells, regions});
      pmids.clear();
      cells.clear();
      regions.clear();
    }
  };
  for (const std::uint32_t range : view.atlas().place_ranges()) {
    if (stop.stop_requested()) {
      return {};
    }
    const auto shard = view.atlas().places(range);
    for (std::size_t i = 0; shard && i < shard->low.size(); ++i) {
      if (shard->neuron[i] == store::no_descriptor) {
        continue;
      }
      if (pmids.size() == articles_a_file) {
        put();
      }
      const std::uint32_t pmid = range * store::pmids_per_shard + shard->low[i];
      if (pmids.empty()) {
        firsts.push_back(pmid);
        before = 0;
      }
      pmids.push_back(pmid - before);
      cells.push_back(shard->neuron[i]);
      regions.push_back(view.part(0)[shard->neuron[i]]);
      before = pmid;
    }
  }
  put();
  return firsts;
}

}  // namespace somatlas::serve
