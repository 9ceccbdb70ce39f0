// Where the descriptors of two atlases lie, and how like the parts of the two maps are, from
// planes. Always holds: each plane is read once; only descriptors tell, never rows and columns,
// which mean nothing from one map to another.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "pipeline/atlas_overlap.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

/// Where a descriptor lies on a map, by the share of the articles in each cell that carry it.
struct TopicPlace {
  std::uint64_t articles = 0;  // training articles
  std::uint32_t part = 0;      // with most of them, the lower number at a tie
  double share = 0;            // of them, in that part
  std::uint32_t cell = 0;      // with the greatest weight, the lower number at a tie
  friend bool operator==(const TopicPlace&, const TopicPlace&) = default;
};

struct TopicMove {
  store::DescriptorCode code = 0;
  TopicPlace before;
  TopicPlace after;
  /// How much of it lies elsewhere than the shared articles of the parts where it lay before: 0 as
  /// they do, 1 all elsewhere. Nothing without shared articles, or where it was not asked for.
  std::optional<double> moved;
};

struct TopicMoves {
  std::vector<TopicMove> moves;  // in UI order: descriptors with enough articles in both
  std::vector<store::AtlasDescriptor> gone;      // in the earlier alone, most articles first
  std::vector<store::AtlasDescriptor> appeared;  // in the later alone
  /// By earlier part, then later: the correlation of the mean weights of two parts over all
  /// descriptors, each less its mean over the map, so that what lies everywhere makes no two parts
  /// alike; from -1 to 1. Two whole maps are alike: 1. Empty where it was not asked for. Tried on
  /// two halves of the sample, whose articles the other half's map places too: the region that is
  /// most alike is where most of them lie for 89 to 96 % of the hits, with differences over
  /// sqrt(p (1 - p)) of the share p for 74 to 92 %, of topics alone (pipeline/mesh_topics.h) for 67
  /// to 83 %, with both for 54 to 86 %: what rare descriptors add is noise, and common headings,
  /// which say what kind of article lies there, tell regions apart as well as topics do.
  std::vector<double> likeness;
};

struct TopicRequest {
  std::uint64_t least_articles = 10;  // in each atlas, of the moves
  bool likeness = false;              // reads all planes
  bool moved = true;                  // by the shared articles
  /// Called now and then with the share done; false stops, and what is returned is of no use.
  std::function<bool(double)> progress = [](double) { return true; };
};

/// cells: of the two atlases. Throws store::StoreError where a plane cannot be read.
[[nodiscard]] TopicMoves topic_moves(const MapParts& before, const store::AtlasCells& before_cells,
                                     const MapParts& after, const store::AtlasCells& after_cells,
                                     const AtlasOverlap& overlap, const TopicRequest& request);

}  // namespace somatlas::pipeline
