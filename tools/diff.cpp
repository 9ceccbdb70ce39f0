// somatlas diff: what became of the regions and topics of one atlas on a later one. Always holds:
// the report says what the two are matched by, and that rows and columns compare only where one map
// went on from the other.
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "pipeline/atlas_diff.h"
#include "store/store_error.h"
#include "tools/command.h"
#include "tools/diff_report.h"
#include "tools/figures.h"

namespace somatlas::tools {
namespace {

struct DiffOptions {
  std::string before;
  std::string after;
  std::string level = "regions";
  std::string match = "auto";
  std::string csv;
  std::uint64_t least_articles = 20;
  std::size_t most = 10;
  bool json = false;
  bool progress = false;
};

const std::map<std::string, std::size_t> levels{{"regions", 0}, {"areas", 1}, {"continents", 2}};
const std::map<std::string, std::optional<pipeline::MatchBy>> matches{
    {"auto", std::nullopt},
    {"articles", pipeline::MatchBy::articles},
    {"weights", pipeline::MatchBy::likeness}};

int run(Session& session, const DiffOptions& options) {
  const auto before = store::Atlas::open(options.before, store::Atlas::Access::read);
  std::error_code missing;  // the second is opened below, which says what is wrong with it
  if (std::filesystem::equivalent(options.before, options.after, missing)) {
    throw store::StoreError(options.after + ": is the same atlas as " + options.before +
                            "; name two, the earlier first");
  }
  const auto after = store::Atlas::open(options.after, store::Atlas::Access::read);
  if (options.progress) {
    session.want_progress();
  }
  pipeline::DiffRequest request;
  request.level = levels.at(options.level);
  request.by = matches.at(options.match);
  request.least_articles = options.least_articles;
  const std::stop_token stop = session.stop_token();
  request.progress = [&](double share) {
    session.progress("comparing planes: " + fixed(100 * share, 0) + " %");
    return !stop.stop_requested();
  };
  const auto diff = pipeline::diff_atlases(*before, *after, request);
  session.progress("");
  if (!diff) {  // main turns the signal into the exit code
    session.say("stopped before the atlases were compared");
    return exit_failed;
  }
  const DiffReport report(*diff, *before, *after, request.level, options.most);
  if (options.csv == "regions") {
    report.print_regions(session.out());
  } else if (options.csv == "topics") {
    report.print_topics(session.out());
  } else if (options.json) {
    report.print_json(session.out());
  } else {
    report.print(session.out());
  }
  return exit_done;
}

}  // namespace

Run define_diff(CLI::App& command) {
  auto options = std::make_shared<DiffOptions>();
  command.add_option("BEFORE", options->before, "The earlier atlas, a directory")
      ->required()
      ->type_name("");
  command.add_option("AFTER", options->after, "The later atlas, a directory")
      ->required()
      ->type_name("");
  command
      .add_option("--level", options->level,
                  "Which parts of the maps to compare: regions (default), areas or continents")
      ->check(CLI::IsMember(levels));
  command
      .add_option(
          "--match", options->match,
          "What makes two regions the same: articles (those in both atlases), weights (the "
          "correlation of the mean weights of their descriptors; reads all planes), or "
          "auto (default): articles, but weights where less than a tenth is in both, or where of "
          "two stores most articles of one PMID differ")
      ->check(CLI::IsMember({"auto", "articles", "weights"}));
  command
      .add_option("--least-articles", options->least_articles,
                  "Leave out descriptors on fewer training articles in either atlas (default: 20)")
      ->type_name("N");
  command
      .add_option("--most", options->most, "How much each list of the report names (default: 10)")
      ->type_name("N");
  CLI::Option* csv =
      command
          .add_option("--csv", options->csv,
                      "Write one whole table (CSV) instead: regions, of both maps, or topics")
          ->check(CLI::IsMember({"regions", "topics"}));
  add_json_option(command, options->json)
      ->description("Write all of it as JSON instead")
      ->excludes(csv);
  add_progress_option(command, options->progress);
  command.footer(
      "A region is linked with the region of the other map that has most of it, where that is "
      "half\n"
      "of it at least (by weights: where the correlation is 0.7). One link on both sides: it\n"
      "goes on; several: it split or was merged; none: it vanished or appeared. Growth is "
      "articles\n"
      "now over articles before, over the same of the whole corpus; q is the false discovery rate\n"
      "of so many or so few new articles. `moved` is how much of a topic lies elsewhere than the\n"
      "shared articles among which it lay: 0 none, 1 all. Rows and columns compare only where the\n"
      "later map was trained --from the earlier.");
  return [options](Session& session) { return run(session, *options); };
}

}  // namespace somatlas::tools
