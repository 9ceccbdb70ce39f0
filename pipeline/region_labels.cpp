#include "pipeline/region_labels.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <string>
#include <utility>

#include "gpu/contract.h"
#include "pipeline/lift.h"

namespace somatlas::pipeline {
namespace {

constexpr std::uint32_t rank_of_topics = 1U << 31;  // no gain is as large

using Groups = std::vector<std::vector<std::uint32_t>>;  // of regions

/// What regions of a level are joined to, by number.
Groups joined(const Groups& below, std::span<const std::uint32_t> parent, std::size_t count) {
  Groups groups(count);
  for (std::size_t i = 0; i < below.size(); ++i) {
    std::vector<std::uint32_t>& group = groups[parent[i]];
    group.insert(group.end(), below[i].begin(), below[i].end());
  }
  for (std::vector<std::uint32_t>& group : groups) {
    std::sort(group.begin(), group.end());
  }
  return groups;
}

/// The leading descriptors of regions taken together, which have so many hits. scales: of every
/// descriptor.
std::vector<store::AtlasRegion::Leading> leading_of(const LabelCorpus& corpus,
                                                    std::span<const LiftScale> scales,
                                                    const RegionWeights& weights,
                                                    std::span<const std::uint32_t> group,
                                                    std::uint64_t hits) {
  std::vector<std::uint64_t> sum(corpus.descriptors.size());
  for (const std::uint32_t region : group) {
    for (const RegionWeight& weight : weights.of(region)) {
      sum[weight.descriptor] += weight.sum;
    }
  }
  struct Candidate {
    std::uint32_t rank = 0;
    RegionWeight weight;
  };
  const auto better = [&](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank
                            : store::ui_less(corpus.descriptors[a.weight.descriptor].code,
                                             corpus.descriptors[b.weight.descriptor].code);
  };
  std::vector<Candidate> best;  // best first
  const auto of = static_cast<double>(hits);
  for (std::uint32_t d = 0; d < sum.size(); ++d) {
    const LabelDescriptor& descriptor = corpus.descriptors[d];
    if (sum[d] == 0 || descriptor.articles == 0) {
      continue;
    }
    const std::uint32_t tier = descriptor.topic ? rank_of_topics : 0;
    const double share = std::min(1.0, static_cast<double>(sum[d]) / gpu::weight_one / of);
    const bool full = best.size() == store::leading_per_region;
    if (full && tier + share * gpu::weight_one * scales[d].most_per_weight() < best.back().rank) {
      continue;  // most cannot gain enough, which one product tells
    }
    const std::uint32_t gain = scales[d].gain(share, of);
    const Candidate candidate{gain + tier, {sum[d], d}};
    if (gain == 0 || (full && !better(candidate, best.back()))) {
      continue;
    }
    if (full) {
      best.pop_back();
    }
    best.insert(std::ranges::lower_bound(best, candidate, better), candidate);
  }
  std::vector<store::AtlasRegion::Leading> leading;
  for (const Candidate& candidate : best) {
    leading.push_back(
        {corpus.descriptors[candidate.weight.descriptor].code, candidate.weight.articles()});
  }
  return leading;
}

}  // namespace

std::array<std::vector<store::AtlasRegion>, store::region_levels> label_regions(
    const LabelCorpus& corpus, std::uint32_t side, const MapRegions& regions,
    const RegionWeights& weights, const RegionSums& sums) {
  std::vector<std::uint64_t> hits(weights.regions());
  for (std::size_t cell = 0; cell < regions.region.size(); ++cell) {
    hits[regions.region[cell]] += sums.hits[cell];
  }
  const RegionNames names(corpus, weights, hits);
  std::vector<LiftScale> scales;
  for (const LabelDescriptor& descriptor : corpus.descriptors) {
    // One that no article has leads nowhere.
    scales.emplace_back(std::max<std::uint64_t>(1, descriptor.articles), corpus.articles);
  }
  std::array<std::vector<store::AtlasRegion>, store::region_levels> result;
  Groups groups;
  for (std::uint32_t region = 0; region < weights.regions(); ++region) {
    groups.push_back({region});
  }
  for (std::size_t level = 0; level < result.size(); ++level) {
    const std::size_t count = regions.parent[level].size();
    if (level > 0) {
      groups = joined(groups, regions.parent[level - 1], count);
    }
    std::vector<store::AtlasRegion>& of_level = result[level];
    of_level.resize(count);
    const std::vector<std::uint32_t> region_of = regions.of_cells(level);
    for (std::size_t cell = 0; cell < region_of.size(); ++cell) {
      store::AtlasRegion& region = of_level[region_of[cell]];
      ++region.cells;
      region.hits += sums.hits[cell];
      region.year_count += sums.year_count[cell];
      region.year_sum += sums.year_sum[cell];
      region.recent_count += sums.recent_count[cell];
    }
    const std::vector<std::uint32_t> centre = region_centres(side, region_of, count, sums.hits);
    std::vector<std::string> name = names.names(groups);
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
      of_level[i].name = std::move(name[i]);
      of_level[i].parent = regions.parent[level][i];
      of_level[i].centre = centre[i];
      of_level[i].leading = leading_of(corpus, scales, weights, groups[i], of_level[i].hits);
    });
  }
  return result;
}

}  // namespace somatlas::pipeline
