// somatlas bench ingest: how near ingest comes to what it cannot do without, inflating the files
// and pushing them through libxml2 with handlers that do nothing, with one worker and with several.
// Always holds: one worker and several leave the same store, or nothing is printed.
#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ingest/byte_source.h"
#include "ingest/empty_parse.h"
#include "ingest/gzip_source.h"
#include "pipeline/ingest_files.h"
#include "pipeline/stopwatch.h"
#include "pipeline/synth.h"
#include "store/store.h"
#include "tools/bench/bench.h"
#include "tools/command.h"
#include "tools/figures.h"

namespace somatlas::tools::bench {
namespace {

namespace fs = std::filesystem;
using pipeline::Stopwatch;

struct Options {
  std::vector<std::string> files;
  std::string scratch;
  std::uint64_t articles = 120'000;
  unsigned workers = 2;
  unsigned repeats = 5;
  bool json = false;
};

class Quiet final : public pipeline::IngestObserver {
  void committed(const store::LedgerEntry&) override {}
  void refused(const pipeline::RefusedFile& file) override {
    throw std::runtime_error(file.reason);
  }
  void warning(const std::string&) override {}
  void progress(const pipeline::IngestProgress&) override {}
  void planned(const std::string&, pipeline::FilePlan) override {}
};

/// One ingest of all files into a new store.
struct Ingest {
  double seconds = 0;
  std::uint64_t peak_memory = 0;
  pipeline::IngestSummary summary;
  std::string state_id;
  std::uint64_t disk_bytes = 0;
  std::uint64_t articles = 0;
};

/// What was measured with one number of workers, a figure a repeat.
struct Series {
  unsigned workers = 1;
  std::vector<double> empty;  // seconds
  std::vector<double> ingest;
  std::uint64_t peak_memory = 0;
  pipeline::IngestSeconds stages;  // of the last run
};

double inflate(const std::string& file, std::unique_ptr<ingest::Inflater> inflater,
               std::uint64_t& bytes) {
  std::vector<std::byte> out(std::size_t{1} << 16U);
  const Stopwatch watch;
  const auto source = ingest::make_gzip_source(
      std::make_unique<ingest::RawFile>(file, ingest::Md5::left_out), {}, std::move(inflater));
  bytes = 0;
  while (const std::size_t got = source->read(out)) {
    bytes += got;
  }
  return watch.seconds();
}

/// Pushes every file through empty handlers, each worker taking the next one; seconds of the clock.
double parse_empty(const std::vector<std::string>& files, unsigned workers, std::uint64_t& bytes) {
  std::atomic<std::size_t> next = 0;
  std::atomic<std::uint64_t> sum = 0;
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto work = [&] {
    try {
      for (std::size_t file = next++; file < files.size(); file = next++) {
        sum += ingest::parse_with_empty_handlers(
            *ingest::open_byte_source(files[file], ingest::Md5::left_out));
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
    }
  };
  const Stopwatch watch;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < workers; ++i) {
      threads.emplace_back(work);
    }
    work();
  }
  if (thrown) {
    std::rethrow_exception(thrown);
  }
  bytes = sum;
  return watch.seconds();
}

Ingest ingest_all(const std::vector<std::string>& files, unsigned workers,
                  const std::string& store_directory) {
  fs::remove_all(store_directory);
  pipeline::IngestOptions options;
  options.store_directory = store_directory;
  options.inputs = files;
  options.threads = workers;
  Quiet observer;
  Ingest run;
  static_cast<void>(take_peak_memory());
  const Stopwatch watch;
  run.summary = pipeline::ingest_files(options, observer);
  run.seconds = watch.seconds();
  run.peak_memory = take_peak_memory();
  const auto store = store::Store::open(store_directory, store::Store::Access::read);
  run.state_id = store->state_id();
  run.disk_bytes = store->disk_bytes();
  run.articles = pipeline::take_census(*store).articles;
  return run;
}

struct Figures {
  std::uint64_t files = 0;
  std::uint64_t xml_bytes = 0;
  double isal_seconds = 0;
  double zlib_seconds = 0;
  std::uint64_t first_file_bytes = 0;
  Series one;
  Series many;
  double bytes_an_article = 0;

