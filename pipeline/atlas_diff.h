// Two atlases compared: the articles in both, what became of regions, which grew, where topics lie.
// Always holds: regions are matched by what is the same on both maps, articles or weights, never by
// rows and columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "pipeline/atlas_meta.h"
#include "pipeline/atlas_overlap.h"
#include "pipeline/region_fates.h"
#include "pipeline/topic_moves.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

enum class MatchBy : std::uint8_t {
  articles,  // a region's match is where most of its shared articles are
  likeness,  // whose mean weights are most alike
};

struct DiffRequest {
  std::size_t level = 0;  // of the regions: 0, or areas 1, continents 2
  std::optional<MatchBy>
      by;  // none: likeness where few_shared(), or of two stores other_articles()
  std::uint64_t least_articles = 10;  // of a topic in each atlas
  std::function<bool(double)> progress = [](double) { return true; };
};

/// Of a region of the later map, against the corpus.
struct RegionGrowth {
  double before = 0;        // articles there before; one that the later atlas lacks counts by where
                            // the others of its region are now
  double relative = 0;      // articles now over those, over the same of the whole corpus
  std::optional<double> q;  // false discovery rate of the new articles being so many or so few
};

struct AtlasDiff {
  AtlasMeta before_meta;
  AtlasMeta after_meta;
  store::AtlasCells before_cells;
  store::AtlasCells after_cells;
  bool one_store = false;
  bool goes_on = false;  // the later was trained from the earlier: cells compare
  MatchBy by = MatchBy::articles;
  AtlasOverlap overlap;
  RegionMatches matches;
  RegionFates fates;
  std::vector<std::optional<RegionGrowth>> growth;  // by region of the later map
  TopicMoves topics;
  double corpus_growth = 1;  // articles with a place in the later over those in the earlier
};

/// Not a tenth of the smaller atlas is in both: articles tell little.
[[nodiscard]] bool few_shared(const AtlasOverlap& overlap);
/// Most articles of one number have other descriptors in the other atlas: of two stores, they are
/// other articles.
[[nodiscard]] bool other_articles(const AtlasOverlap& overlap);

/// Growth by flows of shared articles, with a test of the new articles of all regions at once.
[[nodiscard]] std::vector<std::optional<RegionGrowth>> growth_by_articles(
    const AtlasOverlap& overlap);
/// Growth of regions whose predecessors have no other successor.
[[nodiscard]] std::vector<std::optional<RegionGrowth>> growth_by_links(const AtlasOverlap& overlap,
                                                                       const RegionFates& fates);

/// Nothing where progress stopped it. Throws store::StoreError, also where the two have nothing in
/// common to match regions by, or columns that import numbered mean others here and there.
[[nodiscard]] std::optional<AtlasDiff> diff_atlases(store::Atlas& before, store::Atlas& after,
                                                    const DiffRequest& request);

}  // namespace somatlas::pipeline
