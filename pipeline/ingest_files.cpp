// The ingest graph: files in key order -> read, inflate, check, parse, build deltas (several files
// at a time) -> back in order -> commit (one at a time). A token is the buffers of one file, so
// what is in flight is what was allocated.
#include "pipeline/ingest_files.h"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include "ingest/input_error.h"
#include "pipeline/file_reading.h"
#include "pipeline/graph_at_rest.h"
#include "pipeline/ingest_inputs.h"
#include "pipeline/ingest_meter.h"
#include "pipeline/mesh_change_lists.h"
#include "pipeline/mesh_tables.h"
#include "pipeline/stopwatch.h"
#include "pipeline/worker_threads.h"

namespace somatlas::pipeline {

namespace {

namespace flow = oneapi::tbb::flow;

// Files waiting for one that takes longer, beside those being read.
constexpr std::size_t waiting_files = 2;

// One file's buffers, and which file they hold.
struct Token {
  std::size_t file = 0;
  FileReading reading;
};

// Takes the readings in file order: commits, counts and reports them. One thread at a time.
class Committer {
 public:
  Committer(store::Store* store, const IngestOptions& options, IngestObserver& observer,
            IngestSummary& summary)
      : store_(store), options_(options), observer_(observer), summary_(summary) {}

  void take(const InputFile& file, FileReading& reading) {
    summary_.seconds.inflate += reading.seconds.inflate;
    summary_.seconds.parse += reading.seconds.parse;
    summary_.seconds.encode += reading.seconds.encode;
    const Stopwatch watch;
    take_outcome(file, reading);
    summary_.seconds.commit += watch.seconds();
  }

  void refuse(const RefusedFile& file) {
    summary_.refused.push_back(file);
    observer_.refused(file);
  }

  // After the last file: the headings that no article has got, and how much was not said.
  void finish() {
    if (summary_.unknown_headings != 0) {
      observer_.warning(unknown_headings_text());
    }
    std::uint64_t left_out = 0;
    for (const std::uint64_t count : summary_.left_out) {
      left_out += count;
    }
    if (left_out > left_out_said_) {
      observer_.warning(std::to_string(left_out - left_out_said_) +
                        " further records left out are counted but not listed");
    }
  }

 private:
  void take_outcome(const InputFile& file, FileReading& reading) {
    switch (reading.outcome) {
      case Outcome::taken:
        summary_.files_changed += reading.known_before ? 1 : 0;
        if (options_.dry_run) {
          observer_.planned(file.path,
                            reading.known_before ? FilePlan::take_again : FilePlan::take);
        } else {
          commit(file, reading);
        }
        ++summary_.files_taken;
        break;
      case Outcome::skipped:
        if (options_.dry_run) {
          observer_.planned(file.path, FilePlan::skip);
        }
        ++summary_.files_skipped;
        break;
      case Outcome::refused:
        refuse({file.path, reading.refusal});
        break;
      case Outcome::left:
        summary_.stopped = true;
        break;
    }
  }

  // The names met most often, each with a place where it can be looked at.
  [[nodiscard]] std::string unknown_headings_text() const {
    constexpr std::size_t most_named = 10;
    std::vector<const UnknownHeadings::value_type*> order;
    for (const UnknownHeadings::value_type& heading : unknown_headings_) {
      order.push_back(&heading);
    }
    std::ranges::stable_sort(order, std::greater(),
                             [](const auto* heading) { return heading->second.times; });
    const std::uint64_t all = summary_.unknown_headings;
    std::string text = std::to_string(all);
    text += all == 1
                ? " heading has neither a UI nor a name that the store's MeSH table knows; its "
                  "article is kept without that heading:"
                : " headings have neither a UI nor a name that the store's MeSH table knows; "
                  "their articles are kept without that heading:";
    std::uint64_t named = 0;
    for (const auto* heading : std::span(order).first(std::min(order.size(), most_named))) {
      const auto& [name, met] = *heading;
      text += "\n  \"" + name + "\": " + std::to_string(met.times) +
              (met.times == 1 ? " time, in " : " times, first in ") + met.first;
      named += met.times;
    }
    if (order.size() > most_named) {
      const std::size_t others = order.size() - most_named;
      text += "\n  and " + std::to_string(others) +
              (others == 1 ? " other name: " : " other names: ") + std::to_string(all - named) +
              (all - named == 1 ? " time" : " times");
    }
    return text;
  }

