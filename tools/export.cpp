// somatlas export: a finished atlas, or the rows of a store, in the formats of other programs.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "ingest/input_error.h"
#include "pipeline/atlas_meta.h"
#include "pipeline/mapping.h"
#include "tools/command.h"
#include "tools/export/article_rows.h"
#include "tools/export/atlas_export.h"
#include "tools/export/codebook_text.h"
#include "tools/export/peer_formats.h"
#include "tools/lookup/article_placer.h"
#include "tools/lookup/clean_text.h"
#include "tools/serve/static_page.h"

namespace somatlas::tools {
namespace {

// What CLI11 says of a title or caption; empty where it can be drawn.
std::string short_enough(const std::string& text) {
  constexpr std::size_t longest = 4000;
  return lookup::characters_of(text) <= longest
             ? ""
             : "is longer than " + std::to_string(longest) + " characters";
}

struct ExportOptions {
  std::string store;
  std::string atlas;
  std::string format;
  std::string output;
  std::string layer;
  std::string descriptor;
  std::string descriptors;
  std::string best_matches = "esom";
  std::string dialect = "libsvm";
  std::optional<std::size_t> labels;
  std::string title;
  std::string caption;
  std::string articles;
  std::optional<std::uint32_t> scale;
  std::optional<std::size_t> planes;
  bool overwrite = false;
  [[nodiscard]] exports::Target target(Session& session) const {
    return {output, overwrite ? exports::Existing::replace : exports::Existing::refuse,
            session.stop_token()};
  }
};

const std::map<std::string, exports::Layer> layers{
    {"hits", exports::Layer::hits},       {"umatrix", exports::Layer::umatrix},
    {"years", exports::Layer::years},     {"growth", exports::Layer::growth},
    {"regions", exports::Layer::regions}, {"plane", exports::Layer::plane}};
const std::map<std::string, exports::FigureForm> figure_forms{{"png", exports::FigureForm::png},
                                                              {"svg", exports::FigureForm::svg}};
const std::map<std::string, exports::RowFormat> row_formats{
    {"mtx", exports::RowFormat::matrix_market},
    {"libsvm", exports::RowFormat::libsvm},
    {"sbcsr", exports::RowFormat::sbcsr}};
const std::map<std::string, exports::BestMatchOrder> best_match_orders{
    {"esom", exports::BestMatchOrder::esom}, {"somoclu", exports::BestMatchOrder::somoclu}};
const std::map<std::string, exports::LibsvmDialect> dialects{
    {"libsvm", exports::LibsvmDialect::libsvm},
    {"somoclu", exports::LibsvmDialect::somoclu},
    {"sparse-som", exports::LibsvmDialect::sparse_som}};

constexpr std::size_t page_cache_bytes = std::size_t{64} << 20;

/// What was written, in words; nothing where it was asked to stop.
using Written = std::optional<std::string>;

Written counted(const std::optional<std::uint64_t>& count, const std::string& of) {
  return count ? std::optional(std::to_string(*count) + " " + of) : std::nullopt;
}

Written write_npy(store::Atlas& atlas, const exports::Target& target) {
  const auto summary = exports::export_npy(atlas, target.path, target.existing, target.stop);
  if (!summary) {
    return std::nullopt;
  }
  return "planes of " + std::to_string(summary->descriptors) + " descriptors, the assignment of " +
         std::to_string(summary->assigned) + " training articles, the places of " +
         std::to_string(summary->placed) +
         " articles; without a place: " + std::to_string(summary->unplaced);
}

// Counts the articles of a list in the cells where they lie.
void lay_over(Session& session, store::Atlas& atlas, const std::string& list,
              exports::FigureRequest& request) {
  const std::unique_ptr<ingest::ByteSource> input = lookup::open_input(list);
  pipeline::AtlasMapper mapper(atlas);
  const std::size_t side = mapper.meta().settings.side;
  request.overlay.resize(side * side);
  lookup::ArticlePlacer placer(
      mapper, nullptr,
      [&](const lookup::Article&, const std::optional<pipeline::Place>& place) {
        if (place) {
          ++request.overlay[place->neuron];
        }
      },
      [&](const std::string& sentence) { session.say(sentence); });
  const bool known = placer.place_all(*input);
  if (!known || placer.placed() == 0) {
    throw ingest::InputError(
        list, 0, "no article of it has a place on the map; give articles that the atlas knows");
  }
  const std::string name = list == "-" ? "the list" : std::filesystem::path(list).filename();
  request.overlay_text = "articles of " + name + " in a cell; " + std::to_string(placer.placed()) +
                         " in all" +
                         (placer.placed() == placer.articles()
                              ? ""
                              : ", of " + std::to_string(placer.articles()) + " in the list");
}

Written write_figure(Session& session, store::Atlas& atlas, const ExportOptions& options,
                     const exports::Target& target) {
  exports::FigureRequest request;
  const std::string layer = !options.layer.empty()        ? options.layer
                            : !options.descriptor.empty() ? "plane"
                                                          : "hits";
  request.layer = layers.at(layer);
  request.descriptor = options.descriptor;
  request.label_count = options.labels;
  request.title = options.title;
  request.caption = options.caption;
  request.form = figure_forms.at(options.format);
  request.scale = options.scale.value_or(1);
  if (!options.articles.empty()) {
    lay_over(session, atlas, options.articles, request);
  }
  if (!exports::export_figure(atlas, request, target.path, target.existing, target.stop)) {
    return std::nullopt;
  }
  if (request.layer != exports::Layer::plane) {
    return "a picture of the layer " + layer;
  }
  const store::AtlasDescriptor shown =
      exports::chosen_descriptors(atlas, options.descriptor).front();
  return "a picture of the plane of " +
         (shown.name.empty() ? store::descriptor_ui(shown.code) : shown.name);
}

Written write_page(store::Atlas& atlas, const ExportOptions& options,
                   const exports::Target& target) {
  const std::unique_ptr<store::Store> articles =
      options.store.empty() ? nullptr
                            : store::Store::open(options.store, store::Store::Access::read);
  if (articles != nullptr) {
    pipeline::require_store_of(pipeline::read_atlas_meta(atlas), options.atlas, *articles);
  }
  const serve::AtlasView view(atlas, articles.get(), page_cache_bytes);
  const auto summary =
      serve::export_page(view,
                         {.planes = options.planes.value_or(serve::default_page_planes),
                          .descriptors = options.descriptors},
                         target);
  if (!summary) {
    return std::nullopt;
  }
  return "a page with the planes of " + std::to_string(summary->planes) + " descriptors, " +
         std::to_string(summary->files) + " files of " +
         std::to_string((summary->bytes + (1U << 20U) - 1) >> 20U) + " MiB; open " + target.path +
         "/index.html";
}

Written write_rows(const ExportOptions& options, const exports::Target& target) {
  const auto store = store::Store::open(options.store, store::Store::Access::read);
  const auto summary = exports::export_rows(*store, row_formats.at(options.format),
                                            dialects.at(options.dialect), target);
  if (!summary) {
    return std::nullopt;
  }
  return std::to_string(summary->rows) + " rows of " + std::to_string(summary->columns) +
         " columns with " + std::to_string(summary->nonzeros) + " ones";
}

Written write_atlas(Session& session, const ExportOptions& options, const exports::Target& target) {
  const auto atlas = store::Atlas::open(options.atlas, store::Atlas::Access::read);
  const std::string& format = options.format;
  if (format == "npy") {
    return write_npy(*atlas, target);
  }
  if (format == "html") {
    return write_page(*atlas, options, target);
  }
  if (format == "csv") {
    return counted(exports::export_csv(*atlas, target.path, target.existing, target.stop), "cells");
  }
  if (format == "regions") {
    return counted(exports::export_regions(*atlas, target.path, target.existing, target.stop),
                   "regions, areas and continents");
  }
  if (format == "umx") {
    return counted(exports::export_umx(*atlas, target), "cells");
  }
  if (format == "wts") {
    return counted(exports::export_wts(*atlas, options.descriptors, target), "descriptors");
  }
  if (format == "cod") {
    return counted(exports::export_cod(*atlas, options.descriptors, target), "descriptors");
  }
  if (format == "somw") {
    return counted(exports::export_somw(*atlas, options.descriptors, target), "descriptors");
  }
  if (format == "bm") {
    return counted(exports::export_bm(*atlas, best_match_orders.at(options.best_matches), target),
                   "articles");
  }
  if (format == "vosviewer") {
    return counted(exports::export_vosviewer(*atlas, target), "regions");
  }
  if (format == "graphml") {
    return counted(exports::export_graphml(*atlas, target), "regions");
  }
  if (format == "sqlite") {
    return counted(exports::export_sqlite(*atlas, target), "cells");
  }
  return write_figure(session, *atlas, options, target);
}

int run(Session& session, const ExportOptions& options) {
  const exports::Target target = options.target(session);
  const Written written = row_formats.contains(options.format)
                              ? write_rows(options, target)
                              : write_atlas(session, options, target);
  if (!written) {  // main turns the signal into the exit code
    session.say(options.output + ": stopped before it was complete; nothing was written");
    return exit_failed;
  }
  session.say(options.output + ": " + *written);
  return exit_done;
}

constexpr const char* what_formats_hold =
    "Of an atlas:\n"
    "  npy        a directory: planes.npy (weights 0 to 16383, [descriptors, side, side]),\n"
    "             descriptors.tsv (ui, name, articles, tree_numbers, in the order of the planes),\n"
    "             cells.npy ([6, side, side]: hits, U-matrix in units of 2^-20, vacant, and the\n"
    "             numbers of region, area and continent), regions.csv, places.tsv (pmid, row,\n"
    "             column, distance of every article), assignment.tsv (pmid, row, column: the "
    "cells\n"
    "             of the training articles that the weights were made from) and meta.json\n"
    "  csv        a line a cell: row, column, hits (training articles in it), height (U-matrix:\n"
    "             mean distance of the cell's weights to those of its up to 8 neighbours; empty\n"
    "             for a vacant cell), descriptor1 to descriptor5 (those that stand out most "
    "against\n"
    "             all articles), lift1 to lift5 (their share of the articles around the cell, "
    "over\n"
    "             that of all), mean_year (of all placed articles), growth (share of the last\n"
    "             five years among them, over that of all), region, area, continent (names)\n"
    "  regions    a table (CSV) with a line a region, area and continent: its number, that of "
    "what\n"
    "             it lies in, its name, the row and column of a cell in its middle, and the same\n"
    "             figures\n"
    "  png, svg   a figure: the map in colours with names, a legend and a caption; in SVG words "
    "are\n"
    "             text and borders lines, for a paper\n"
    "  html       a directory: what `serve` shows, for any web server or to open index.html from\n"
    "             the disk; of planes those of the descriptors that most articles have\n"
    "             (--planes, --descriptors), and with --store the years of a cell's articles\n"
    "  umx        the U-matrix for ESOM Tools and somoclu; vacant cells have 0\n"
    "  wts, cod   weights as text, for ESOM Tools and SOM_PAK; `#n` and UIs say whose they are\n"
    "  bm         the places of all articles for ESOM Tools\n"
    "  somw       a directory: codebook.somw (32-bit floats, [descriptors, side, side], behind 24\n"
    "             bytes) and descriptors.tsv\n"
    "  vosviewer  a directory: map.txt, network.txt, atlas.json: regions, their areas as clusters\n"
    "  graphml    the same network, for Gephi and Cytoscape\n"
    "  sqlite     tables of cells, regions, articles and descriptors, and `labels` to search\n"
    "Of a store, a directory with features.tsv (columns) and articles.tsv (rows) beside it:\n"
    "  mtx        rows.mtx, Matrix Market's coordinates\n"
    "  libsvm     rows.libsvm\n"
    "  sbcsr      rows.sbcsr, binary: 24 bytes, u32 row ends, u16 columns\n"
    "Rows and columns of cells count from 0, from the top left.";

void check(const ExportOptions& options, bool order_given, bool dialect_given) {
  const auto belongs = [&](bool given, const char* what, std::vector<std::string> formats) {
    if (given && std::find(formats.begin(), formats.end(), options.format) == formats.end()) {
      std::string list;
      for (const std::string& format : formats) {
        list += (list.empty() ? "" : ", ") + format;
      }
      throw CLI::ValidationError(std::string(what) + " to --format " + list);
    }
  };
  belongs(!options.layer.empty() || !options.descriptor.empty() || options.labels.has_value() ||
              !options.title.empty() || !options.caption.empty() || !options.articles.empty(),
          "--layer, --descriptor, --labels, --articles, --title and --caption belong",
          {"png", "svg"});
  belongs(options.scale.has_value(), "--scale belongs", {"png"});
  belongs(!options.descriptors.empty(), "--descriptors belongs", {"html", "wts", "cod", "somw"});
  belongs(options.planes.has_value(), "--planes belongs", {"html"});
  belongs(order_given, "--bm-order belongs", {"bm"});
  belongs(dialect_given, "--dialect belongs", {"libsvm"});
  const bool rows = row_formats.contains(options.format);
  if (rows ? options.store.empty() : options.atlas.empty()) {
    throw CLI::RequiredError((rows ? "--store (" : "--atlas (") + options.format +
                             (rows ? " is of a store)" : " is of an atlas)"));
  }
  if (rows ? !options.atlas.empty() : !options.store.empty() && options.format != "html") {
    throw CLI::ValidationError(rows ? "rows are a store's: give --store alone"
                                    : "this is an atlas's: give --atlas alone");
  }
  if (options.output.empty() || options.output == "-") {
    throw CLI::ValidationError(options.output.empty()
                                   ? "OUT is empty: name the file or directory to write"
                                   : "an export is not written to standard output: name the file "
                                     "or directory to write");
  }
  if (options.layer == "plane" && options.descriptor.empty()) {
    throw CLI::ValidationError("--layer plane needs --descriptor");
  }
  if (!options.descriptor.empty() && !options.layer.empty() && options.layer != "plane") {
    throw CLI::ValidationError("--descriptor belongs to --layer plane");
  }
}

}  // namespace

Run define_export(CLI::App& command) {
  auto options = std::make_shared<ExportOptions>();
  add_atlas_option(command, options->atlas);
  add_store_option(command, options->store);
  command
      .add_option("--format", options->format,
                  "npy, csv, regions, png, svg, html, umx, wts, bm, cod, somw, vosviewer, "
                  "graphml or sqlite of an "
                  "atlas; mtx, libsvm or sbcsr of a store (what they hold stands below)")
      ->required()
      ->check(
          CLI::IsMember({"npy", "csv", "regions", "png", "svg", "html", "umx", "wts", "bm", "cod",
                         "somw", "vosviewer", "graphml", "sqlite", "mtx", "libsvm", "sbcsr"}));
  command
      .add_option(
          "--layer", options->layer,
          "png, svg: hits (training articles a cell), umatrix (mean distance to the neighbours: "
          "borders between regions), years (mean publication year), growth (share of the "
          "articles of the last five years against that of all articles), regions (with "
          "their names), or plane (the weights of one descriptor); default: hits, or plane "
          "with --descriptor")
      ->check(CLI::IsMember({"hits", "umatrix", "years", "growth", "regions", "plane"}));
  command
      .add_option(
          "--descriptor", options->descriptor,
          "png, svg: whose plane to draw, by UI, or by the name of the MeSH heading or an entry "
          "word in any case")
      ->type_name("UI|NAME");
  command
      .add_option("--labels", options->labels,
                  "png, svg: at most so many names on the map (default: 24, or 120 with --layer "
                  "regions; none below side 8)")
      ->check(CLI::Range(0, 1000))
      ->type_name("N");
  command
      .add_option("--articles", options->articles,
                  "png, svg: a list of articles to lay over the map as discs, in any form that "
                  "`map` reads: PMIDs, lines of descriptors, MEDLINE XML, .nbib or CSV; - is "
                  "standard input")
      ->type_name("FILE");
  command.add_option("--title", options->title, "png, svg: in place of the layer's own title")
      ->type_name("TEXT")
      ->check(short_enough);
  command
      .add_option("--caption", options->caption,
                  "png, svg: goes before what the atlas says of itself, for instance the corpus "
                  "and its date")
      ->type_name("TEXT")
      ->check(short_enough);
  command
      .add_option("--scale", options->scale,
                  "png: so many times the dots along an edge, for print (default: 1, some 1,150 "
                  "dots)")
      ->check(CLI::Range(1, 8))
      ->type_name("N");
  CLI::Option* descriptors =
      command
          .add_option("--descriptors", options->descriptors,
                      "wts, cod, somw: of these alone, UIs, names or entry words with `;` between "
                      "(default: all); "
                      "html: planes of these")
          ->type_name("LIST");
  command
      .add_option("--planes", options->planes,
                  "html: planes of so many descriptors, those that most articles have (default: " +
                      std::to_string(serve::default_page_planes) +
                      "); each takes up to 21 files, for side 1024 some 0.5 MB")
      ->excludes(descriptors)
      ->type_name("N");
  CLI::Option* order =
      command
          .add_option("--bm-order", options->best_matches,
                      "bm: esom (key, row, column; the default) or somoclu (key, column, row)")
          ->check(CLI::IsMember(best_match_orders));
  CLI::Option* dialect =
      command
          .add_option("--dialect", options->dialect,
                      "libsvm: libsvm (label 0, columns from 1; the default), somoclu (no label, "
                      "columns from 0) or sparse-som (label 0, columns from 0)")
          ->check(CLI::IsMember(dialects));
  command.add_flag("--overwrite", options->overwrite, "Replace an earlier export of that name");
  command.add_option("OUT", options->output, "The file or directory to write")
      ->required()
      ->type_name("");
  command.footer(what_formats_hold);
  command.callback(
      [options, order, dialect] { check(*options, order->count() > 0, dialect->count() > 0); });
  return [options](Session& session) { return run(session, *options); };
}

}  // namespace somatlas::tools
