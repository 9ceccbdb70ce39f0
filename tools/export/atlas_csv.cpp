// The CSV form of an atlas: a row a cell.
#include <vector>

#include "store/store_error.h"
#include "tools/export/atlas_export.h"
#include "tools/export/decimal_text.h"
#include "tools/export/delimited.h"

namespace somatlas::exports {
namespace {

constexpr double weight_one = 16383;

}  // namespace

store::AtlasCells checked_cells(store::Atlas& atlas, std::uint32_t side) {
  store::AtlasCells cells = atlas.cells();
  const std::size_t neurons = std::size_t{side} * side;
  if (cells.vacant.size() != neurons || cells.hits.size() != neurons ||
      cells.height.size() != neurons || cells.year_count.size() != neurons ||
      cells.year_sum.size() != neurons ||
      cells.leading.size() != neurons * store::leading_per_cell ||
      cells.leading_weight.size() != cells.leading.size() || cells.recent_count.size() != neurons ||
      cells.region.size() != neurons) {
    throw store::StoreError(atlas.directory() + ": its cells are not those of a map of side " +
                            std::to_string(side) + "; verify the atlas and train it again");
  }
  return cells;
}

std::optional<std::uint64_t> export_csv(store::Atlas& atlas, const std::string& path,
                                        Existing existing, std::stop_token stop) {
  const pipeline::AtlasMeta meta = pipeline::read_atlas_meta(atlas);
  const std::uint32_t side = meta.settings.side;
  const store::AtlasCells cells = checked_cells(atlas, side);
  const Corpus corpus(atlas, cells, meta.training_articles);

  PendingFile output(path, existing);
  std::vector<std::string> fields{"row", "column", "hits", "height"};
  for (std::size_t i = 1; i <= store::leading_per_cell; ++i) {
    fields.push_back("descriptor" + std::to_string(i));
  }
  for (std::size_t i = 1; i <= store::leading_per_cell; ++i) {
    fields.push_back("lift" + std::to_string(i));
  }
  for (const char* const name : {"mean_year", "growth", "region", "area", "continent"}) {
    fields.emplace_back(name);
  }
  output.file().write(csv_line(fields));
  for (std::size_t i = 0; i < cells.hits.size(); ++i) {
    if (stop.stop_requested()) {
      return std::nullopt;
    }
    fields = {std::to_string(i / side), std::to_string(i % side), std::to_string(cells.hits[i]),
              cells.vacant[i] != 0 ? "" : distance_text(cells.height[i])};
    for (std::size_t k = 0; k < store::leading_per_cell; ++k) {
      const store::DescriptorCode code = cells.leading[i * store::leading_per_cell + k];
      fields.push_back(code == store::no_descriptor ? "" : corpus.name(code));
    }
    for (std::size_t k = 0; k < store::leading_per_cell; ++k) {
      const std::size_t place = i * store::leading_per_cell + k;
      const store::DescriptorCode code = cells.leading[place];
      fields.push_back(
          code == store::no_descriptor
              ? ""
              : decimals(corpus.lift(code, cells.leading_weight[place] / weight_one), 2));
    }
    fields.push_back(mean_year_text(cells.year_sum[i], cells.year_count[i]));
    fields.push_back(corpus.growth_text(cells.recent_count[i], cells.year_count[i]));
    std::uint32_t region = cells.region[i];
    for (const std::vector<store::AtlasRegion>& level : cells.levels) {
      fields.push_back(level[region].name);
      region = level[region].parent;
    }
    output.file().write(csv_line(fields));
  }
  output.commit();
  return cells.hits.size();
}

}  // namespace somatlas::exports
