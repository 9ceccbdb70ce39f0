// An atlas as the viewer's pages see it: what is small is held, planes and lists are read when they
// are asked for. Always holds: nothing here changes once made, but for the cache and the mapper,
// which lock; so requests are answered by several threads at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pipeline/atlas_meta.h"
#include "pipeline/map_tiles.h"
#include "pipeline/mapping.h"
#include "store/atlas.h"
#include "store/store.h"
#include "tools/lookup/article_codes.h"
#include "tools/serve/byte_cache.h"
#include "tools/serve/name_index.h"
#include "tools/serve/year_counts.h"

namespace somatlas::serve {

/// The colours of a layer.
enum class Palette : std::uint8_t { sequential, diverging, parts };

struct LegendTick {
  double place = 0;  // 0 to 1 on the scale
  std::string text;
};

/// What can be shown of every cell.
struct Layer {
  std::string id;  // in addresses: a word, or a descriptor's UI
  std::string title;
  std::string quantity;  // what the colours measure
  Palette palette = Palette::sequential;
  std::optional<std::size_t> level;  // regions of that level
  std::vector<LegendTick> ticks;
};

class AtlasView {
 public:
  /// store: where years of articles are found; null: none is shown. Both outlive this. Throws
  /// store::StoreError where the atlas is not whole.
  AtlasView(store::Atlas& atlas, store::Store* store, std::size_t cache_bytes);

  [[nodiscard]] const pipeline::AtlasMeta& meta() const { return meta_; }
  [[nodiscard]] std::uint32_t side() const { return meta_.settings.side; }
  [[nodiscard]] const store::AtlasCells& cells() const { return cells_; }
  [[nodiscard]] const std::vector<store::AtlasDescriptor>& descriptors() const {
    return descriptors_;
  }
  [[nodiscard]] const store::AtlasDescriptor* descriptor(store::DescriptorCode code) const;
  /// The descriptors that lead in a cell, best first, each with its weight there.
  [[nodiscard]] std::vector<std::pair<store::DescriptorCode, std::uint16_t>> leading(
      std::uint32_t cell) const;
  /// By ascending code.
  [[nodiscard]] const std::vector<store::EntryWords>& entry_words() const { return entry_words_; }
  [[nodiscard]] const NameIndex& names() const { return names_; }
  /// What the descriptors of an article's line are here.
  [[nodiscard]] const lookup::ArticleCodes& codes() const { return codes_; }
  /// Number of the region of that level that each cell lies in.
  [[nodiscard]] const std::vector<std::uint32_t>& part(std::size_t level) const {
    return part_[level];
  }
  [[nodiscard]] store::Atlas& atlas() const { return atlas_; }
  [[nodiscard]] store::Store* store() const { return store_; }
  [[nodiscard]] ByteCache& cache() const { return cache_; }
  [[nodiscard]] YearCounts& year_counts() const { return year_counts_; }
  /// Tells this atlas's addresses from another's.
  [[nodiscard]] const std::string& state() const { return state_; }

  /// The layers that every atlas has.
  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  /// One of them, a descriptor's plane by its UI, or articles of some years, "hits.1990-1999", once
  /// these are counted; nothing where there is none of that id.
  [[nodiscard]] std::optional<Layer> layer(const std::string& id) const;
  /// A shade a cell.
  [[nodiscard]] ByteCache::Value shades(const std::string& id) const;
  /// A tile of the layer as PNG (pipeline/map_tiles.h says which there are).
  [[nodiscard]] std::string tile(const Layer& layer, std::uint32_t zoom, std::uint32_t x,
                                 std::uint32_t y) const;

  /// Calls use with the mapper, one thread at a time.
  template <typename Use>
  auto with_mapper(const Use& use) const {
    const std::lock_guard lock(mapper_mutex_);
    if (!mapper_) {
      mapper_ = std::make_unique<pipeline::AtlasMapper>(atlas_, mapper_bytes_);
    }
    return use(*mapper_);
  }

 private:
  void make_layers();
  [[nodiscard]] std::string make_shades(const std::string& id) const;
  [[nodiscard]] std::string plane_shades(store::DescriptorCode code) const;
  [[nodiscard]] std::string year_shades(unsigned first, unsigned last) const;
  /// Once all years are counted.
  [[nodiscard]] const pipeline::ShadeRange& year_range() const;

  store::Atlas& atlas_;
  store::Store* store_;
  pipeline::AtlasMeta meta_;
  store::AtlasCells cells_;
  std::vector<store::AtlasDescriptor> descriptors_;  // UI order
  std::unordered_map<store::DescriptorCode, std::size_t> place_;
  std::vector<store::EntryWords> entry_words_;
  NameIndex names_;
  lookup::ArticleCodes codes_;
  std::array<std::vector<std::uint32_t>, store::region_levels> part_;
  std::string state_;
  std::vector<Layer> layers_;
  std::unordered_map<std::string, pipeline::ShadeRange> ranges_;
  mutable ByteCache cache_;
  mutable YearCounts year_counts_;
  mutable std::once_flag year_range_made_;
  mutable pipeline::ShadeRange year_range_;
  std::size_t mapper_bytes_;
  mutable std::mutex mapper_mutex_;
  mutable std::unique_ptr<pipeline::AtlasMapper> mapper_;
};

}  // namespace somatlas::serve
