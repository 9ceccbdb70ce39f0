// somatlas synth: a seeded corpus of MEDLINE's shape, into a store or as XML files.
// Always holds: the same articles and seed give the same corpus, whatever the form and threads.
#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/synth.h"
#include "tools/command.h"
#include "tools/figures.h"

namespace somatlas::tools {

namespace {

int synth(Session& session, pipeline::SynthOptions options) {
  options.stop = session.stop_token();
  const pipeline::SynthSummary done = pipeline::synthesize(options);
  const bool store = !options.store_directory.empty();
  session.say("Wrote " + count_of(done.articles, "article") + " with " +
              count_of(done.descriptor_uses, "descriptor") + ", " + count_of(done.files, "file") +
              ", into " + (store ? options.store_directory : options.xml_directory) +
              (done.files_there == 0 ? "."
                                     : "; " + std::to_string(done.files_there) +
                                           " of the files were there already."));
  if (!store) {
    session.say("XML: " + size_text(done.xml_bytes) + " before compression. Updates: " +
                count_of(done.revised, "article") + " revised, " + std::to_string(done.added) +
                " added, " + std::to_string(done.deleted) + " deleted, " +
                std::to_string(done.brought_back) + " brought back.");
  }
  if (done.stopped) {
    session.say(store ? "Stopped when asked to; the same command goes on with what is left."
                      : "Stopped when asked to; the files written so far are whole.");
  }
  return exit_done;
}

}  // namespace

Run define_synth(CLI::App& command) {
  auto options = std::make_shared<pipeline::SynthOptions>();
  auto headings_only = std::make_shared<bool>(false);
  command.add_option("--articles", options->articles, "How many articles the baseline has")
      ->required()
      ->check(CLI::Range(std::uint64_t{1}, pipeline::synth_most_articles))
      ->type_name("N");
  command
      .add_option("--seed", options->seed, "Which corpus; a longer one begins with a shorter one")
      ->capture_default_str()
      ->type_name("K");
  CLI::Option_group* form = command.add_option_group("output", "where to: one of the two");
  CLI::Option* store = add_store_option(*form, options->store_directory);
  form->add_option(
          "--xml", options->xml_directory,
          "Write XML.gz files with MD5 companions and descriptors.tsv, into a new directory")
      ->type_name("DIR");
  form->require_option(1);
  command
      .add_option("--updates", options->update_files,
                  "Update files after the baseline, which add, revise, delete and bring back")
      ->capture_default_str()
      ->check(CLI::Range(0U, 100'000U))
      ->excludes(store)
      ->type_name("U");
  command.add_option("--per-file", options->articles_per_file, "Articles a file")
      ->capture_default_str()
      ->check(CLI::Range(1U, 10'000'000U))
      ->type_name("N");
  command
      .add_flag("--headings-only", *headings_only,
                "Records with nothing but PMID, date and headings")
      ->excludes(store);
  add_threads_option(command, options->threads);
  return [options, headings_only](Session& session) {
    options->full_records = !*headings_only;
    return synth(session, *options);
  };
}

}  // namespace somatlas::tools
