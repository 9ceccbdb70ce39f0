// What became of the regions of one map on another: which go on, split, were merged, appeared or
// vanished. Always holds: the answer depends on the links alone, which are stated with their
// shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/atlas_overlap.h"

namespace somatlas::pipeline {

/// Where one region's greatest part is on the other map.
struct RegionMatch {
  std::uint32_t region = 0;
  double share = 0;  // of its shared articles; or the likeness of the two (pipeline/topic_moves.h)
  friend bool operator==(const RegionMatch&, const RegionMatch&) = default;
};

/// Half of it: a region with so much of itself in another is linked with that.
inline constexpr double link_share = 0.5;
/// Of a correlation: half of what sets the one region apart then sets the other apart.
inline constexpr double link_likeness = 0.7;

/// For every region its best match, if there is any.
struct RegionMatches {
  std::vector<std::optional<RegionMatch>> successor;    // by region of the earlier map
  std::vector<std::optional<RegionMatch>> predecessor;  // by region of the later map
  double least = link_share;                            // a match of that share is a link
};

/// By most shared articles, the lower number at a tie; nothing for a region without any.
[[nodiscard]] RegionMatches matches_by_articles(const AtlasOverlap& overlap);
/// By greatest likeness, the lower number at a tie. likeness: by earlier region, then later.
[[nodiscard]] RegionMatches matches_by_likeness(std::span<const double> likeness,
                                                std::size_t before, std::size_t after);

enum class Fate : std::uint8_t {
  goes_on,   // one region of each map, linked with one another alone
  split,     // an earlier region that is linked with several later ones, and each of these
  merged,    // a later region that is linked with several earlier ones, and each of these
  vanished,  // an earlier region without a link
  appeared,  // a later region without a link
};

struct RegionFates {
  std::vector<Fate> before;  // of the regions of the earlier map
  std::vector<Fate> after;
  std::vector<std::vector<std::uint32_t>> successors;    // linked, ascending
  std::vector<std::vector<std::uint32_t>> predecessors;  // linked, ascending
};

/// A region of either map is linked with its match where the share is `least` at least. One that
/// both splits and is merged is called split on the earlier map and merged on the later.
/// Source of the idea: M. Spiliopoulou and others, "MONIC: modeling and monitoring cluster
/// transitions", 2006.
[[nodiscard]] RegionFates fates_of(const RegionMatches& matches);

}  // namespace somatlas::pipeline
