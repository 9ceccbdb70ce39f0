// somatlas info: what a store or an atlas holds, for people or as JSON.
// Always holds: what is printed was read from it now.
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/atlas_meta.h"
#include "store/atlas.h"
#include "store/store.h"
#include "tools/command.h"
#include "tools/figures.h"
#include "tools/store_info.h"

namespace somatlas::tools {

namespace {

struct Options {
  std::string store;
  std::string atlas;
  bool files = false;
  bool descriptors = false;
  bool json = false;
};

constexpr std::size_t most_regions = 10;
constexpr std::size_t most_leading = 5;

/// Descriptors by code.
class Names {
 public:
  explicit Names(store::Atlas& atlas) : descriptors_(atlas.descriptors()) {
    for (std::size_t i = 0; i < descriptors_.size(); ++i) {
      place_.emplace(descriptors_[i].code, i);
    }
  }
  [[nodiscard]] std::string name(store::DescriptorCode code) const {
    const store::AtlasDescriptor* const found = find(code);
    return found == nullptr || found->name.empty() ? store::descriptor_ui(code) : found->name;
  }
  /// The share of the region's articles over that of all.
  [[nodiscard]] double lift(const store::AtlasRegion& region,
                            const store::AtlasRegion::Leading& leading,
                            std::uint64_t articles) const {
    const store::AtlasDescriptor* const found = find(leading.code);
    if (found == nullptr || found->articles == 0 || region.hits == 0) {
      return 0;
    }
    return static_cast<double>(leading.articles) / static_cast<double>(region.hits) /
           (static_cast<double>(found->articles) / static_cast<double>(articles));
  }

