// What is held of an atlas; its layers are in layers.cpp.
#include "tools/serve/atlas_view.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>

#include "pipeline/map_regions.h"
#include "store/store_error.h"

namespace somatlas::serve {

AtlasView::AtlasView(store::Atlas& atlas, store::Store* store, std::size_t cache_bytes)
    : atlas_(atlas),
      store_(store),
      meta_(pipeline::read_atlas_meta(atlas)),
      cells_(atlas.cells()),
      descriptors_(atlas.descriptors()),
      entry_words_(atlas.entry_words()),
      names_(descriptors_, entry_words_),
      codes_(descriptors_, entry_words_,
             store != nullptr ? store->mesh_view() : std::make_shared<store::MeshView>()),
      cache_(cache_bytes),
      year_counts_(atlas, store, cells_.vacant.size(), cache_bytes),
      mapper_bytes_(cache_bytes) {
  const std::size_t neurons = std::size_t{side()} * side();
  if (cells_.vacant.size() != neurons || cells_.region.size() != neurons) {
    throw store::StoreError(atlas.directory() +
                            ": its cells and its settings do not fit; train it again");
  }
  for (std::size_t i = 0; i < descriptors_.size(); ++i) {
    place_.emplace(descriptors_[i].code, i);
  }
  pipeline::MapRegions regions{.region = cells_.region, .parent = {}};
  for (std::size_t level = 0; level < store::region_levels; ++level) {
    for (const store::AtlasRegion& region : cells_.levels[level]) {
      regions.parent[level].push_back(region.parent);
    }
  }
  for (std::size_t level = 0; level < store::region_levels; ++level) {
    part_[level] = regions.of_cells(level);
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%016zx",
                std::hash<std::string>{}(atlas.directory() + pipeline::to_json(meta_)));
  state_ = text.data();
  make_layers();
}

const store::AtlasDescriptor* AtlasView::descriptor(store::DescriptorCode code) const {
  const auto found = place_.find(code);
  return found == place_.end() ? nullptr : &descriptors_[found->second];
}

std::vector<std::pair<store::DescriptorCode, std::uint16_t>> AtlasView::leading(
    std::uint32_t cell) const {
  std::vector<std::pair<store::DescriptorCode, std::uint16_t>> leading;
  for (std::size_t k = 0; k < store::leading_per_cell; ++k) {
    const std::size_t at = store::leading_per_cell * cell + k;
    if (cells_.leading[at] == store::no_descriptor) {
      break;
    }
    leading.emplace_back(cells_.leading[at], cells_.leading_weight[at]);
  }
  return leading;
}

}  // namespace somatlas::serve
