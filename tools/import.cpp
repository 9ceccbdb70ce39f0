// somatlas import: rows of other programs' files into a store.
#include <map>
#include <memory>

#include "tools/command.h"
#include "tools/import/row_import.h"

namespace somatlas::tools {
namespace {

struct ImportOptions {
  std::string store;
  std::string format;
  std::string dialect = "libsvm";
  imports::RowInput input;
};

const std::map<std::string, exports::RowFormat> row_formats{
    {"mtx", exports::RowFormat::matrix_market},
    {"libsvm", exports::RowFormat::libsvm},
    {"sbcsr", exports::RowFormat::sbcsr}};
const std::map<std::string, exports::LibsvmDialect> dialects{
    {"libsvm", exports::LibsvmDialect::libsvm},
    {"somoclu", exports::LibsvmDialect::somoclu},
    {"sparse-som", exports::LibsvmDialect::sparse_som}};

int run(Session& session, ImportOptions& options) {
  options.input.format = row_formats.at(options.format);
  options.input.dialect = dialects.at(options.dialect);
  const auto store = store::Store::open(options.store, store::Store::Access::create);
  const auto result = imports::import_rows(*store, options.input, session.stop_token());
  if (!result) {  // main turns the signal into the exit code
    session.say(options.input.path + ": stopped; the same command goes on with what is left");
    return exit_failed;
  }
  session.say(options.store + ": " + std::to_string(result->rows) + " rows of " +
              std::to_string(result->features) + " features with " +
              std::to_string(result->nonzeros) +
              " ones; without any: " + std::to_string(result->empty_rows));
  return exit_done;
}

}  // namespace

Run define_import(CLI::App& command) {
  auto options = std::make_shared<ImportOptions>();
  add_store_option(command, options->store)->required();
  command
      .add_option("--format", options->format,
                  "mtx (Matrix Market), libsvm, or sbcsr: rows of a sparse binary matrix")
      ->required()
      ->check(CLI::IsMember(row_formats));
  CLI::Option* dialect =
      command
          .add_option("--dialect", options->dialect,
                      "libsvm: libsvm (a label first, columns from 1; the default), somoclu (no "
                      "label, columns from 0) or sparse-som (a label first, columns from 0)")
          ->check(CLI::IsMember(dialects));
  command
      .add_option("--features", options->input.features,
                  "What columns are: a name a line, or a table that begins with the columns ui, "
                  "name, as export writes it")
      ->check(CLI::ExistingFile.description(""))
      ->type_name("FILE");
  CLI::Option* articles =
      command
          .add_option("--articles", options->input.articles,
                      "What rows are: a table of the columns pmid, version, year")
          ->check(CLI::ExistingFile.description(""))
          ->type_name("FILE");
  command
      .add_option("--first-number", options->input.first_number,
                  "The number of the first row, without --articles")
      ->capture_default_str()
      ->check(CLI::Range(1U, 0xFFFF'FFFFU).description(""))
      ->excludes(articles)
      ->type_name("N");
  command.add_option("IN", options->input.path, "The file to read; text may be gzip")
      ->required()
      ->type_name("");
  command.footer(
      "Rows become articles, numbered from 1, and columns descriptors, so that all other commands\n"
      "work on them. A column without a UI gets one that MeSH does not use: D9 and its number, "
      "from\n"
      "0, in eight digits. Values must be 1, columns must ascend, and of mtx rows too. The store\n"
      "is to be a new one. Rows with few columns train only with `train --min-descriptors 1`.");
  command.callback([options, dialect] {
    if (dialect->count() > 0 && options->format != "libsvm") {
      throw CLI::ValidationError("--dialect belongs to --format libsvm");
    }
  });
  return [options](Session& session) { return run(session, *options); };
}

}  // namespace somatlas::tools
