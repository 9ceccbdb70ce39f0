// somatlas info: what a store or an atlas holds, for people or as JSON.
// Always holds: what is printed was read from it now.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

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

void print_atlas_json(store::Atlas& atlas, const pipeline::AtlasMeta& meta, Output& out) {
  auto json = nlohmann::ordered_json::parse(to_json(meta));
  json["directory"] = atlas.directory();
  json["disk_bytes"] = atlas.disk_bytes();
  out << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void print_atlas(store::Atlas& atlas, const pipeline::AtlasMeta& meta, Output& out) {
  const std::uint64_t side = meta.settings.side;
  report_line(out, "atlas", atlas.directory());
  report_line(out, "store state", meta.store_state, "state id of the store when it was trained");
  report_line(out, "side", std::to_string(side) + " (" + count_of(side * side, "cell") + ")");
  report_line(out, "descriptors", std::to_string(meta.descriptors));
  report_line(out, "training articles", std::to_string(meta.training_articles));
  report_line(out, "held-out articles", std::to_string(meta.heldout_articles),
              "kept out of the training to check it");
  report_line(out, "articles with a place", std::to_string(meta.placed_articles),
              "all that have a descriptor of the map");
  report_line(out, "start", meta.settings.start == pipeline::Start::pca ? "pca" : "random");
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
