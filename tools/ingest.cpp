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
#include "tools/export/delimited.h"
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

const char* plan_name(pipeline::FilePlan plan) {
  switch (plan) {
    case pipeline::FilePlan::take:
      return "take";
    case pipeline::FilePlan::take_again:
      return "take again";
    case pipeline::FilePlan::skip:
      return "skip";
  }
  return "?";
}

class Observer final : public pipeline::IngestObserver {
 public:
  Observer(Session& session, const Options& options) : session_(session), options_(options) {}
  void committed(const store::LedgerEntry& entry) override {
    if (options_.progress) {
      session_.say("committed " + exports::tsv_field(entry.key.name));
    }
  }
  void refused(const pipeline::RefusedFile& file) override {
    session_.say("refused: " + file.reason);
  }
  void warning(const std::string& text) override { session_.say("warning: " + text); }
  void progress(const pipeline::IngestProgress& now) override {
    if (!session_.progress_shown() ||
        (now.files_done == shown_.files_done && now.seconds < shown_.seconds + least_seconds)) {
      return;
    }
    shown_ = now;
    std::string text = std::to_string(now.files_done) + " of " + count_of(now.files, "file") +
                       ", " + count_of(now.citations, "citation");
    if (now.seconds > 0 && now.file_bytes_read != 0) {
      const double left = now.seconds * static_cast<double>(now.file_bytes - now.file_bytes_read) /
                          static_cast<double>(now.file_bytes_read);
      text += ", " + fixed(static_cast<double>(now.xml_bytes) / 1e6 / now.seconds, 0) +
              " MB/s of XML, " + time_text(left) + " left";
    }
    session_.progress(text);
  }
  void planned(const std::string& path, pipeline::FilePlan plan) override {
    if (options_.json) {
      plans_.push_back({{"path", path}, {"plan", plan_name(plan)}});
    } else {
      session_.out() << plan_name(plan) << '\t' << exports::tsv_field(path) << '\n';
    }
  }
  /// Of a dry run whose result is JSON.
  [[nodiscard]] const nlohmann::ordered_json& plans() const { return plans_; }

 private:
  static constexpr double least_seconds = 0.5;  // between two lines of the same number of files

  Session& session_;
  const Options& options_;
  pipeline::IngestProgress shown_;
  nlohmann::ordered_json plans_ = nlohmann::ordered_json::array();
};

constexpr std::array left_out_names{"no_pmid", "bad_pmid", "too_many_descriptors"};
constexpr std::array left_out_texts{"without a PMID", "with an unusable PMID or version",
                                    "with more than 1023 descriptors"};

