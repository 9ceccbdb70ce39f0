// A synthetic corpus straight into a store: files are drawn in parallel and committed in order.
// Always holds: at most a few files are in memory; a store that has files of another kind or of
// another corpus is refused before anything of this one is added.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "pipeline/synth_article.h"
#include "pipeline/synth_catalog.h"
#include "pipeline/synth_output.h"
#include "pipeline/worker_threads.h"
#include "store/store.h"

namespace somatlas::pipeline {

namespace {

struct DrawnFile {
  std::vector<store::Shard> deltas;
  store::LedgerEntry entry;
  std::uint64_t descriptor_uses = 0;
};

/// XXH3-128 of what a file says, as 32 hexadecimal digits: stands where a real file's MD5 would.
class ContentHash {
 public:
  void add(std::uint32_t word) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes_.push_back(static_cast<unsigned char>(word >> shift));
    }
  }
  [[nodiscard]] std::string hex() const {
    const XXH128_hash_t hash = XXH3_128bits(bytes_.data(), bytes_.size());
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, hash);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : canonical.digest) {
      text += digits[byte >> 4];
      text += digits[byte & 15U];
    }
    return text;
  }

 private:
  std::vector<unsigned char> bytes_;
};

DrawnFile draw_file(const SynthOptions& options, const SynthModel& model, std::uint64_t file) {
  DrawnFile drawn;
  const std::string name = synth_file_name(file);
  const std::uint64_t begin = (file - 1) * options.articles_per_file;
  const std::uint64_t end = std::min(options.articles, begin + options.articles_per_file);
  ContentHash content;
  SynthArticle article;
  store::Shard* shard = nullptr;
  for (std::uint64_t i = begin; i < end; ++i) {
    draw_synth_article(model, i, article);
    const std::uint32_t range = article.pmid / store::pmids_per_shard;
    if (shard == nullptr || shard->range != range) {
      shard = &drawn.deltas.emplace_back();
      shard->range = range;
      shard->keys.push_back(store::file_key(name));
      shard->offsets.push_back(0);
    }
    shard->low.push_back(static_cast<std::uint16_t>(article.pmid % store::pmids_per_shard));
    shard->version.push_back(1);
    shard->year.push_back(article.year);
    shard->state.push_back(store::ArticleState::article);
    shard->key.push_back(0);
    shard->records.push_back(1);
    content.add(article.pmid);
    content.add(article.year);
    content.add(article.count);
    for (std::uint32_t d = 0; d < article.count; ++d) {
      shard->descriptors.push_back(store::descriptor_code(article.number[d], 6));
      shard->major.push_back(article.major[d]);
      content.add(article.number[d] * 2 + article.major[d]);
    }
    shard->offsets.push_back(static_cast<std::uint32_t>(shard->descriptors.size()));
    drawn.descriptor_uses += article.count;
  }
  drawn.entry.key = store::file_key(name);
  drawn.entry.md5 = content.hex();
  drawn.entry.citations = drawn.entry.with_descriptors = end - begin;
  return drawn;
}

[[noreturn]] void refuse_text(const SynthOptions& options, const std::string& name) {
  throw std::runtime_error(options.store_directory + ": the store holds another text of " + name +
                           ", drawn with another seed or size; give another store");
}

void refuse_other_files(store::Store& store, const SynthOptions& options, const SynthModel& model) {
  const std::vector<store::LedgerEntry> ledger = store.ledger();
  for (const store::LedgerEntry& entry : ledger) {
    const bool ours = entry.key.year == 0 && entry.key.number >= 1 &&
                      entry.key.name == synth_file_name(entry.key.number) && entry.xml_bytes == 0;
    if (!ours) {
      throw std::runtime_error(options.store_directory + ": the store holds " + entry.key.name +
                               "; a synthetic corpus needs a store of its own, give another one");
    }
  }
  if (!ledger.empty()) {
    const store::LedgerEntry& first = ledger.front();
    const bool in_reach = first.key.number <= baseline_files(options);
    if (!in_reach || draw_file(options, model, first.key.number).entry.md5 != first.md5) {
      refuse_text(options, first.key.name);
    }
  }
}

}  // namespace

SynthSummary synthesize_store(const SynthOptions& options, const SynthModel& model) {
  const auto store = store::Store::open(options.store_directory, store::Store::Access::fill);
  refuse_other_files(*store, options, model);
  const std::vector<store::DescriptorEntry> catalog = synth_catalog(model);
  if (store->descriptors_as_filed() != catalog) {
    store->put_descriptors(catalog);
  }
  SynthSummary summary;
  const std::uint64_t files = baseline_files(options);
  const int threads = options.threads == 0 ? oneapi::tbb::info::default_concurrency()
                                           : static_cast<int>(options.threads);
  std::uint64_t next = 0;
  const auto number = [&](oneapi::tbb::flow_control& control) -> std::uint64_t {
    summary.stopped = options.stop.stop_requested();
    if (next == files || summary.stopped) {
      control.stop();
      return 0;
    }
    return ++next;
  };
  const auto draw = [&](std::uint64_t file) { return draw_file(options, model, file); };
  const auto commit = [&](DrawnFile drawn) {
    const auto there = store->ledger_entry(drawn.entry.key);
    if (there && there->md5 != drawn.entry.md5) {
      refuse_text(options, drawn.entry.key.name);
    }
    if (!there) {
      drawn.entry.taken_at = std::chrono::duration_cast<std::chrono::seconds>(
                                 std::chrono::system_clock::now().time_since_epoch())
                                 .count();
      store->commit(drawn.deltas, drawn.entry);
    } else {
      ++summary.files_there;
    }
    summary.articles += drawn.entry.citations;
    summary.descriptor_uses += drawn.descriptor_uses;
    ++summary.files;
  };
  require_threads(static_cast<std::size_t>(threads));
  const oneapi::tbb::global_control allowed(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<std::size_t>(threads));
  oneapi::tbb::task_arena arena(threads);
  arena.execute([&] {
    using oneapi::tbb::filter_mode;
    oneapi::tbb::parallel_pipeline(
        static_cast<std::size_t>(threads) + 2,
        oneapi::tbb::make_filter<void, std::uint64_t>(filter_mode::serial_in_order, number) &
            oneapi::tbb::make_filter<std::uint64_t, DrawnFile>(filter_mode::parallel, draw) &
            oneapi::tbb::make_filter<DrawnFile, void>(filter_mode::serial_in_order, commit));
  });
  if (!summary.stopped && summary.files != summary.files_there) {
    store->compact();  // as an ingest does: every later reading is a merge the less
  }
  return summary;
}

}  // namespace somatlas::pipeline
