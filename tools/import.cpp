// somatlas import: rows of other programs' files into a store, and maps that they trained into an
// atlas.
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "pipeline/training.h"
#include "pipeline/worker_threads.h"
#include "tools/command.h"
#include "tools/figures.h"
#include "tools/import/map_import.h"
#include "tools/import/row_import.h"
#include "tools/training_options.h"

namespace somatlas::tools {
namespace {

struct ImportOptions {
  std::string store;
  std::string atlas;
  std::string format;
  std::string path;
  std::string dialect = "libsvm";
  std::string order;
  std::string features;
  std::string articles;
  std::string heights;
  std::uint32_t first_number = 1;
  CLI::Option* first_number_given = nullptr;
  TrainingArguments training;
  bool overwrite = false;
};

const std::map<std::string, exports::RowFormat> row_formats{
    {"mtx", exports::RowFormat::matrix_market},
    {"libsvm", exports::RowFormat::libsvm},
    {"sbcsr", exports::RowFormat::sbcsr}};
const std::map<std::string, imports::MapFormat> map_formats{{"wts", imports::MapFormat::wts},
                                                            {"cod", imports::MapFormat::cod},
                                                            {"somw", imports::MapFormat::somw},
                                                            {"npy", imports::MapFormat::npy},
                                                            {"bm", imports::MapFormat::bm}};
const std::map<std::string, exports::LibsvmDialect> dialects{
    {"libsvm", exports::LibsvmDialect::libsvm},
    {"somoclu", exports::LibsvmDialect::somoclu},
    {"sparse-som", exports::LibsvmDialect::sparse_som}};
const std::map<std::string, exports::BestMatchOrder> best_match_orders{
    {"esom", exports::BestMatchOrder::esom}, {"somoclu", exports::BestMatchOrder::somoclu}};

int import_rows(Session& session, const ImportOptions& options) {
  imports::RowInput input;
  input.path = options.path;
  input.format = row_formats.at(options.format);
  input.dialect = dialects.at(options.dialect);
  input.features = options.features;
  input.articles = options.articles;
  input.first_number = options.first_number;
  const auto store = store::Store::open(options.store, store::Store::Access::fill);
  const auto result = imports::import_rows(*store, input, session.stop_token());
  if (!result) {  // main turns the signal into the exit code
    session.say(input.path + ": stopped; the same command goes on with what is left");
    return exit_failed;
  }
  session.say(options.store + ": " + std::to_string(result->rows) + " rows of " +
              std::to_string(result->features) + " features with " +
              std::to_string(result->nonzeros) +
              " ones; without any: " + std::to_string(result->empty_rows));
  return exit_done;
}

/// What is said while articles are placed in a map.
class Observer final : public pipeline::TrainingObserver {
 public:
  explicit Observer(Session& session) : session_(session) {}
  void plan(const pipeline::MemoryPlan&) override {}
  void epoch(const pipeline::EpochFigures&) override {}
  void checkpoint(std::uint32_t) override {}
  void changes(const pipeline::ArticleChanges&) override {}
  void note(const std::string& text) override { session_.say(text); }
  void progress(std::uint64_t rows, std::uint64_t of) override { session_.pass_progress(rows, of); }

