// The CSV form of an atlas: a row a cell.
#include <unordered_map>
#include <vector>

#include "store/store_error.h"
#include "tools/export/atlas_export.h"
#include "tools/export/decimal_text.h"
#include "tools/export/delimited.h"

namespace somatlas::exports {

store::AtlasCells checked_cells(store::Atlas& atlas, std::uint32_t side) {
  store::AtlasCells cells = atlas.cells();
  const std::size_t neurons = std::size_t{side} * side;
  if (cells.vacant.size() != neurons || cells.hits.size() != neurons ||
      cells.height.size() != neurons || cells.year_count.size() != neurons ||
      cells.year_sum.size() != neurons ||
      cells.leading.size() != neurons * store::leading_per_cell) {
    throw store::StoreError(atlas.directory() + ": its cells are not those of a map of side " +
                            std::to_string(side) + "; verify the atlas and train it again");
  }
  return cells;
}

std::optional<std::uint64_t> export_csv(store::Atlas& atlas, const std::string& path,
                                        Existing existing, std::stop_token stop) {
  const std::uint32_t side = pipeline::read_atlas_meta(atlas).settings.side;
  const store::AtlasCells cells = checked_cells(atlas, side);
  std::unordered_map<store::DescriptorCode, std::string> names;
  for (store::AtlasDescriptor& descriptor : atlas.descriptors()) {
    names[descriptor.code] = std::move(descriptor.name);
  }
  const auto name_of = [&](store::DescriptorCode code) {
    const auto found = names.find(code);
    return found == names.end() || found->second.empty() ? store::descriptor_ui(code)
                                                         : found->second;
  };

  PendingFile output(path, existing);
  std::vector<std::string> fields{"row", "column", "hits", "height"};
  for (std::size_t i = 1; i <= store::leading_per_cell; ++i) {
    fields.push_back("descriptor" + std::to_string(i));
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
      fields.push_back(code == store::no_descriptor ? "" : name_of(code));
    }
    output.file().write(csv_line(fields));
  }
  output.commit();
  return cells.hits.size();
}

}  // namespace somatlas::exports