  void commit(const InputFile& file, FileReading& reading) {
    const store::LedgerEntry& entry = reading.entry;
    if (reading.known_before) {
      report_taken_again(file, reading);
    }
    for (const std::string& report : reading.left_out_reports) {
      observer_.warning(report);
      ++left_out_said_;
    }
    for (const auto& [name, met] : reading.unknown_headings) {
      const auto known = unknown_headings_.find(name);
      if (known != unknown_headings_.end()) {
        known->second.times += met.times;
      } else if (unknown_headings_.size() < most_unknown_names) {
        unknown_headings_.emplace(name, met);
      }
    }
    store_->commit(reading.encoded, entry);
    count(entry);
    observer_.committed(entry);
  }

  void count(const store::LedgerEntry& entry) {
    summary_.citations += entry.citations;
    summary_.with_descriptors += entry.with_descriptors;
    summary_.deletions += entry.deletions;
    summary_.books += entry.books;
    for (std::size_t reason = 0; reason < entry.left_out.size(); ++reason) {
      summary_.left_out[reason] += entry.left_out[reason];
    }
    summary_.unknown_headings += entry.unknown_headings;
    summary_.xml_bytes += entry.xml_bytes;
    summary_.keys_taken.push_back(entry.key);
  }

  // The file is known with another text: PMIDs that only that text had stay as they are.
  void report_taken_again(const InputFile& file, const FileReading& reading) {
    std::uint64_t stay = 0;
    for (const std::uint32_t range : store_->ranges()) {
      const std::optional<store::Shard> old = store_->shard_as_filed(range);
      const auto key = old ? std::ranges::lower_bound(old->keys, file.key)
                           : std::vector<store::FileKey>::const_iterator{};
      if (!old || key == old->keys.end() || *key != file.key) {
        continue;
      }
      const auto index = static_cast<std::uint32_t>(key - old->keys.begin());
      const auto delta = std::ranges::lower_bound(reading.deltas, range, {}, &store::Shard::range);
      const bool same_range = delta != reading.deltas.end() && delta->range == range;
      for (std::size_t r = 0; r < old->rows(); ++r) {
        if (old->key[r] == index &&
            !(same_range && std::ranges::binary_search(delta->low, old->low[r]))) {
          ++stay;
        }
      }
    }
    observer_.warning(ingest::printable(file.path) +
                      ": its text has changed since it was ingested; the new text is taken over "
                      "the old one, and " +
                      std::to_string(stay) +
                      (stay == 1 ? " PMID that only the old one had stays"
                                 : " PMIDs that only the old one had stay") +
                      " as before");
  }

