// Both atlases are read range by range of PMIDs, in step.
#include "pipeline/atlas_overlap.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>

#include "gpu/tile.h"
#include "store/store_error.h"

namespace somatlas::pipeline {
namespace {

std::vector<std::uint32_t> in_either(const std::vector<std::uint32_t>& a,
                                     const std::vector<std::uint32_t>& b) {
  std::vector<std::uint32_t> ranges;
  std::ranges::set_union(a, b, std::back_inserter(ranges));
  return ranges;
}

// Visits the rows of both that have the same low number.
template <typename Shard, typename Visit>
void for_each_shared(const Shard& a, const Shard& b, Visit visit) {
  for (std::size_t i = 0, k = 0; i < a.low.size() && k < b.low.size();) {
    if (a.low[i] == b.low[k]) {
      visit(i, k);
    }
    const bool step_a = a.low[i] <= b.low[k];
    const bool step_b = b.low[k] <= a.low[i];
    i += step_a ? 1 : 0;
    k += step_b ? 1 : 0;
  }
}

// The part that a row lies in; nothing where it has no place.
std::optional<std::uint32_t> part_of(const MapParts& map, const store::PlaceShard& shard,
                                     std::size_t row) {
  const std::uint32_t neuron = shard.neuron[row];
  if (neuron == gpu::no_neuron) {
    return std::nullopt;
  }
  if (neuron >= map.part.size()) {
    throw store::StoreError(map.atlas.directory() +
                            ": an article's place lies outside the map; verify the atlas and "
                            "train it again");
  }
  return map.part[neuron];
}

void count(const MapParts& map, const store::PlaceShard& shard, AtlasOverlap::Side& side) {
  for (std::size_t row = 0; row < shard.low.size(); ++row) {
    if (const auto part = part_of(map, shard, row)) {
      ++side.articles;
      ++side.in[*part];
    }
  }
}

void compare_places(const MapParts& before, const MapParts& after, AtlasOverlap& result) {
  // Most pairs of parts share nothing, but few maps have so many parts that this matters.
  std::vector<std::vector<std::uint64_t>> articles(before.parts);
  for (const std::uint32_t range :
       in_either(before.atlas.place_ranges(), after.atlas.place_ranges())) {
    const auto old_shard = before.atlas.places(range).value_or(store::PlaceShard{});
    const auto new_shard = after.atlas.places(range).value_or(store::PlaceShard{});
    count(before, old_shard, result.before);
    count(after, new_shard, result.after);
    for_each_shared(old_shard, new_shard, [&](std::size_t i, std::size_t k) {
      const auto from = part_of(before, old_shard, i);
      const auto to = part_of(after, new_shard, k);
      if (!from || !to) {
        return;
      }
      ++result.shared;
      ++result.before.shared[*from];
      ++result.after.shared[*to];
      articles[*from].resize(after.parts);
      ++articles[*from][*to];
      result.same_cell += old_shard.neuron[i] == new_shard.neuron[k] ? 1 : 0;
    });
  }
  result.flows.resize(before.parts);
  for (std::size_t from = 0; from < before.parts; ++from) {
    for (std::uint32_t to = 0; to < articles[from].size(); ++to) {
      if (articles[from][to] != 0) {
        result.flows[from].push_back({to, articles[from][to]});
      }
    }
  }
}

void compare_descriptors(store::Atlas& before, store::Atlas& after, AtlasOverlap& result) {
  for (const std::uint32_t range : before.assignment_ranges()) {
    const auto old_shard = before.assignment(range);
    const auto new_shard = after.assignment(range);
    if (old_shard && new_shard) {
      for_each_shared(*old_shard, *new_shard, [&](std::size_t i, std::size_t k) {
        ++result.trained;
        result.same_descriptors +=
            old_shard->fingerprint.at(i) == new_shard->fingerprint.at(k) ? 1 : 0;
      });
    }
  }
}

}  // namespace

std::vector<std::uint32_t> parts_of(const store::AtlasCells& cells, std::size_t level) {
  std::vector<std::uint32_t> part = cells.region;
  for (std::size_t below = 0; below < level; ++below) {
    for (std::uint32_t& number : part) {
      number = cells.levels[below].at(number).parent;
    }
  }
  return part;
}

AtlasOverlap overlap_of(const MapParts& before, const MapParts& after) {
  AtlasOverlap result;
  for (const auto& [map, side] : {std::pair(&before, &result.before), {&after, &result.after}}) {
    side->in.resize(map->parts);
    side->shared.resize(map->parts);
  }
  compare_places(before, after, result);
  compare_descriptors(before.atlas, after.atlas, result);
  return result;
}

}  // namespace somatlas::pipeline