 private:
  [[nodiscard]] const store::AtlasDescriptor* find(store::DescriptorCode code) const {
    const auto found = place_.find(code);
    return found == place_.end() ? nullptr : &descriptors_[found->second];
  }
  std::vector<store::AtlasDescriptor> descriptors_;
  std::unordered_map<store::DescriptorCode, std::size_t> place_;
};

constexpr std::array<const char*, store::region_levels> level_names{"regions", "areas",
                                                                    "continents"};

/// Regions are numbered by falling hits.
std::span<const store::AtlasRegion> largest(const std::vector<store::AtlasRegion>& regions) {
  return std::span(regions).first(std::min(most_regions, regions.size()));
}

void print_atlas_json(store::Atlas& atlas, const pipeline::AtlasMeta& meta, Output& out) {
  auto json = nlohmann::ordered_json::parse(to_json(meta));
  json["directory"] = atlas.directory();
  json["disk_bytes"] = atlas.disk_bytes();
  json["entry_words"] = store::count_words(atlas.entry_words());
  const store::AtlasCells cells = atlas.cells();
  const Names names(atlas);
  for (std::size_t level = 0; level < store::region_levels; ++level) {
    const std::vector<store::AtlasRegion>& regions = cells.levels[level];
    auto& part = json["regions"][level_names[level]];
    part["count"] = regions.size();
    part["largest"] = nlohmann::ordered_json::array();
    for (const store::AtlasRegion& region : largest(regions)) {
      auto& entry = part["largest"].emplace_back();
      entry["name"] = region.name;
      entry["articles"] = region.hits;
      entry["cells"] = region.cells;
      entry["leading"] = nlohmann::ordered_json::array();
      for (const store::AtlasRegion::Leading& leading : region.leading) {
        entry["leading"].push_back({{"ui", store::descriptor_ui(leading.code)},
                                    {"name", names.name(leading.code)},
                                    {"articles", leading.articles},
                                    {"lift", names.lift(region, leading, meta.training_articles)}});
      }
    }
  }
  out << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void print_atlas(store::Atlas& atlas, const pipeline::AtlasMeta& meta, Output& out) {
  const std::uint64_t side = meta.settings.side;
  report_line(out, "atlas", atlas.directory());
  report_line(out, "store state", meta.store_state, "state id of the store when it was trained");
  report_line(out, "side", std::to_string(side) + " (" + count_of(side * side, "cell") + ")");
  report_line(out, "descriptors", std::to_string(meta.descriptors));
  if (const std::uint64_t words = store::count_words(atlas.entry_words()); words != 0) {
    report_line(out, "entry words", std::to_string(words), "further names that find them");
  }
  report_line(out, "training articles", std::to_string(meta.training_articles));
  report_line(out, "held-out articles", std::to_string(meta.heldout_articles),
              "kept out of the training to check it");
  report_line(out, "articles with a place", std::to_string(meta.placed_articles),
              "all that have a descriptor of the map");
  report_line(out, "start", pipeline::start_name(meta.settings.start));
  report_line(out, "seed", std::to_string(meta.settings.seed));
  report_line(out, "least descriptors", std::to_string(meta.settings.min_descriptors),
              "articles with fewer did not train");
  report_line(out, "epochs", std::to_string(meta.epochs),
              meta.earlier_epochs == 0
                  ? ""
                  : "in this run; " + std::to_string(meta.epochs + meta.earlier_epochs) +
                        " with those of the atlases it went on from");
  report_line(out, "radius", std::to_string(meta.radius),
              "of the neighbourhood in the end, in cells");
  report_line(out, "QE", fixed(meta.quality.qe, 6),
              "quantization error: mean distance of articles to their cell, lower is better");
  report_line(out, "held-out QE", fixed(meta.quality.heldout_qe, 6),
              "the same of the held-out articles");
  report_line(out, "cosine QE", fixed(meta.quality.cosine_qe, 6),
              "mean of 1 - cosine between an article and its cell, lower is better");
  report_line(out, "topographic error", fixed(meta.quality.topographic_error, 6),
              "share of articles whose second-best cell is no neighbour of the best");
  report_line(out, "vacant share", fixed(meta.quality.vacant_share, 6),
              "of the cells that have no weights");
  report_line(out, "unhit share", fixed(meta.quality.unhit_share, 6),
              "of the cells that have weights but no training article");
  if (!meta.incremental_from.empty()) {
    report_line(out, "went on from store state", meta.incremental_from);
  }
  report_line(out, "bytes on disk", std::to_string(atlas.disk_bytes()));
  const store::AtlasCells cells = atlas.cells();
  const Names names(atlas);
  for (std::size_t level = store::region_levels; level-- > 0;) {
    const std::vector<store::AtlasRegion>& regions = cells.levels[level];
    report_line(out, level_names[level], std::to_string(regions.size()),
                regions.size() > most_regions
                    ? "the " + std::to_string(most_regions) + " with most training articles:"
                    : "");
    for (const store::AtlasRegion& region : largest(regions)) {
      out << "  " << region.hits << "  " << region.name;
      const char* before = "  (lift: ";
      for (std::size_t i = 0; i < std::min(most_leading, region.leading.size()); ++i) {
        out << before << names.name(region.leading[i].code) << ' '
            << fixed(names.lift(region, region.leading[i], meta.training_articles), 1);
        before = ", ";
      }
      out << (region.leading.empty() ? "\n" : ")\n");
    }
  }
}

int info(Session& session, const Options& options) {
  if (!options.store.empty()) {
    const auto store = store::Store::open(options.store, store::Store::Access::read);
    (options.files         ? print_files
     : options.descriptors ? print_frequencies
                           : print_store)(*store, options.json, session.out());
  } else {
    const auto atlas = store::Atlas::open(options.atlas, store::Atlas::Access::read);
    const pipeline::AtlasMeta meta = pipeline::read_atlas_meta(*atlas);
    (options.json ? print_atlas_json : print_atlas)(*atlas, meta, session.out());
  }
  return exit_done;
}

}  // namespace

Run define_info(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_one_of_store_and_atlas(command, options->store, options->atlas);
  auto* files = command.add_flag(
      "--files", options->files,
      "Print the files that a store has taken instead: name, size, MD5, counts, when");
  auto* descriptors = command.add_flag(
      "--descriptors", options->descriptors,
      "Print how often a store's articles have each descriptor instead, most frequent first: UI, "
      "name, articles, articles that have it as a major topic");
  descriptors->excludes(files);
  for (auto* of_store : {files, descriptors}) {
    of_store->needs(command.get_option("--store"));
  }
  add_json_option(command, options->json);
  return [options](Session& session) { return info(session, *options); };
}

}  // namespace somatlas::tools