  store::Store* store_;  // none in a dry run without a store
  const IngestOptions& options_;
  IngestObserver& observer_;
  IngestSummary& summary_;
  UnknownHeadings unknown_headings_;
  std::uint64_t left_out_said_ = 0;
};

// Runs the graph; returns when every file has been through it or a stop was asked for. What a node
// throws cancels the graph and comes out here.
void run_graph(const std::vector<InputFile>& files, const ReadingContext& context,
               std::size_t threads, Committer& committer, Meter& meter) {
  std::vector<Token> tokens(std::min(threads + waiting_files, files.size()));
  std::size_t next = 0;
  flow::graph graph;
  flow::buffer_node<Token*> free_tokens(graph);
  flow::input_node<std::size_t> source(graph, [&](oneapi::tbb::flow_control& control) {
    if (next == files.size()) {
      control.stop();
      return next;
    }
    return next++;
  });
  using Pair = std::tuple<Token*, std::size_t>;
  flow::join_node<Pair, flow::reserving> pairs(graph);
  flow::function_node<Pair, Token*> read(graph, flow::unlimited, [&](const Pair& pair) {
    auto [token, file] = pair;
    token->file = file;
    read_file(files[file], context, token->reading);
    return token;
  });
  flow::sequencer_node<Token*> in_order(graph, [](Token* token) { return token->file; });
  flow::function_node<Token*, Token*> commit(graph, flow::serial, [&](Token* token) {
    committer.take(files[token->file], token->reading);
    meter.file_done(files[token->file], token->reading);
    return token;
  });
  const GraphAtRest at_rest(graph);
  flow::make_edge(free_tokens, flow::input_port<0>(pairs));
  flow::make_edge(source, flow::input_port<1>(pairs));
  flow::make_edge(pairs, read);
  flow::make_edge(read, in_order);
  flow::make_edge(in_order, commit);
  flow::make_edge(commit, free_tokens);
  for (Token& token : tokens) {
    free_tokens.try_put(&token);
  }
  source.activate();
  graph.wait_for_all();
}

// Whether something is there, or cannot be looked at: opening it then says why.
bool is_present(const std::string& directory) {
  std::error_code error;
  return std::filesystem::status(directory, error).type() != std::filesystem::file_type::not_found;
}

// Changes of descriptors alone are for a store that is there.
bool makes_a_store(const IngestOptions& options) {
  return !options.inputs.empty() || !options.mesh.empty();
}

std::unique_ptr<store::Store> open_store(const IngestOptions& options) {
  using store::Store;
  if (!options.dry_run) {
    return Store::open(options.store_directory,
                       makes_a_store(options) ? Store::Access::fill : Store::Access::write);
  }
  return is_present(options.store_directory)
             ? Store::open(options.store_directory, Store::Access::read)
             : nullptr;
}

void change_view(store::Store* store, const MeshChangeSteps& steps, bool dry_run,
                 MeshChangeCounts& counts) {
  std::vector<store::MeshChangeList> lists;
  if (store != nullptr) {
    lists = store->mesh_view()->lists();
  }
  lists = next_mesh_changes(std::move(lists), steps, counts);
  if (store != nullptr && !dry_run && counts.lists_taken + counts.lists_taken_back != 0) {
    store->put_mesh_changes(lists);
  }
}

}  // namespace

IngestSummary ingest_files(const IngestOptions& options, IngestObserver& observer) {
  IngestSummary summary;
  const std::vector<ingest::MeshFile> tables = read_mesh_tables(options.mesh);
  const MeshChangeSteps changes = read_mesh_changes(options.mesh_changes);
  const InputList inputs = list_inputs(options.inputs);
  std::unique_ptr<store::Store> store;
  if (!inputs.files.empty() || !tables.empty() || !changes.empty() ||
      is_present(options.store_directory)) {
    store = open_store(options);
  }
  Committer committer(store.get(), options, observer, summary);
  for (const RefusedFile& file : inputs.refused) {
    committer.refuse(file);
  }
  summary.files_skipped = inputs.copies;
  for (const ingest::MeshFile& table : tables) {
    summary.descriptors_added += table.descriptors.size();
  }
  if (!tables.empty()) {
    summary.mesh = store_mesh_tables(store.get(), tables, options.dry_run);
    if (const std::uint64_t unknown = summary.mesh.unknown_names; unknown != 0) {
      observer.warning(
          std::to_string(unknown) +
          (unknown == 1 ? " name of the tree tables is" : " names of the tree tables are") +
          " no descriptor's and not used; give the descriptor table of that year "
          "with --mesh too");
    }
  }

  if (!changes.empty()) {
    change_view(store.get(), changes, options.dry_run, summary.mesh_changes);
  }

  std::map<store::FileKey, store::LedgerEntry> ledger;
  ingest::NameTable names;
  if (store) {
    for (store::LedgerEntry& entry : store->ledger()) {
      ledger.emplace(entry.key, std::move(entry));
    }
    names = name_table(*store);
  }
  if (!inputs.files.empty()) {
    Meter meter(observer, inputs.files);
    const ReadingContext context{
        ledger,
        names,
        options.check_md5,
        options.dry_run,
        options.stop,
        [&meter](std::uint64_t xml, std::uint64_t of_file) { meter.bytes(xml, of_file); }};
    const std::size_t threads =
        options.threads != 0 ? options.threads
                             : static_cast<std::size_t>(oneapi::tbb::info::default_concurrency());
    require_threads(threads);
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                            threads);
    oneapi::tbb::task_arena arena(static_cast<int>(threads));
    const Stopwatch watch;
    arena.execute([&] { run_graph(inputs.files, context, threads, committer, meter); });
    summary.seconds.workers = static_cast<unsigned>(threads);
    summary.seconds.graph = watch.seconds();
  }
  committer.finish();
  if (store && !options.dry_run && summary.files_taken != 0 && !summary.stopped) {
    const Stopwatch watch;
    store->compact();
    summary.seconds.compact = watch.seconds();
  }
  return summary;
}

}  // namespace somatlas::pipeline
