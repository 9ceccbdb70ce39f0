// somatlas ingest: takes MEDLINE files and descriptor tables into a store.
// Always holds: every record is accounted for in the summary; exit code 1 names every refused file.
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "pipeline/ingest_files.h"
#include "store/store.h"
#include "tools/command.h"
#include "tools/figures.h"

namespace somatlas::tools {

namespace {

using pipeline::IngestSummary;
using pipeline::StoreCensus;

struct Options {
  pipeline::IngestOptions ingest;
  bool no_md5 = false;
  bool json = false;
  bool progress = false;
};

class Observer final : public pipeline::IngestObserver {
 public:
  Observer(Session& session, bool name_commits) : session_(session), name_commits_(name_commits) {}
  void committed(const store::LedgerEntry& entry) override {
    if (name_commits_) {
      session_.say("committed " + entry.key.name);
    }
  }
  void refused(const pipeline::RefusedFile& file) override {
    session_.say("refused: " + file.reason);
  }
  void warning(const std::string& text) override { session_.say("warning: " + text); }
  void progress(std::uint64_t done, std::uint64_t files, std::uint64_t xml_bytes) override {
    if (session_.progress_shown()) {
      session_.progress(std::to_string(done) + " of " + count_of(files, "file") + ", " +
                        size_text(xml_bytes) + " of XML read");
    }
  }

 private:
  Session& session_;
  bool name_commits_;
};

constexpr std::array left_out_names{"no_pmid", "bad_pmid", "too_many_descriptors"};
constexpr std::array left_out_texts{"without a PMID", "with an unusable PMID or version",
                                    "with more than 1023 descriptors"};

nlohmann::ordered_json to_json(const IngestSummary& summary, const StoreCensus* census,
                               const std::string& state_id) {
  nlohmann::ordered_json json{{"files_taken", summary.files_taken},
                              {"files_skipped", summary.files_skipped},
                              {"files_refused", summary.refused.size()},
                              {"citations", summary.citations},
                              {"with_descriptors", summary.with_descriptors},
                              {"deletions", summary.deletions},
                              {"books", summary.books},
                              {"unknown_headings", summary.unknown_headings},
                              {"xml_bytes", summary.xml_bytes},
                              {"descriptors_added", summary.descriptors_added},
                              {"stopped", summary.stopped}};
  for (std::size_t reason = 0; reason < left_out_names.size(); ++reason) {
    json["left_out"][left_out_names[reason]] = summary.left_out[reason];
  }
  json["refused"] = nlohmann::ordered_json::array();
  for (const pipeline::RefusedFile& file : summary.refused) {
    json["refused"].push_back({{"path", file.path}, {"reason", file.reason}});
  }
  if (census != nullptr) {
    json["store"] = {{"state_id", state_id},
                     {"records", census->records},
                     {"kept_with_descriptors", census->articles},
                     {"kept_without_descriptors", census->bare},
                     {"superseded", census->superseded},
                     {"deleted", census->deleted},
                     {"left_out", census->left_out},
                     {"tombstones", census->tombstones}};
  }
  return json;
}

void say_summary(Session& session, const Options& options, const IngestSummary& summary) {
  const char* taken = options.ingest.dry_run ? "Would take " : "Took ";
  session.say(taken + count_of(summary.files_taken, "file") + ", skipped " +
              std::to_string(summary.files_skipped) + " that the store has already, refused " +
              std::to_string(summary.refused.size()) + ".");
  if (summary.descriptors_added != 0) {
    session.say("Read " + count_of(summary.descriptors_added, "descriptor") + " from tables.");
  }
  if (summary.files_taken != 0 && !options.ingest.dry_run) {
    session.say("Read " + count_of(summary.citations, "citation") + ", " +
                std::to_string(summary.with_descriptors) + " with descriptors; " +
                count_of(summary.deletions, "deletion") + "; " + count_of(summary.books, "book") +
                " passed over; " + count_of(summary.unknown_headings, "unknown heading") + ".");
  }
  for (std::size_t reason = 0; reason < left_out_texts.size(); ++reason) {
    if (summary.left_out[reason] != 0) {
      session.say("Left out " + count_of(summary.left_out[reason], "record") + " " +
                  left_out_texts[reason] + ".");
    }
  }
}

void say_census(Session& session, const StoreCensus& census) {
  session.say("The store accounts for " + count_of(census.records, "record") + " = " +
              std::to_string(census.articles) + " kept with descriptors + " +
              std::to_string(census.bare) + " kept without + " + std::to_string(census.superseded) +
              " superseded + " + std::to_string(census.deleted) + " deleted + " +
              std::to_string(census.left_out) + " left out.");
}

int ingest(Session& session, const Options& options) {
  if (options.progress) {
    session.want_progress();
  }
  Observer observer(session, options.progress);
  pipeline::IngestOptions ingest = options.ingest;
  ingest.check_md5 = !options.no_md5;
  ingest.stop = session.stop_token();
  const IngestSummary summary = pipeline::ingest_files(ingest, observer);
  say_summary(session, options, summary);

  StoreCensus census;
  std::string state_id;
  std::error_code error;
  const bool have_census =
      !summary.stopped && std::filesystem::exists(ingest.store_directory, error);
  if (have_census) {
    const auto store = store::Store::open(ingest.store_directory, store::Store::Access::read);
    census = pipeline::take_census(*store);
    state_id = store->state_id();
    say_census(session, census);
    if (summary.unknown_headings != 0 && store->descriptors().empty()) {
      session.say(
          "The store has no MeSH table, so headings given by name alone are lost: make it "
          "anew with --mesh, for instance with NLM's descYYYY.xml.");
    }
  }
  if (options.json) {
    session.out() << to_json(summary, have_census ? &census : nullptr, state_id)
                         .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                  << '\n';
  }
  if (summary.stopped) {
    session.say("Stopped when asked to; the same command goes on with the files that are left.");
  }
  if (!summary.refused.empty()) {
    std::string names;
    for (const pipeline::RefusedFile& file : summary.refused) {
      names += (names.empty() ? "" : ", ") + file.path;
    }
    session.say("Refused: " + names + ".");
    return exit_failed;
  }
  return exit_done;
}

}  // namespace

Run define_ingest(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_store_option(command, options->ingest.store_directory)->required();
  command
      .add_option("FILE", options->ingest.inputs,
                  "MEDLINE XML, plain or gzip; of a directory, its *.xml and *.xml.gz, not those "
                  "of folders in it")
      ->type_name("");
  command
      .add_option("--mesh", options->ingest.mesh,
                  "A MeSH table, which files that give headings by name need: descYYYY.xml, a TSV "
                  "of UI, name, tree numbers, or mtreesYYYY.bin; "
                  "may be given several times")
      ->allow_extra_args(false)
      ->type_name("TABLE");
  command.add_flag("--no-md5", options->no_md5, "Do not compare files with their .md5 companions");
  command.add_flag("--dry-run", options->ingest.dry_run,
                   "Say how many files would be taken, and take none");
  add_threads_option(command, options->ingest.threads);
  add_json_option(command, options->json);
  add_progress_option(command, options->progress);
  command.callback([options] {
    if (options->ingest.inputs.empty() && options->ingest.mesh.empty()) {
      throw CLI::RequiredError("FILE or --mesh");
    }
  });
  return [options](Session& session) { return ingest(session, *options); };
}

}  // namespace somatlas::tools
