// Links come from both sides; how many a region has decides.
#include "pipeline/region_fates.h"

#include <algorithm>

namespace somatlas::pipeline {
namespace {

void take_if_more(std::optional<RegionMatch>& best, std::uint32_t region, double share) {
  if (!best || share > best->share) {
    best = RegionMatch{region, share};
  }
}

void link(std::vector<std::uint32_t>& with, std::uint32_t region) {
  const auto at = std::ranges::lower_bound(with, region);
  if (at == with.end() || *at != region) {
    with.insert(at, region);
  }
}

// Of a region with these links; alone: what a region without any is.
Fate fate_of(const std::vector<std::uint32_t>& links,
             const std::vector<std::vector<std::uint32_t>>& links_of_others, Fate several,
             Fate only_one_of_several, Fate alone) {
  if (links.empty()) {
    return alone;
  }
  if (links.size() > 1) {
    return several;
  }
  return links_of_others[links.front()].size() > 1 ? only_one_of_several : Fate::goes_on;
}

}  // namespace

RegionMatches matches_by_articles(const AtlasOverlap& overlap) {
  RegionMatches matches;
  matches.successor.resize(overlap.before.in.size());
  matches.predecessor.resize(overlap.after.in.size());
  for (std::uint32_t from = 0; from < overlap.flows.size(); ++from) {
    for (const AtlasOverlap::Flow& flow : overlap.flows[from]) {
      const auto articles = static_cast<double>(flow.articles);
      take_if_more(matches.successor[from], flow.part,
                   articles / static_cast<double>(overlap.before.shared[from]));
      take_if_more(matches.predecessor[flow.part], from,
                   articles / static_cast<double>(overlap.after.shared[flow.part]));
    }
  }
  return matches;
}

RegionMatches matches_by_likeness(std::span<const double> likeness, std::size_t before,
                                  std::size_t after) {
  RegionMatches matches;
  matches.least = link_likeness;
  matches.successor.resize(before);
  matches.predecessor.resize(after);
  for (std::uint32_t from = 0; from < before; ++from) {
    for (std::uint32_t to = 0; to < after; ++to) {
      const double share = likeness[std::size_t{from} * after + to];
      take_if_more(matches.successor[from], to, share);
      take_if_more(matches.predecessor[to], from, share);
    }
  }
  return matches;
}

RegionFates fates_of(const RegionMatches& matches) {
  RegionFates fates;
  fates.successors.resize(matches.successor.size());
  fates.predecessors.resize(matches.predecessor.size());
  const auto join = [&](std::uint32_t before, std::uint32_t after, double share) {
    if (share >= matches.least) {
      link(fates.successors[before], after);
      link(fates.predecessors[after], before);
    }
  };
  for (std::uint32_t a = 0; a < matches.successor.size(); ++a) {
    if (const auto& match = matches.successor[a]) {
      join(a, match->region, match->share);
    }
  }
  for (std::uint32_t b = 0; b < matches.predecessor.size(); ++b) {
    if (const auto& match = matches.predecessor[b]) {
      join(match->region, b, match->share);
    }
  }
  for (const auto& links : fates.successors) {
    fates.before.push_back(
        fate_of(links, fates.predecessors, Fate::split, Fate::merged, Fate::vanished));
  }
  for (const auto& links : fates.predecessors) {
    fates.after.push_back(
        fate_of(links, fates.successors, Fate::merged, Fate::split, Fate::appeared));
  }
  return fates;
}

}  // namespace somatlas::pipeline
