#include "pipeline/region_labels.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "gpu/contract.h"
#include "pipeline/lift.h"

namespace somatlas::pipeline {
namespace {

constexpr std::size_t area_level = 1;
constexpr std::uint32_t rank_of_topics = 1U << 31;  // no gain is as large

std::uint32_t gain_of(std::uint32_t rank) {
  return rank & ~rank_of_topics;
}

template <typename Candidate>
bool better(const Candidate& a, const Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : store::ui_less(a.code, b.code);
}

/// Whether headings count it.
bool counts(const LabelDescriptor& descriptor) {
  return descriptor.topic && descriptor.articles != 0;
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
  descriptors_.insert(descriptors_.end(), descriptors.begin(), descriptors.end());
  for (const std::uint64_t sum : weighted[area_level]) {
    area_articles_.push_back(
        static_cast<std::uint32_t>((sum + gpu::weight_one / 2) / gpu::weight_one));
  }
}

RegionCollector::Names RegionCollector::names_by_topic(std::size_t level) const {
  Names names;
  for (const Region& region : levels_[level]) {
    names.push_back(region.leading);
  }
  return names;
}

RegionCollector::Names RegionCollector::names_by_heading(std::size_t level) const {
  // Headings by numbers of their own, and those that each descriptor counts under.
  std::unordered_map<store::DescriptorCode, std::uint32_t> number;
  std::vector<store::DescriptorCode> headings;
  std::vector<std::uint64_t> corpus;
  std::uint64_t corpus_topics = 0;
  std::vector<std::vector<std::uint32_t>> under(descriptors_.size());
  for (std::size_t d = 0; d < descriptors_.size(); ++d) {
    if (!counts(descriptors_[d])) {
      continue;
    }
    corpus_topics += descriptors_[d].articles;
    for (const store::DescriptorCode heading : topics_.headings(descriptors_[d].code)) {
      const auto [found, is_new] =
          number.emplace(heading, static_cast<std::uint32_t>(headings.size()));
      if (is_new) {
        headings.push_back(heading);
        corpus.push_back(0);
      }
      under[d].push_back(found->second);
      corpus[found->second] += descriptors_[d].articles;
    }
  }
  std::vector<std::uint32_t> region_of_area(levels_[area_level].size());
  for (std::uint32_t area = 0; area < region_of_area.size(); ++area) {
    region_of_area[area] = level == area_level ? area : regions_.parent[area_level][area];
  }
  const std::size_t areas = region_of_area.size();
  Names names(levels_[level].size());
  tbb::parallel_for(std::size_t{0}, names.size(), [&](std::size_t region) {
    std::vector<std::uint64_t> articles(headings.size());
    std::uint64_t topics = 0;
    for (std::size_t area = 0; area < areas; ++area) {
      if (region_of_area[area] != region) {
        continue;
      }
      for (std::size_t d = 0; d < descriptors_.size(); ++d) {
        const std::uint32_t with = area_articles_[d * areas + area];
        if (with != 0 && counts(descriptors_[d])) {
          topics += with;
          for (const std::uint32_t heading : under[d]) {
            articles[heading] += with;
          }
        }
      }
    }
    for (std::size_t h = 0; h < headings.size(); ++h) {
      if (articles[h] != 0) {
        const std::uint32_t gain =
            LiftScale(corpus[h], corpus_topics)
                .gain(static_cast<double>(articles[h]) / static_cast<double>(topics),
                      static_cast<double>(levels_[level][region].hits));
        if (gain != 0) {
          insert(names[region], Candidate{gain + rank_of_topics, headings[h], articles[h]});
        }
      }
    }
  });
  return names;
}

std::string RegionCollector::name_of(store::DescriptorCode code) const {
  const store::DescriptorEntry* const entry = topics_.find(code);
  return entry == nullptr || entry->name.empty() ? store::descriptor_ui(code) : entry->name;
}

/// Names in the order of the regions, so that of two that would share one, the region with more
/// articles has it. The other is named by its next topic where that stands out half as much, else
/// by both.
std::vector<std::string> RegionCollector::distinct(std::size_t level, const Names& names) const {
  std::vector<std::string> result;
  std::unordered_set<std::string> taken;
  for (std::size_t region = 0; region < names.size(); ++region) {
    const std::vector<Candidate>& candidates = names[region];
    std::string name;
    const auto take = [&](const std::string& wanted) {
      if (name.empty() && !taken.contains(wanted)) {
        name = wanted;
      }
    };
    for (const Candidate& candidate : candidates) {
      const std::uint32_t best = candidates.front().rank;
      const bool alike = (candidate.rank & rank_of_topics) == (best & rank_of_topics);
      if (alike && gain_of(candidate.rank) >= gain_of(best) / 2) {
        take(name_of(candidate.code));
      }
    }
    for (std::size_t second = 1; second < candidates.size(); ++second) {
      take(name_of(candidates[0].code) + " / " + name_of(candidates[second].code));
    }
    const std::string first = !candidates.empty()                ? name_of(candidates[0].code)
                              : levels_[level][region].hits == 0 ? "no articles"
                                                                 : "mixed topics";
    take(first);
    for (std::size_t n = 2; name.empty(); ++n) {
      take(first + " (" + std::to_string(n) + ")");
    }
    taken.insert(name);
    result.push_back(std::move(name));
  }
  return result;
}

std::array<std::vector<store::AtlasRegion>, store::region_levels> RegionCollector::levels(
    std::uint32_t side, const RegionSums& sums) const {
  std::array<std::vector<store::AtlasRegion>, store::region_levels> result;
  for (std::size_t level = 0; level < result.size(); ++level) {
    std::vector<store::AtlasRegion>& regions = result[level];
    regions.resize(levels_[level].size());
    const std::vector<std::uint32_t> region_of = regions_.of_cells(level);
    const std::vector<std::uint32_t> centre =
        region_centres(side, region_of, regions.size(), sums.hits);
    const std::vector<std::string> name =
        distinct(level, level < area_level ? names_by_topic(level) : names_by_heading(level));
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
