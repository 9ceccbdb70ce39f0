// A synthetic corpus as XML.gz files with MD5 companions, as NLM gives them out. Always holds: a
// file is written in pieces of a few records, several files at a time, each by one thread.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <system_error>

#include "ingest/byte_source.h"
#include "pipeline/synth_article.h"
#include "pipeline/synth_catalog.h"
#include "pipeline/synth_gzip.h"
#include "pipeline/synth_output.h"
#include "pipeline/synth_record.h"
#include "pipeline/synth_updates.h"
#include "pipeline/worker_threads.h"

namespace somatlas::pipeline {

namespace {

constexpr std::string_view head =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<!DOCTYPE PubmedArticleSet PUBLIC \"-//NLM//DTD PubMedArticle, 1st January 2019//EN\" "
    "\"http://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_190101.dtd\">\n<PubmedArticleSet>\n";
constexpr std::string_view tail = "</PubmedArticleSet>\n";
constexpr std::size_t piece_bytes = 1 << 18;

/// Asked to stop in the middle of a file: the file goes, the finished ones stay.
struct Stopped {};

void prepare_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error || !std::filesystem::is_directory(directory, error)) {
    throw std::runtime_error(directory + ": the directory cannot be made" +
                             (error ? " (" + error.message() + ")" : std::string()) +
                             "; choose another place");
  }
  const bool empty = std::filesystem::is_empty(directory, error);
  if (error) {
    throw std::runtime_error(directory + ": the directory cannot be read (" + error.message() +
                             "); choose another place");
  }
  if (!empty) {
    throw std::runtime_error(directory +
                             ": the directory is not empty; a synthetic corpus needs a new one");
  }
}

void write_table(const std::string& directory, const SynthModel& model) {
  std::string text = "ui\tname\ttree_numbers\n";
  for (const store::DescriptorEntry& entry : synth_catalog(model)) {
    text += store::descriptor_ui(entry.code);
    text += '\t';
    text += entry.name;
    text += '\t';
    for (std::size_t i = 0; i < entry.tree_numbers.size(); ++i) {
      text += i == 0 ? "" : ";";
      text += entry.tree_numbers[i];
    }
    text += '\n';
  }
  WholeFile file(directory + "/descriptors.tsv");
  file.write(text);
  file.finish();
}

/// One file being written: records in, a gzip file and its companion out.
class CorpusFile {
 public:
  CorpusFile(const SynthOptions& options, const SynthModel& model, const SynthText& text,
             std::uint64_t file, std::uint64_t round)
      : options_(options),
        model_(model),
        name_(synth_file_name(file)),
        round_(round),
        writer_(text, options.seed, options.full_records),
        gzip_(options.xml_directory + "/" + name_),
        buffer_(head) {}

  void drawn(std::uint64_t number) {
    draw_synth_article(model_, number, article_);
    record(number);
  }
  void revised(std::uint64_t number) {
    revise_synth_article(model_, number, round_, article_);
    record(number);
  }
  void deletions(const std::vector<std::uint64_t>& numbers) {
    std::vector<std::uint32_t> pmids;
    for (const std::uint64_t number : numbers) {
      pmids.push_back(static_cast<std::uint32_t>(synth_pmid(options_.seed, number)));
    }
    append_deletions(buffer_, pmids);
  }
  void finish() {
    buffer_ += tail;
    gzip_.write(buffer_);
    gzip_.finish();
    const std::string path = options_.xml_directory + "/" + name_;
    WholeFile companion(path + ".md5");
    companion.write("MD5(" + name_ + ")= " + ingest::md5_of_file(path) + "\n");
    companion.finish();
  }
  [[nodiscard]] std::uint64_t descriptor_uses() const { return descriptor_uses_; }
  [[nodiscard]] std::uint64_t xml_bytes() const { return gzip_.text_bytes(); }

 private:
  void record(std::uint64_t number) {
    writer_.append(buffer_, article_, number, round_);
    descriptor_uses_ += article_.count;
    if (buffer_.size() >= piece_bytes) {
      if (options_.stop.stop_requested()) {
        throw Stopped{};
      }
      gzip_.write(buffer_);
      buffer_.clear();
    }
  }

