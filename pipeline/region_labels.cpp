#include "pipeline/region_labels.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "gpu/contract.h"
#include "pipeline/lift.h"

namespace somatlas::pipeline {
namespace {

constexpr std::uint32_t rank_of_topics = 1U << 31;  // no gain is as large

template <typename Candidate>
bool better(const Candidate& a, const Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : store::ui_less(a.code, b.code);
}

/// Keeps the list's best, best first.
template <typename Candidate>
void insert(std::vector<Candidate>& list, const Candidate& candidate) {
  const auto place = std::lower_bound(list.begin(), list.end(), candidate, better<Candidate>);
  if (list.size() < store::leading_per_region) {
    list.insert(place, candidate);
  } else if (place != list.end()) {
    std::move_backward(place, list.end() - 1, list.end());
    *place = candidate;
  }
}

}  // namespace

RegionCollector::RegionCollector(const MapRegions& regions, const MeshTopics& topics,
                                 std::span<const std::uint32_t> hits, std::uint64_t articles)
    : regions_(regions), topics_(topics), hits_(hits), articles_(articles) {
  carried_.resize(regions.parent[0].size());
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    levels_[level].resize(regions.parent[level].size());
    const std::vector<std::uint32_t> region = regions.of_cells(level);
    for (std::size_t cell = 0; cell < region.size(); ++cell) {
      levels_[level][region[cell]].hits += hits[cell];
    }
  }
}

/// weighted: the sum of hits * weight over the region's cells.
void RegionCollector::offer(Region& region, const LabelDescriptor& descriptor,
                            std::uint64_t weighted) const {
  if (weighted == 0 || descriptor.articles == 0) {
    return;
  }
  const auto of = static_cast<double>(region.hits);
  const double share = static_cast<double>(weighted) / gpu::weight_one / of;
  const std::uint32_t gain =
      LiftScale(descriptor.articles, articles_).gain(std::min(1.0, share), of);
  if (gain != 0) {
    insert(region.leading,
           Candidate{gain + (descriptor.topic ? rank_of_topics : 0), descriptor.code,
                     (weighted + gpu::weight_one / 2) / gpu::weight_one});
  }
}

void RegionCollector::add_planes(std::span<const LabelDescriptor> descriptors,
                                 std::span<const std::uint16_t> planes) {
  const std::size_t cells = hits_.size();
  if (planes.size() != descriptors.size() * cells) {
    throw std::invalid_argument("a plane has one weight a neuron");
  }
  std::array<std::vector<std::uint64_t>, store::region_levels> weighted;  // of each plane
  for (std::size_t level = 0; level < weighted.size(); ++level) {
    weighted[level].resize(descriptors.size() * levels_[level].size());
  }
  tbb::parallel_for(std::size_t{0}, descriptors.size(), [&](std::size_t d) {
    const auto plane = planes.subspan(d * cells, cells);
    const auto row_of = [&](std::size_t level) {
      const std::size_t size = levels_[level].size();
      return std::span(weighted[level]).subspan(d * size, size);
    };
    const auto sums = row_of(0);
    add_weighted(regions_.region, hits_, 0, plane, sums);
    for (std::size_t level = 0; level + 1 < levels_.size(); ++level) {
      const auto below = row_of(level);
      const auto above = row_of(level + 1);
      for (std::size_t region = 0; region < below.size(); ++region) {
        above[regions_.parent[level][region]] += below[region];
      }
    }
  });
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    std::vector<Region>& regions = levels_[level];
    tbb::parallel_for(std::size_t{0}, regions.size(), [&](std::size_t region) {
      for (std::size_t d = 0; d < descriptors.size(); ++d) {
        offer(regions[region], descriptors[d], weighted[level][d * regions.size() + region]);
      }
    });
  }
  tbb::parallel_for(std::size_t{0}, carried_.size(), [&](std::size_t region) {
    for (std::size_t d = 0; d < descriptors.size(); ++d) {
      const std::uint64_t sum = weighted[0][d * carried_.size() + region];
      const auto with = static_cast<std::uint32_t>((sum + gpu::weight_one / 2) / gpu::weight_one);
      if (with != 0 && descriptors[d].topic && descriptors[d].articles != 0) {
        carried_[region].push_back({static_cast<std::uint32_t>(descriptors_.size() + d), with});
      }
    }
  });
  descriptors_.insert(descriptors_.end(), descriptors.begin(), descriptors.end());
}

std::array<std::vector<store::AtlasRegion>, store::region_levels> RegionCollector::levels(
    std::uint32_t side, const RegionSums& sums) const {
  std::array<std::vector<store::AtlasRegion>, store::region_levels> result;
  std::vector<std::uint64_t> hits;
  std::vector<std::vector<std::uint32_t>> groups;  // of each region of the level: those in it
  for (std::uint32_t region = 0; region < carried_.size(); ++region) {
    hits.push_back(levels_[0][region].hits);
    groups.push_back({region});
  }
  const RegionNames names(topics_, descriptors_, articles_, carried_, hits);
  for (std::size_t level = 0; level < result.size(); ++level) {
    std::vector<store::AtlasRegion>& regions = result[level];
    regions.resize(levels_[level].size());
    const std::vector<std::uint32_t> region_of = regions_.of_cells(level);
    const std::vector<std::uint32_t> centre =
        region_centres(side, region_of, regions.size(), sums.hits);
    if (level > 0) {
      const auto below =
          std::exchange(groups, std::vector<std::vector<std::uint32_t>>(regions.size()));
      for (std::size_t i = 0; i < below.size(); ++i) {
        std::vector<std::uint32_t>& group = groups[regions_.parent[level - 1][i]];
        group.insert(group.end(), below[i].begin(), below[i].end());
      }
      for (std::vector<std::uint32_t>& group : groups) {
        std::sort(group.begin(), group.end());
      }
    }
    const std::vector<std::string> name = names.names(groups);
    for (std::size_t i = 0; i < regions.size(); ++i) {
      regions[i].name = name[i];
      regions[i].parent = regions_.parent[level][i];
      regions[i].centre = centre[i];
      for (const Candidate& candidate : levels_[level][i].leading) {
        regions[i].leading.push_back({candidate.code, candidate.articles});
      }
    }
    for (std::size_t cell = 0; cell < region_of.size(); ++cell) {
      store::AtlasRegion& region = regions[region_of[cell]];
      ++region.cells;
      region.hits += sums.hits[cell];
      region.year_count += sums.year_count[cell];
      region.year_sum += sums.year_sum[cell];
      region.recent_count += sums.recent_count[cell];
    }
  }
  return result;
}

}  // namespace somatlas::pipeline
