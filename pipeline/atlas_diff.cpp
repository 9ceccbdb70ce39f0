// Joins what the parts of the comparison find.
#include "pipeline/atlas_diff.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "pipeline/enrichment.h"
#include "store/store_error.h"

namespace somatlas::pipeline {
namespace {

double ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 1 : static_cast<double>(a) / static_cast<double>(b);
}

/// UIs that import gave to columns without one (tools/import/row_import.h).
constexpr std::uint32_t first_of_import = 900'000'000;

/// What two atlases have in common says what became of a region: refuses where nothing does.
void require_common_ground(store::Atlas& before, store::Atlas& after, MatchBy by) {
  std::unordered_map<store::DescriptorCode, std::string> old_name;
  for (store::AtlasDescriptor& descriptor : before.descriptors()) {
    old_name.emplace(descriptor.code, std::move(descriptor.name));
  }
  std::size_t common = 0;
  std::size_t numbered = 0;
  std::size_t other = 0;
  std::string example;
  for (const store::AtlasDescriptor& descriptor : after.descriptors()) {
    const auto found = old_name.find(descriptor.code);
    if (found == old_name.end()) {
      continue;
    }
    ++common;
    if (store::descriptor_digits(descriptor.code) == 9 &&
        store::descriptor_number(descriptor.code) >= first_of_import) {
      ++numbered;
      if (found->second != descriptor.name && other++ == 0) {
        example = store::descriptor_ui(descriptor.code) + " is \"" + found->second +
                  "\" there and \"" + descriptor.name + "\" here";
      }
    }
  }
  if (2 * other > numbered) {
    throw store::StoreError(after.directory() + ": most of the columns that it shares with " +
                            before.directory() + " by number are others, as " + example +
                            "; import the rows of both with their columns in one order");
  }
  if (by == MatchBy::likeness && common == 0) {
    throw store::StoreError(after.directory() +
                            ": has neither articles nor descriptors in common "
                            "with " +
                            before.directory() + " by which to match regions");
  }
}

store::AtlasCells cells_of(store::Atlas& atlas, const AtlasMeta& meta) {
  store::AtlasCells cells = atlas.cells();
  if (cells.hits.size() != std::size_t{meta.settings.side} * meta.settings.side) {
    throw store::StoreError(atlas.directory() +
                            ": its cells do not fit its side; verify the atlas and train it again");
  }
  return cells;
}

}  // namespace

bool few_shared(const AtlasOverlap& overlap) {
  return overlap.shared * 10 < std::min(overlap.before.articles, overlap.after.articles);
}

bool other_articles(const AtlasOverlap& overlap) {
  return overlap.same_descriptors * 2 < overlap.trained;
}

std::vector<std::optional<RegionGrowth>> growth_by_articles(const AtlasOverlap& overlap) {
  std::vector<double> before(overlap.after.in.size());
  for (std::size_t from = 0; from < overlap.flows.size(); ++from) {
    for (const AtlasOverlap::Flow& flow : overlap.flows[from]) {
      before[flow.part] += static_cast<double>(flow.articles) *
                           ratio(overlap.before.in[from], overlap.before.shared[from]);
    }
  }
  std::vector<std::uint64_t> fresh;
  for (std::size_t to = 0; to < before.size(); ++to) {
    fresh.push_back(overlap.after.in[to] - overlap.after.shared[to]);
  }
  const std::vector<Enrichment> tests = enrichment(fresh, overlap.after.in);
  const double corpus = ratio(overlap.after.articles, overlap.before.articles);
  std::vector<std::optional<RegionGrowth>> growth(before.size());
  for (std::size_t to = 0; to < before.size(); ++to) {
    if (before[to] > 0) {
      growth[to] = RegionGrowth{
          before[to], static_cast<double>(overlap.after.in[to]) / before[to] / corpus, tests[to].q};
    }
  }
  return growth;
}

std::vector<std::optional<RegionGrowth>> growth_by_links(const AtlasOverlap& overlap,
                                                         const RegionFates& fates) {
  const double corpus = ratio(overlap.after.articles, overlap.before.articles);
  std::vector<std::optional<RegionGrowth>> growth(overlap.after.in.size());
  for (std::size_t to = 0; to < growth.size(); ++to) {
    std::uint64_t before = 0;
    bool whole = true;
    for (const std::uint32_t from : fates.predecessors[to]) {
      before += overlap.before.in[from];
      whole = whole && fates.successors[from].size() == 1;
    }
    if (whole && before > 0) {
      const auto articles = static_cast<double>(before);
      growth[to] = RegionGrowth{
          articles, static_cast<double>(overlap.after.in[to]) / articles / corpus, std::nullopt};
    }
  }
  return growth;
}

std::optional<AtlasDiff> diff_atlases(store::Atlas& before, store::Atlas& after,
                                      const DiffRequest& request) {
  AtlasDiff diff;
  diff.before_meta = read_atlas_meta(before);
  diff.after_meta = read_atlas_meta(after);
  diff.before_cells = cells_of(before, diff.before_meta);
  diff.after_cells = cells_of(after, diff.after_meta);
  diff.one_store = diff.after_meta.store_id == diff.before_meta.store_id;
  diff.goes_on = diff.one_store &&
                 diff.after_meta.incremental_from == diff.before_meta.store_state &&
                 diff.after_meta.settings.side == diff.before_meta.settings.side;
  const std::vector<std::uint32_t> before_part = parts_of(diff.before_cells, request.level);
  const std::vector<std::uint32_t> after_part = parts_of(diff.after_cells, request.level);
  const MapParts old_map{before, before_part, diff.before_cells.levels.at(request.level).size()};
  const MapParts new_map{after, after_part, diff.after_cells.levels.at(request.level).size()};
  diff.overlap = overlap_of(old_map, new_map);
  diff.corpus_growth = ratio(diff.overlap.after.articles, diff.overlap.before.articles);
  const bool by_likeness =
      few_shared(diff.overlap) || (!diff.one_store && other_articles(diff.overlap));
  diff.by = request.by.value_or(by_likeness ? MatchBy::likeness : MatchBy::articles);
  require_common_ground(before, after, diff.by);
  bool stopped = false;
  TopicRequest topics;
  topics.least_articles = request.least_articles;
  topics.likeness = diff.by == MatchBy::likeness;
  topics.moved = diff.by == MatchBy::articles;
  topics.progress = [&](double share) {
    stopped = !request.progress(share);
    return !stopped;
  };
  diff.topics =
      topic_moves(old_map, diff.before_cells, new_map, diff.after_cells, diff.overlap, topics);
  if (stopped) {
    return std::nullopt;
  }
  diff.matches = diff.by == MatchBy::articles
                     ? matches_by_articles(diff.overlap)
                     : matches_by_likeness(diff.topics.likeness, old_map.parts, new_map.parts);
  diff.fates = fates_of(diff.matches);
  diff.growth = diff.by == MatchBy::articles ? growth_by_articles(diff.overlap)
                                             : growth_by_links(diff.overlap, diff.fates);
  return diff;
}

}  // namespace somatlas::pipeline
