// Where the articles of somebody's own list lie, and which regions they favour. Nothing of a list
// is kept.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "pipeline/enrichment.h"
#include "tools/serve/answers.h"

namespace somatlas::serve {
namespace {

using nlohmann::json;

constexpr std::size_t ranges_read_at_once = 64;
constexpr std::size_t descriptors_searched_at_once = 256;
constexpr double told_below = 0.05;  // false discovery rate

json place_json(const AtlasView& view, std::uint32_t what, const pipeline::Place& place) {
  json entry{what, place.neuron / view.side(), place.neuron % view.side()};
  for (std::size_t level = 0; level < store::region_levels; ++level) {
    entry.push_back(view.part(level)[place.neuron]);
  }
  return entry;
}

}  // namespace

json place_pmids(const AtlasView& view, std::span<const std::uint32_t> pmids) {
  json placed = json::array();
  std::size_t done = 0;
  view.with_mapper([&](pipeline::AtlasMapper& mapper) {
    std::size_t read = 0;
    for (; done < pmids.size(); ++done) {
      const std::uint32_t range = pmids[done] / store::pmids_per_shard;
      read += done == 0 || range != pmids[done - 1] / store::pmids_per_shard ? 1 : 0;
      if (read > ranges_read_at_once) {
        break;
      }
      if (const auto place = mapper.recorded(pmids[done])) {
        placed.push_back(place_json(view, pmids[done], *place));
      }
    }
  });
  return {{"done", done}, {"placed", std::move(placed)}};
}

json place_lines(const AtlasView& view, std::span<const std::string_view> lines) {
  std::vector<std::vector<store::DescriptorCode>> codes;
  std::vector<std::uint32_t> unnamed;
  std::vector<std::uint32_t> number;  // of the line
  json unknown = json::array();
  std::set<std::string> told;
  std::size_t searched = 0;
  std::size_t done = 0;
  for (; done < lines.size(); ++done) {
    lookup::ArticleCodes::Found found =
        view.codes().of(lookup::descriptor_line(lines[done], done + 1));
    const std::size_t count = found.codes.size() + found.unknown.size();
    if (done > 0 && searched + count > descriptors_searched_at_once) {
      break;
    }
    searched += count;
    std::vector<std::string> names = found.unknown;
    for (const store::DescriptorCode code : found.codes) {
      if (view.descriptor(code) == nullptr) {
        names.push_back(store::descriptor_ui(code));
      }
    }
    for (const std::string& name : names) {
      if (told.size() < most_found && told.insert(name).second) {
        unknown.push_back({done, name});
      }
    }
    if (count <= most_descriptors_of_a_line) {
      codes.push_back(std::move(found.codes));
      unnamed.push_back(static_cast<std::uint32_t>(found.unknown.size()));
      number.push_back(static_cast<std::uint32_t>(done));
    }
  }
  const auto places =
      view.with_mapper([&](pipeline::AtlasMapper& mapper) { return mapper.place(codes, unnamed); });
  json placed = json::array();
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i]) {
      placed.push_back(place_json(view, number[i], *places[i]));
    }
  }
  return {{"done", done}, {"placed", std::move(placed)}, {"unknown", std::move(unknown)}};
}

json test_regions(const AtlasView& view, std::size_t level, std::span<const RegionCount> counts) {
  const std::vector<store::AtlasRegion>& regions = view.cells().levels[level];
  std::vector<std::uint64_t> listed(regions.size());
  std::vector<std::uint64_t> corpus(regions.size());
  for (const RegionCount& count : counts) {
    listed[count.region] += count.articles;
  }
  std::ranges::transform(regions, corpus.begin(), &store::AtlasRegion::hits);
  const std::vector<pipeline::Enrichment> found = pipeline::enrichment(listed, corpus);

  std::vector<std::uint32_t> order(regions.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(found[a].q, found[a].p, a) < std::tuple(found[b].q, found[b].p, b);
  });
  const auto significant = std::ranges::count_if(
      found, [](const pipeline::Enrichment& one) { return one.q <= told_below; });
  json told = json::array();
  for (std::size_t i = 0; i < std::min(order.size(), most_regions_told); ++i) {
    const std::uint32_t number = order[i];
    const pipeline::Enrichment& one = found[number];
    json entry{{"number", number},
               {"name", regions[number].name},
               {"row", regions[number].centre / view.side()},
               {"column", regions[number].centre % view.side()},
               {"observed", listed[number]},
               {"expected", one.expected},
               {"p", one.p},
               {"q", one.q}};
    if (one.expected > 0) {
      entry["ratio"] = static_cast<double>(listed[number]) / one.expected;
    }
    told.push_back(std::move(entry));
  }
  return {{"level", level + 1},
          {"listed", std::accumulate(listed.begin(), listed.end(), std::uint64_t{0})},
          {"corpus", std::accumulate(corpus.begin(), corpus.end(), std::uint64_t{0})},
          {"tested", regions.size()},
          {"told_below", told_below},
          {"standing_out", significant},
          {"regions", std::move(told)}};
}

}  // namespace somatlas::serve