 private:
  Session& session_;
};

/// In which order best matches were read, which no number in the file can gainsay on a square map,
/// and whether its header looks like the other program's.
std::string order_taken(const imports::MapInput& input, bool of_somoclu) {
  const bool esom = input.order == exports::BestMatchOrder::esom;
  const std::string other = esom ? "somoclu" : "esom";
  std::string text = input.path + ": read as key, " + (esom ? "row, column" : "column, row") +
                     " (--bm-order " + (esom ? "esom" : "somoclu") + ")";
  if (of_somoclu == esom) {
    text += "; its first line looks like " + std::string(esom ? "somoclu's" : "ESOM Tools'") +
            ", so if that wrote it, import again with --bm-order " + other +
            ": rows and columns are exchanged otherwise";
  }
  return text;
}

int import_map(Session& session, const ImportOptions& options) {
  imports::MapInput input;
  input.path = options.path;
  input.format = map_formats.at(options.format);
  input.features = options.features;
  input.heights = options.heights;
  input.articles = options.articles;
  if (!options.order.empty()) {
    input.order = best_match_orders.at(options.order);
  }
  if (options.first_number_given->count() != 0) {
    input.first_number = options.first_number;
  }
  pipeline::TrainingOptions training = options.training.options();
  pipeline::require_threads(training.threads);
  const imports::MapOfStore map =
      imports::read_map(*store::Store::open(options.store, store::Store::Access::read), input);
  training.store_directory = options.store;
  training.atlas_directory = options.atlas;
  training.overwrite = options.overwrite;
  training.imported = map.imported();
  training.stop = session.stop_token();
  if (input.format == imports::MapFormat::bm) {
    session.say(order_taken(input, map.of_somoclu));
  }
  Observer observer(session);
  const pipeline::TrainingResult result = pipeline::train(training, observer);
  if (result.stopped) {  // main turns the signal into the exit code
    session.say(options.atlas + ": stopped before it was complete; nothing was written");
    return exit_failed;
  }
  const pipeline::AtlasMeta& meta = result.meta;
  session.say(options.atlas + ": a map of side " + std::to_string(meta.settings.side) + " with " +
              count_of(meta.descriptors, "descriptor") + "; " +
              count_of(meta.placed_articles, "article") + " placed; QE " +
              fixed(meta.quality.qe, 5) + ", held-out QE " + fixed(meta.quality.heldout_qe, 5) +
              ", topographic error " + fixed(meta.quality.topographic_error, 5));
  return exit_done;
}

constexpr const char* what_is_read =
    "Rows (mtx, libsvm, sbcsr) go into a new store: they become articles, numbered from 1, and\n"
    "columns descriptors, so that all other commands work on them. A column without a UI gets one\n"
    "that MeSH does not use: D9 and its number, from 0, in eight digits. Values must be 1, "
    "columns\n"
    "must ascend, and of mtx rows too. Rows with few columns train only with\n"
    "`train --min-descriptors 1`.\n"
    "\n"
    "Maps (wts, cod, somw, npy, bm) become a new atlas (--atlas) of the store's articles, which\n"
    "are placed in it. `train --from` goes on from it. Weights lie from 0 to 1 and are rounded to\n"
    "16384 steps; planes are the store's descriptors, by UI or name, which the file says itself\n"
    "(#n) or --features does. Neurons whose weights are all 0 are vacant. bm: the map is that\n"
    "which articles at these places give with --radius-end; the order is said, and where the "
    "first\n"
    "line looks like the other program's (`%k l` somoclu's, `% k l` ESOM's), that too. Maps are "
    "square, with borders.";

void check(const ImportOptions& options, const CLI::Option* dialect,
           const std::vector<CLI::Option*>& of_maps) {
  const bool rows = row_formats.contains(options.format);
  if (rows) {
    for (const CLI::Option* option : of_maps) {
      if (option->count() > 0) {
        throw CLI::ValidationError(option->get_name() + " belongs to maps: --format " +
                                   "wts, cod, somw, npy, bm");
      }
    }
  } else if (options.atlas.empty()) {
    throw CLI::RequiredError("--atlas");
  }
  if (dialect->count() > 0 && options.format != "libsvm") {
    throw CLI::ValidationError("--dialect belongs to --format libsvm");
  }
  const bool best_matches = options.format == "bm";
  if (best_matches && options.order.empty()) {
    throw CLI::ValidationError(
        "--format bm needs --bm-order esom or somoclu: nothing in the file "
        "tells rows from columns");
  }
  if (!best_matches && !options.order.empty()) {
    throw CLI::ValidationError("--bm-order belongs to --format bm");
  }
  if (best_matches && !options.features.empty()) {
    throw CLI::ValidationError("--features belongs to rows and codebooks");
  }
  if (!rows && !best_matches &&
      (!options.articles.empty() || options.first_number_given->count() > 0)) {
    throw CLI::ValidationError("--articles and --first-number belong to rows and best matches");
  }
}

}  // namespace

Run define_import(CLI::App& command) {
  auto options = std::make_shared<ImportOptions>();
  add_store_option(command, options->store)->required();
  std::vector<CLI::Option*> of_maps;
  of_maps.push_back(add_atlas_option(command, options->atlas));
  command
      .add_option("--format", options->format,
                  "Rows of a sparse binary matrix: mtx (Matrix Market), libsvm or sbcsr; a "
                  "codebook: wts (ESOM, somoclu), cod (SOM_PAK), somw or npy; best matches: bm")
      ->required()
      ->check(CLI::IsMember({"mtx", "libsvm", "sbcsr", "wts", "cod", "somw", "npy", "bm"}));
  CLI::Option* dialect =
      command
          .add_option("--dialect", options->dialect,
                      "libsvm: libsvm (a label first, columns from 1; the default), somoclu (no "
                      "label, columns from 0) or sparse-som (a label first, columns from 0)")
          ->check(CLI::IsMember(dialects));
  command
      .add_option("--bm-order", options->order,
                  "bm: esom (key, row, column) or somoclu (key, column, row)")
      ->check(CLI::IsMember(best_match_orders));
  command
      .add_option("--features", options->features,
                  "What columns or planes are: a name a line, or a table that begins with the "
                  "columns ui, name, as export writes it")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  CLI::Option* articles =
      command
          .add_option("--articles", options->articles,
                      "What rows are: a table of the columns pmid, version, year; bm: a key is a "
                      "row's number, from 0")
          ->check(CLI::ExistingFile.description(""))
          ->type_name("FILE");
  options->first_number_given =
      command
          .add_option("--first-number", options->first_number,
                      "The number of the first row, without --articles; bm: of the article whose "
                      "key is 0 (default: keys are the articles' numbers)")
          ->capture_default_str()
          ->check(CLI::Range(1U, 0xFFFF'FFFFU).description(""))
          ->excludes(articles)
          ->type_name("N");
  of_maps.push_back(command
                        .add_option("--heights", options->heights,
                                    "A .umx file whose heights are shown in place of the U-matrix")
                        ->check(CLI::ExistingFile.description(""))
                        ->type_name("FILE"));
  for (CLI::Option* option : add_placing_options(command, options->training)) {
    of_maps.push_back(option);
  }
  of_maps.push_back(
      command.add_flag("--overwrite", options->overwrite, "Replace an atlas of that name"));
  command.add_option("IN", options->path, "The file to read; text may be gzip")
      ->required()
      ->type_name("");
  command.footer(what_is_read);
  command.callback([options, dialect, of_maps] { check(*options, dialect, of_maps); });
  return [options](Session& session) {
    return row_formats.contains(options->format) ? import_rows(session, *options)
                                                 : import_map(session, *options);
  };
}

}  // namespace somatlas::tools