  const SynthOptions& options_;
  const SynthModel& model_;
  std::string name_;
  std::uint64_t round_;
  SynthRecordWriter writer_;
  GzipFile gzip_;
  std::string buffer_;
  SynthArticle article_;
  std::uint64_t descriptor_uses_ = 0;
};

SynthSummary write_file(const SynthOptions& options, const SynthModel& model, const SynthText& text,
                        std::uint64_t file) {
  SynthSummary done;
  const std::uint64_t baseline = baseline_files(options);
  const std::uint64_t round = file > baseline ? file - baseline : 0;
  CorpusFile out(options, model, text, file, round);
  if (round == 0) {
    const std::uint64_t begin = (file - 1) * options.articles_per_file;
    const std::uint64_t end = std::min(options.articles, begin + options.articles_per_file);
    for (std::uint64_t i = begin; i < end; ++i) {
      out.drawn(i);
    }
    done.articles = end - begin;
    done.descriptor_uses = out.descriptor_uses();
  } else {
    const SynthUpdate update = plan_synth_update(options, round);
    std::vector<std::uint64_t> old = update.revised;
    old.insert(old.end(), update.brought_back.begin(), update.brought_back.end());
    std::sort(old.begin(), old.end());
    for (const std::uint64_t i : old) {
      if (std::binary_search(update.revised.begin(), update.revised.end(), i)) {
        out.revised(i);
      } else {
        out.drawn(i);
      }
    }
    for (std::uint64_t i = update.added_begin; i < update.added_end; ++i) {
      out.drawn(i);
    }
    out.deletions(update.deleted);
    done.revised = update.revised.size();
    done.brought_back = update.brought_back.size();
    done.deleted = update.deleted.size();
    done.added = update.added_end - update.added_begin;
  }
  out.finish();
  done.xml_bytes = out.xml_bytes();
  done.files = 1;
  return done;
}

void add(SynthSummary& sum, const SynthSummary& part) {
  sum.articles += part.articles;
  sum.descriptor_uses += part.descriptor_uses;
  sum.files += part.files;
  sum.revised += part.revised;
  sum.added += part.added;
  sum.brought_back += part.brought_back;
  sum.deleted += part.deleted;
  sum.xml_bytes += part.xml_bytes;
}

}  // namespace

SynthSummary synthesize_xml(const SynthOptions& options, const SynthModel& model) {
  prepare_directory(options.xml_directory);
  write_table(options.xml_directory, model);
  const SynthText text;
  const std::uint64_t files = baseline_files(options) + options.update_files;
  const int threads = options.threads == 0 ? oneapi::tbb::info::default_concurrency()
                                           : static_cast<int>(options.threads);
  SynthSummary summary;
  std::mutex mutex;
  std::atomic<bool> stopped = false;
  std::uint64_t next = 0;
  const auto number = [&](oneapi::tbb::flow_control& control) -> std::uint64_t {
    stopped = stopped || options.stop.stop_requested();
    if (next == files || stopped) {
      control.stop();
      return 0;
    }
    return ++next;
  };
  const auto write = [&](std::uint64_t file) {
    try {
      const SynthSummary done = write_file(options, model, text, file);
      const std::scoped_lock lock(mutex);
      add(summary, done);
    } catch (const Stopped&) {
      stopped = true;
    }
  };
  require_threads(static_cast<std::size_t>(threads));
  const oneapi::tbb::global_control allowed(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<std::size_t>(threads));
  oneapi::tbb::task_arena arena(threads);
  arena.execute([&] {
    using oneapi::tbb::filter_mode;
    oneapi::tbb::parallel_pipeline(
        static_cast<std::size_t>(threads),
        oneapi::tbb::make_filter<void, std::uint64_t>(filter_mode::serial_in_order, number) &
            oneapi::tbb::make_filter<std::uint64_t, void>(filter_mode::parallel, write));
  });
  summary.stopped = stopped;
  return summary;
}

}  // namespace somatlas::pipeline