nlohmann::ordered_json to_json(bool dry_run, const IngestSummary& summary,
                               const StoreCensus* census, const std::string& state_id) {
  nlohmann::ordered_json json{{"dry_run", dry_run},
                              {"files_taken", summary.files_taken},
                              {"files_changed", summary.files_changed},
                              {"files_skipped", summary.files_skipped},
                              {"files_refused", summary.refused.size()},
                              {"citations", summary.citations},
                              {"with_descriptors", summary.with_descriptors},
                              {"revised", nullptr},
                              {"deletions", summary.deletions},
                              {"deleted", nullptr},
                              {"books", summary.books},
                              {"unknown_headings", summary.unknown_headings},
                              {"xml_bytes", summary.xml_bytes},
                              {"descriptors_added", summary.descriptors_added},
                              {"mesh",
                               {{"new", summary.mesh.added},
                                {"renamed", summary.mesh.renamed},
                                {"moved", summary.mesh.moved},
                                {"unchanged", summary.mesh.unchanged},
                                {"entry_words", summary.mesh.entry_words},
                                {"tree_numbers_added", summary.mesh.tree_numbers},
                                {"tree_names_unknown", summary.mesh.unknown_names}}},
                              {"mesh_changes",
                               {{"lists_taken", summary.mesh_changes.lists_taken},
                                {"lists_known", summary.mesh_changes.lists_known},
                                {"lists_taken_back", summary.mesh_changes.lists_taken_back},
                                {"renamed", summary.mesh_changes.renamed},
                                {"merged", summary.mesh_changes.merged},
                                {"removed", summary.mesh_changes.removed}}},
                              {"stopped", summary.stopped}};
  for (std::size_t reason = 0; reason < left_out_names.size(); ++reason) {
    json["left_out"][left_out_names[reason]] = summary.left_out[reason];
  }
  json["refused"] = nlohmann::ordered_json::array();
  for (const pipeline::RefusedFile& file : summary.refused) {
    json["refused"].push_back({{"path", file.path}, {"reason", file.reason}});
  }
  if (census != nullptr) {
    json["revised"] = census->revised;
    json["deleted"] = census->deleted_here;
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

// A dry run has not looked into the files: what is in them is unknown, not nothing.
void forget_what_is_unread(nlohmann::ordered_json& json) {
  for (const char* figure : {"citations", "with_descriptors", "revised", "deletions", "deleted",
                             "books", "unknown_headings", "xml_bytes", "left_out"}) {
    json[figure] = nullptr;
  }
}

void say_mesh_changes(Session& session, const pipeline::MeshChangeCounts& counts, bool dry) {
  if (counts.lists_taken_back + counts.lists_known + counts.lists_taken == 0) {
    session.say("The store has no lists of changed descriptors to take back.");
  }
  if (counts.lists_taken_back != 0) {
    session.say((dry ? "Would take back " : "Took back ") +
                count_of(counts.lists_taken_back, "list") + " of changed descriptors.");
  }
  if (counts.lists_known != 0) {
    session.say("Passed over " + count_of(counts.lists_known, "list") +
                " of changed descriptors that the store has already.");
  }
  if (counts.lists_taken != 0) {
    session.say((dry ? "Would take " : "Took ") + count_of(counts.lists_taken, "list") +
                " of changed descriptors: " + std::to_string(counts.merged) + " merged, " +
                std::to_string(counts.removed) + " removed, " + std::to_string(counts.renamed) +
                " renamed; info says what they touch.");
  }
}

void say_summary(Session& session, const Options& options, const IngestSummary& summary) {
  const bool dry = options.ingest.dry_run;
  const std::string changed =
      summary.files_changed == 0
          ? ""
          : " (" + std::to_string(summary.files_changed) + " again with a changed text)";
  session.say((dry ? "Would take " : "Took ") + count_of(summary.files_taken, "file") + changed +
              (dry ? ", skip " : ", skipped ") + std::to_string(summary.files_skipped) +
              " that the store has already, " + (dry ? "refuse " : "refused ") +
              std::to_string(summary.refused.size()) + ".");
  if (summary.descriptors_added != 0) {
    session.say("Read " + count_of(summary.descriptors_added, "descriptor") +
                " from tables: " + std::to_string(summary.mesh.added) + " new, " +
                std::to_string(summary.mesh.renamed) + " renamed, " +
                std::to_string(summary.mesh.moved) + " with other tree numbers, " +
                std::to_string(summary.mesh.unchanged) + " unchanged" +
                (summary.mesh.entry_words == 0
                     ? "."
                     : "; " + count_of(summary.mesh.entry_words, "entry word") + " of them."));
  }
  if (summary.mesh.tree_names != 0) {
    session.say("Read the tree numbers of " + count_of(summary.mesh.tree_names, "name") +
                " from tables: " + std::to_string(summary.mesh.tree_numbers) +
                " added to those that descriptors had, " +
                count_of(summary.mesh.unknown_names, "name") + " passed over.");
  }
  if (!options.ingest.mesh_changes.empty()) {
    say_mesh_changes(session, summary.mesh_changes, dry);
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

// Whether headings can be found now that could not before.
bool learnt_names(const IngestSummary& summary) {
  return summary.mesh.added + summary.mesh.renamed + summary.mesh_changes.lists_taken != 0;
}

int ingest(Session& session, const Options& options) {
  if (options.progress) {
    session.want_progress();
  }
  Observer observer(session, options);
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
    census = pipeline::take_census(*store, summary.keys_taken);
    state_id = store->state_id();
    if (!summary.keys_taken.empty()) {
      session.say(std::string(summary.files_taken == 1 ? "This file" : "These files") +
                  " revised " + count_of(census.revised, "article") + " and deleted " +
                  std::to_string(census.deleted_here) + ".");
    }
    say_census(session, census);
    if (summary.unknown_headings != 0 && store->descriptors_as_filed().empty()) {
      session.say(
          "The store has no MeSH table, so headings given by name alone are lost: make it "
          "anew with --mesh, for instance with NLM's descYYYY.xml.");
    }
    const std::uint64_t unknown_earlier = census.unknown_headings - summary.unknown_headings;
    if (unknown_earlier != 0 && learnt_names(summary) && !ingest.dry_run) {
      session.say("Files taken earlier had " + count_of(unknown_earlier, "heading") +
                  " by names unknown then, which their articles still lack: where the names are "
                  "known now, make the store anew to have them.");
    }
  }
  if (options.json) {
    nlohmann::ordered_json json =
        to_json(ingest.dry_run, summary, have_census ? &census : nullptr, state_id);
    if (ingest.dry_run) {
      forget_what_is_unread(json);
      json["plan"] = observer.plans();
    }
    session.out() << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                  << '\n';
  }
  if (summary.stopped) {
    session.say("Stopped when asked to; the same command goes on with the files that are left.");
  }
  if (!summary.refused.empty()) {
    std::string names;
    for (const pipeline::RefusedFile& file : summary.refused) {
      names += (names.empty() ? "" : ", ") + exports::tsv_field(file.path);
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
                  "of UI, name, tree numbers, gzip too; or mtreesYYYY.bin, whose tree numbers are "
                  "added to those of the descriptors of that name. Entry words, by which the "
                  "viewer, map and export find descriptors too, are in descYYYY.xml alone. May be "
                  "given several times")
      ->allow_extra_args(false)
      ->type_name("TABLE");
  command
      .add_option("--mesh-changes", options->ingest.mesh_changes,
                  "A list of changed descriptors between two MeSH years, a TSV with the columns "
                  "change (renamed, merged, removed), ui_YYYY, name_YYYY, ui_YYYY, name_YYYY: "
                  "articles are read with what their descriptors have become; the store keeps "
                  "them as filed. May be given several times; later lists are put on top, and "
                  "`none` takes all lists before it back")
      ->allow_extra_args(false)
      ->type_name("LIST");
  command.add_flag(
      "--no-md5", options->no_md5,
      "Do not compare files with their .md5 companions; without this, a file whose size "
      "and companion are those of one that the store has is skipped unread");
  command.add_flag("--dry-run", options->ingest.dry_run,
                   "Print a line a file: take, skip (the store has it) or take again (its text has "
                   "changed), and change nothing; what is wrong inside a new file is not seen");
  add_threads_option(command, options->ingest.threads);
  add_json_option(command, options->json);
  add_progress_option(command, options->progress);
  command.callback([options] {
    if (options->ingest.inputs.empty() && options->ingest.mesh.empty() &&
        options->ingest.mesh_changes.empty()) {
      throw CLI::RequiredError("FILE, --mesh or --mesh-changes");
    }
  });
  return [options](Session& session) { return ingest(session, *options); };
}

}  // namespace somatlas::tools
