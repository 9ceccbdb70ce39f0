// somatlas export: a finished atlas as NPY arrays, CSV, or a picture.
#include <map>
#include <memory>

#include "tools/command.h"
#include "tools/export/atlas_export.h"

namespace somatlas::tools {
namespace {

struct ExportOptions {
  std::string atlas;
  std::string format;
  std::string output;
  std::string layer;
  std::string descriptor;
  std::size_t labels = 0;
  bool overwrite = false;
};

const std::map<std::string, exports::Layer> layers{
    {"hits", exports::Layer::hits},       {"umatrix", exports::Layer::umatrix},
    {"years", exports::Layer::years},     {"growth", exports::Layer::growth},
    {"regions", exports::Layer::regions}, {"plane", exports::Layer::plane}};

// Main turns the signal into the exit code.
int stopped(Session& session, const ExportOptions& options) {
  session.say(options.output + ": stopped before it was complete; nothing was written");
  return exit_failed;
}

int run(Session& session, const ExportOptions& options, bool labels_given) {
  const std::unique_ptr<store::Atlas> atlas =
      store::Atlas::open(options.atlas, store::Atlas::Access::read);
  const exports::Existing existing =
      options.overwrite ? exports::Existing::replace : exports::Existing::refuse;
  if (options.format == "npy") {
    const auto summary =
        exports::export_npy(*atlas, options.output, existing, session.stop_token());
    if (!summary) {
      return stopped(session, options);
    }
    session.say(options.output + ": planes of " + std::to_string(summary->descriptors) +
                " descriptors, the assignment of " + std::to_string(summary->assigned) +
                " training articles, the places of " + std::to_string(summary->placed) +
                " articles; without a place: " + std::to_string(summary->unplaced));
    return exit_done;
  }
  if (options.format == "csv") {
    const auto cells = exports::export_csv(*atlas, options.output, existing, session.stop_token());
    if (!cells) {
      return stopped(session, options);
    }
    session.say(options.output + ": " + std::to_string(*cells) + " cells");
    return exit_done;
  }
  if (options.format == "regions") {
    const auto rows =
        exports::export_regions(*atlas, options.output, existing, session.stop_token());
    if (!rows) {
      return stopped(session, options);
    }
    session.say(options.output + ": " + std::to_string(*rows) + " regions, areas and continents");
    return exit_done;
  }
  exports::FigureRequest request;
  const std::string layer = !options.layer.empty()        ? options.layer
                            : !options.descriptor.empty() ? "plane"
                                                          : "hits";
  request.layer = layers.at(layer);
  request.descriptor = options.descriptor;
  if (labels_given) {
    request.label_count = options.labels;
  }
  if (!exports::export_png(*atlas, request, options.output, existing, session.stop_token())) {
    return stopped(session, options);
  }
  session.say(options.output + ": a picture of " +
              (request.layer == exports::Layer::plane ? "the plane of " + options.descriptor
                                                      : "the layer " + layer));
  return exit_done;
}

}  // namespace

Run define_export(CLI::App& command) {
  auto options = std::make_shared<ExportOptions>();
  add_atlas_option(command, options->atlas)->required();
  command
      .add_option("--format", options->format,
                  "npy: a directory of arrays and tables; csv: a table of the cells; regions: a "
                  "table of the regions (CSV); png: a picture (what they hold stands below)")
      ->required()
      ->check(CLI::IsMember({"npy", "csv", "regions", "png"}));
  command
      .add_option("--layer", options->layer,
                  "png: hits (training articles a cell), umatrix (mean distance to the neighbours: "
                  "borders between regions), years (mean publication year), growth (share of the "
                  "articles of the last five years against that of all articles), regions (with "
                  "their names), or plane (the weights "
                  "of one descriptor); default: hits, or plane with --descriptor")
      ->check(CLI::IsMember({"hits", "umatrix", "years", "growth", "regions", "plane"}));
  command
      .add_option("--descriptor", options->descriptor,
                  "png: whose plane to draw, by UI or by the name of the MeSH heading in any case")
      ->type_name("UI|NAME");
  CLI::Option* labels =
      command
          .add_option("--labels", options->labels,
                      "png: at most so many names on the map (default: 24 from side 16 on, else 0)")
          ->check(CLI::Range(0, 1000))
          ->type_name("N");
  command.add_flag("--overwrite", options->overwrite, "Replace an earlier export of that name");
  command.add_option("OUT", options->output, "The directory (npy) or file to write")
      ->required()
      ->type_name("");
  command.footer(
      "csv has a line a cell: row, column, hits (training articles in it), height (U-matrix: mean\n"
      "distance of the cell's weights to those of its up to 8 neighbours; empty for a vacant "
      "cell),\n"
      "descriptor1 to descriptor5 (those that stand out most against all articles), lift1 to "
      "lift5\n"
      "(their share of the articles around the cell, over that of all), mean_year, growth (share "
      "of\n"
      "the articles of the last five years, over that of all), region, area, continent (names).\n"
      "regions has a line a region, area and continent: its number, that of what it lies in, its\n"
      "name, the row and column of a cell in its middle, and the same figures.\n"
      "npy holds planes.npy (weights 0 to 16383, [descriptors, side, side]), descriptors.tsv (ui,\n"
      "name, articles, tree_numbers, in the order of the planes), cells.npy ([6, side, side]: "
      "hits,\n"
      "U-matrix in units of 2^-20, vacant, and the numbers of region, area and continent),\n"
      "regions.csv, places.tsv (pmid, row, column,\n"
      "distance of every article), assignment.tsv (pmid, row, column: the cells of the training\n"
      "articles that the weights were made from) and meta.json. Rows and columns count from 0, "
      "from the top left.");
  command.callback([options, labels] {
    const bool picture_options =
        !options->layer.empty() || !options->descriptor.empty() || labels->count() > 0;
    if (options->format != "png" && picture_options) {
      throw CLI::ValidationError("--layer, --descriptor and --labels belong to --format png");
    }
    if (options->layer == "plane" && options->descriptor.empty()) {
      throw CLI::ValidationError("--layer plane needs --descriptor");
    }
    if (!options->descriptor.empty() && !options->layer.empty() && options->layer != "plane") {
      throw CLI::ValidationError("--descriptor belongs to --layer plane");
    }
  });
  return
      [options, labels](Session& session) { return run(session, *options, labels->count() > 0); };
}

}  // namespace somatlas::tools
