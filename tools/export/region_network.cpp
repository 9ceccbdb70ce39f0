// Regions with their places, and how long their borders are.
#include "tools/export/region_network.h"

#include <algorithm>

#include "pipeline/atlas_meta.h"
#include "tools/export/atlas_export.h"

namespace somatlas::exports {
namespace {

std::string name_of(const store::AtlasRegion& region, const char* kind, std::size_t number) {
  return region.name.empty() ? kind + std::string(" ") + std::to_string(number) : region.name;
}

}  // namespace

RegionNetwork region_network(store::Atlas& atlas) {
  const pipeline::AtlasMeta meta = pipeline::read_atlas_meta(atlas);
  const std::uint32_t side = meta.settings.side;
  const store::AtlasCells cells = checked_cells(atlas, side);
  const Corpus corpus(atlas, cells, meta.training_articles);
  RegionNetwork network;
  for (std::size_t r = 0; r < cells.levels[0].size(); ++r) {
    const store::AtlasRegion& region = cells.levels[0][r];
    const store::AtlasRegion& area = cells.levels[1].at(region.parent);
    NetworkRegion& shown = network.regions.emplace_back();
    shown.name = name_of(region, "Region", r);
    shown.row = region.centre / side;
    shown.column = region.centre % side;
    shown.x = (2.0 * shown.column + 1) / side - 1;
    shown.y = 1 - (2.0 * shown.row + 1) / side;
    shown.area = region.parent;
    shown.area_name = name_of(area, "Area", region.parent);
    shown.continent = area.parent;
    shown.continent_name = name_of(cells.levels[2].at(area.parent), "Continent", area.parent);
    shown.cells = region.cells;
    shown.hits = region.hits;
    if (region.year_count != 0) {
      shown.mean_year =
          static_cast<double>(region.year_sum) / static_cast<double>(region.year_count);
      shown.growth = corpus.growth(region.recent_count, region.year_count);
    }
    for (const store::AtlasRegion::Leading& leading : region.leading) {
      shown.leading.push_back(corpus.name(leading.code));
      if (shown.leading_ui.empty()) {
        shown.leading_ui = store::descriptor_ui(leading.code);
      }
    }
  }
  const auto touch = [&](std::size_t a, std::size_t b) {
    const std::uint32_t first = cells.region[a];
    const std::uint32_t second = cells.region[b];
    if (first != second) {
      ++network.borders[std::minmax(first, second)];
    }
  };
  for (std::size_t i = 0; i < cells.region.size(); ++i) {
    if (i % side + 1 != side) {
      touch(i, i + 1);
    }
    if (i + side < cells.region.size()) {
      touch(i, i + side);
    }
  }
  return network;
}

}  // namespace somatlas::exports
