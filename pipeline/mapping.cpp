// Articles are searched in groups whose planes fit the memory together, by the search of the CPU
// backend. Always holds: its results are exact, so groups and threads do not change them.
#include "pipeline/mapping.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "gpu/contract.h"
#include "gpu/cpu_search.h"
#include "pipeline/worker_threads.h"
#include "store/store_error.h"

namespace somatlas::pipeline {

namespace {

constexpr std::size_t rows_a_unit = 64;        // at least, that a thread searches
constexpr std::size_t most_together = 65'536;  // articles

}  // namespace

AtlasMapper::AtlasMapper(store::Atlas& atlas, std::size_t memory_bytes)
    : atlas_(atlas),
      meta_(read_atlas_meta(atlas)),
      descriptors_(atlas.descriptors()),
      cells_(atlas.cells()) {
  const std::size_t neurons = std::size_t{meta_.settings.side} * meta_.settings.side;
  if (cells_.norm.size() != neurons || cells_.vacant.size() != neurons ||
      cells_.leading.size() != neurons * store::leading_per_cell ||
      cells_.region.size() != neurons) {
    throw store::StoreError(atlas.directory() +
                            " has cells of another side than its description says; train it again");
  }
  if (std::find(cells_.vacant.begin(), cells_.vacant.end(), 0) == cells_.vacant.end()) {
    throw store::StoreError(atlas.directory() + " has no usable neuron; train it again");
  }
  require_threads(0);
  planes_.emplace(atlas, cells_, meta_.settings.side, descriptors_.size(), memory_bytes);
}

const store::AtlasDescriptor* AtlasMapper::find(store::DescriptorCode code) const {
  const auto place =
      std::lower_bound(descriptors_.begin(), descriptors_.end(), code,
                       [](const store::AtlasDescriptor& descriptor, store::DescriptorCode wanted) {
                         return store::ui_less(descriptor.code, wanted);
                       });
  return place != descriptors_.end() && place->code == code ? &*place : nullptr;
}

bool AtlasMapper::knows(store::DescriptorCode code) const {
  return find(code) != nullptr;
}

/// Articles that are placed together, and the descriptors that they have.
struct AtlasMapper::Group {
  std::vector<std::size_t> article;  // places in the batch
  std::vector<Codes> known;
  std::vector<std::uint32_t> k;
  std::unordered_map<store::DescriptorCode, gpu::DescriptorId> number;

  /// How many descriptors there would be with these.
  [[nodiscard]] std::size_t with(const Codes& codes) const {
    return number.size() + static_cast<std::size_t>(std::count_if(
                               codes.begin(), codes.end(), [this](store::DescriptorCode code) {
                                 return number.find(code) == number.end();
                               }));
  }
  void add(std::size_t place, Codes codes, std::uint32_t size) {
    article.push_back(place);
    for (const store::DescriptorCode code : codes) {
      number.emplace(code, 0);
    }
    known.push_back(std::move(codes));
    k.push_back(size);
  }
};

void AtlasMapper::place_group(Group& group, std::span<std::optional<Place>> places) {
  Codes codes;
  for (const auto& [code, number] : group.number) {
    codes.push_back(code);
  }
  const std::vector<gpu::DescriptorId> numbers = planes_->hold(codes);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    group.number[codes[i]] = numbers[i];
  }
  gpu::TileCapacity capacity{.rows = group.known.size(), .descriptors = 0};
  for (const Codes& of_article : group.known) {
    capacity.descriptors += of_article.size();
  }
  gpu::Tile tile(capacity, gpu::host_block(gpu::Tile::bytes(capacity)));
  std::vector<gpu::DescriptorId> row;
  for (const Codes& of_article : group.known) {
    row.clear();
    for (const store::DescriptorCode code : of_article) {
      row.push_back(group.number.at(code));
    }
    tile.add_row(row, gpu::row_use::second);
  }
  std::vector<std::uint32_t> rows(tile.rows());
  std::iota(rows.begin(), rows.end(), 0U);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, rows.size(), rows_a_unit),
                    [&](const tbb::blocked_range<std::size_t>& range) {
                      gpu::search_rows(planes_->codebook(), tile,
                                       std::span(rows).subspan(range.begin(), range.size()));
                    });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    places[group.article[i]] = {tile.bmu()[i], tile.second()[i],
                                distance_of(tile.score()[i], group.k[i])};
  }
  group = {};
}

std::vector<std::optional<Place>> AtlasMapper::place(std::span<const Codes> articles,
                                                     std::span<const std::uint32_t> unnamed) {
  if (unnamed.size() != articles.size()) {
    throw std::invalid_argument("there must be one number of unnamed descriptors an article");
  }
  std::vector<std::optional<Place>> places(articles.size());
  Group group;
  for (std::size_t a = 0; a < articles.size(); ++a) {
    Codes codes = articles[a];
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
    const std::uint64_t size = codes.size() + std::uint64_t{unnamed[a]};
    if (size > gpu::max_descriptors) {
      throw std::invalid_argument("an article has " + std::to_string(size) +
                                  " descriptors; at most 1,023 can be placed");
    }
    std::erase_if(codes, [this](store::DescriptorCode code) { return !knows(code); });
    if (codes.empty()) {
      continue;
    }
    if (!group.known.empty() &&
        (group.known.size() == most_together || group.with(codes) > planes_->room())) {
      place_group(group, places);
    }
    group.add(a, std::move(codes), static_cast<std::uint32_t>(size));
  }
  if (!group.known.empty()) {
    place_group(group, places);
  }
  return places;
}

std::optional<Place> AtlasMapper::recorded(std::uint32_t pmid) {
  const std::uint32_t range = pmid / store::pmids_per_shard;
  if (!recorded_ || recorded_->range != range) {
    recorded_ = atlas_.places(range);
  }
  if (!recorded_) {
    return std::nullopt;
  }
  const std::vector<std::uint16_t>& low = recorded_->low;
  const auto wanted = static_cast<std::uint16_t>(pmid % store::pmids_per_shard);
  const auto found = std::lower_bound(low.begin(), low.end(), wanted);
  const auto row = static_cast<std::size_t>(found - low.begin());
  if (found == low.end() || *found != wanted || recorded_->neuron[row] == gpu::no_neuron) {
    return std::nullopt;
  }
  return Place{recorded_->neuron[row], recorded_->second[row], recorded_->distance[row]};
}

const std::string& AtlasMapper::label(std::uint32_t neuron) const {
  return cells_.levels[0].at(cells_.region.at(neuron)).name;
}

std::string AtlasMapper::leading(std::uint32_t neuron) const {
  const store::DescriptorCode code =
      cells_.leading.at(std::size_t{neuron} * store::leading_per_cell);
  if (code == store::no_descriptor) {
    return "";
  }
  const store::AtlasDescriptor* descriptor = find(code);
  return descriptor == nullptr || descriptor->name.empty() ? store::descriptor_ui(code)
                                                           : descriptor->name;
}

}  // namespace somatlas::pipeline