  [[nodiscard]] double rate(const std::vector<double>& seconds) const {
    return static_cast<double>(xml_bytes) / 1e6 / median(seconds);
  }
};

/// The median of the quotients of two series, run by run.
double ratio(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> quotients;
  for (std::size_t i = 0; i < above.size(); ++i) {
    quotients.push_back(above[i] / below[i]);
  }
  return median(std::move(quotients));
}

Figures measure(const Options& options, const std::vector<std::string>& files,
                const Scratch& scratch) {
  Figures figures;
  figures.files = files.size();
  for (const std::string& file : files) {
    static_cast<void>(ingest::md5_of_file(file));  // into the page cache
  }
  figures.isal_seconds = inflate(files[0], ingest::make_isal_inflater(), figures.first_file_bytes);
  figures.zlib_seconds = inflate(files[0], ingest::make_zlib_inflater(), figures.first_file_bytes);
  figures.many.workers = options.workers;
  std::string state_id;
  for (unsigned repeat = 0; repeat < options.repeats; ++repeat) {
    for (Series* series : {&figures.one, &figures.many}) {
      series->empty.push_back(parse_empty(files, series->workers, figures.xml_bytes));
      const Ingest run = ingest_all(files, series->workers, scratch.at("store"));
      if (run.summary.xml_bytes != figures.xml_bytes ||
          (!state_id.empty() && run.state_id != state_id)) {
        throw std::runtime_error("two ingests of the same files differ: this is a fault");
      }
      state_id = run.state_id;
      series->ingest.push_back(run.seconds);
      series->peak_memory = std::max(series->peak_memory, run.peak_memory);
      series->stages = run.summary.seconds;
      figures.bytes_an_article =
          static_cast<double>(run.disk_bytes) / static_cast<double>(run.articles);
    }
  }
  return figures;
}

nlohmann::ordered_json to_json(const Figures& figures) {
  nlohmann::ordered_json json{
      {"files", figures.files},
      {"xml_bytes", figures.xml_bytes},
      {"isal_mb_s", static_cast<double>(figures.first_file_bytes) / 1e6 / figures.isal_seconds},
      {"zlib_mb_s", static_cast<double>(figures.first_file_bytes) / 1e6 / figures.zlib_seconds}};
  for (const Series* series : {&figures.one, &figures.many}) {
    const pipeline::IngestSeconds& stages = series->stages;
    json["workers"].push_back({{"workers", series->workers},
                               {"empty_handlers_mb_s", figures.rate(series->empty)},
                               {"ingest_mb_s", figures.rate(series->ingest)},
                               {"share_of_empty_handlers", ratio(series->empty, series->ingest)},
                               {"peak_memory_bytes", series->peak_memory},
                               {"seconds",
                                {{"inflate", stages.inflate},
                                 {"parse", stages.parse},
                                 {"encode", stages.encode},
                                 {"commit", stages.commit},
                                 {"clock", stages.graph},
                                 {"compact", stages.compact}}},
                               {"idle_share", stages.idle_share()}});
  }
  json["gain_of_workers"] = {{"empty_handlers", ratio(figures.one.empty, figures.many.empty)},
                             {"ingest", ratio(figures.one.ingest, figures.many.ingest)}};
  json["bytes_an_article"] = figures.bytes_an_article;
  return json;
}

std::string percent(double share) {
  return fixed(100 * share, 1) + " %";
}

void print(const Figures& figures, Output& out) {
  const auto line = [&out](const std::string& name, const std::string& value) {
    constexpr std::size_t column = 44;
    out << name << std::string(name.size() < column ? column - name.size() : 1, ' ') << value
        << '\n';
  };
  const double first_mb = static_cast<double>(figures.first_file_bytes) / 1e6;
  line("files", std::to_string(figures.files) + ", " + size_text(figures.xml_bytes) + " of XML");
  line("inflating alone: ISA-L", fixed(first_mb / figures.isal_seconds, 0) + " MB/s of XML");
  line("inflating alone: zlib", fixed(first_mb / figures.zlib_seconds, 0) + " MB/s");
  for (const Series* series : {&figures.one, &figures.many}) {
    const std::string with = ", " + count_of(series->workers, "worker");
    line("inflating, empty handlers" + with, fixed(figures.rate(series->empty), 0) + " MB/s");
    line("ingest" + with, fixed(figures.rate(series->ingest), 0) + " MB/s, " +
                              percent(ratio(series->empty, series->ingest)) + " of that");
    line("  peak memory", size_text(series->peak_memory));
    const pipeline::IngestSeconds& stages = series->stages;
    const double all = stages.graph * series->workers;
    line("  share of the workers' time",
         "inflating " + percent(stages.inflate / all) + ", parsing " + percent(stages.parse / all) +
             ", encoding " + percent(stages.encode / all) + ", committing " +
             percent(stages.commit / all) + ", waiting " + percent(stages.idle_share()));
  }
  const double empty_gain = ratio(figures.one.empty, figures.many.empty);
  const double ingest_gain = ratio(figures.one.ingest, figures.many.ingest);
  line("gain from " + count_of(figures.many.workers, "worker"),
       "empty handlers " + fixed(empty_gain, 2) + ", ingest " + fixed(ingest_gain, 2) + ", " +
           percent(ingest_gain / empty_gain) + " of it");
  line("bytes an article, compacted", fixed(figures.bytes_an_article, 1));
}

int run(Session& session, const Options& options) {
  const Scratch scratch(options.scratch);
  std::vector<std::string> files = options.files;
  if (files.empty()) {
    session.say("Making " + std::to_string(options.articles) + " synthetic citations ...");
    pipeline::SynthOptions corpus;
    corpus.articles = options.articles;
    corpus.xml_directory = scratch.at("xml");
    corpus.update_files = 0;
    corpus.stop = session.stop_token();
    if (pipeline::synthesize(corpus).stopped) {
      return exit_failed;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(corpus.xml_directory)) {
      if (entry.path().extension() == ".gz") {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
  }
  const Figures figures = measure(options, files, scratch);
  if (options.json) {
    session.out() << to_json(figures).dump(2) << '\n';
  } else {
    print(figures, session.out());
  }
  return exit_done;
}

}  // namespace

Run define_ingest_bench(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command
      .add_option("FILE", options->files, "MEDLINE XML files, gzip; without any, synthetic ones")
      ->type_name("");
  command.add_option("--articles", options->articles, "Citations in the synthetic files")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}))
      ->type_name("N");
  command.add_option("--workers", options->workers, "Workers to compare with one")
      ->capture_default_str()
      ->check(CLI::Range(2U, 1024U))
      ->type_name("N");
  command.add_option("--repeats", options->repeats, "Runs of each kind")
      ->capture_default_str()
      ->check(CLI::Range(1U, 1000U))
      ->type_name("N");
  add_scratch_option(command, options->scratch);
  add_json_option(command, options->json);
  return [options](Session& session) { return run(session, *options); };
}

}  // namespace somatlas::tools::bench
