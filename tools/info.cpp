// somatlas info: what a store or an atlas holds, for people or as JSON.
// Always holds: every figure is counted from the store itself, in one pass over its shards.
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pipeline/atlas_meta.h"
#include "store/atlas.h"
#include "store/store.h"
#include "tools/command.h"
#include "tools/figures.h"

namespace somatlas::tools {

namespace {

constexpr std::size_t most_frequent = 10;

struct Options {
  std::string store;
  std::string atlas;
  bool json = false;
};

struct Frequency {
  store::DescriptorCode code = 0;
  std::uint64_t articles = 0;
  std::string name;
};

struct StoreFigures {
  std::uint64_t articles = 0;
  std::uint64_t bare = 0;
  std::uint64_t tombstones = 0;
  std::uint64_t uses = 0;
  std::uint64_t distinct = 0;
  std::map<std::uint16_t, std::uint64_t> years;  // articles by year; 0: none
  std::vector<Frequency> frequent;
  store::LedgerEntry total;  // sums over the ledger
  std::uint64_t files = 0;
  std::uint64_t left_out = 0;
};

void add_shard(const store::Shard& shard, StoreFigures& figures,
               std::unordered_map<store::DescriptorCode, std::uint64_t>& frequency) {
  for (std::size_t r = 0; r < shard.rows(); ++r) {
    switch (shard.state[r]) {
      case store::ArticleState::article:
        ++figures.articles;
        ++figures.years[shard.year[r]];
        break;
      case store::ArticleState::bare:
        ++figures.bare;
        break;
      case store::ArticleState::deleted:
        ++figures.tombstones;
        break;
    }
  }
  for (const store::DescriptorCode code : shard.descriptors) {
    ++frequency[code];
  }
  figures.uses += shard.descriptors.size();
}

void add_ledger(store::Store& store, StoreFigures& figures) {
  for (const store::LedgerEntry& entry : store.ledger()) {
    ++figures.files;
    figures.total.file_bytes += entry.file_bytes;
    figures.total.xml_bytes += entry.xml_bytes;
    figures.total.citations += entry.citations;
    figures.total.deletions += entry.deletions;
    figures.total.books += entry.books;
    figures.total.unknown_headings += entry.unknown_headings;
    for (const std::uint64_t count : entry.left_out) {
      figures.left_out += count;
    }
  }
}

void add_frequent(store::Store& store,
                  const std::unordered_map<store::DescriptorCode, std::uint64_t>& frequency,
                  StoreFigures& figures) {
  figures.distinct = frequency.size();
  std::vector<Frequency> all;
  all.reserve(frequency.size());
  for (const auto& [code, articles] : frequency) {
    all.push_back({code, articles, ""});
  }
  const std::size_t kept = std::min(most_frequent, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                    [](const Frequency& a, const Frequency& b) {
                      return a.articles != b.articles ? a.articles > b.articles
                                                      : store::ui_less(a.code, b.code);
                    });
  all.resize(kept);
  for (store::DescriptorEntry& entry : store.descriptors()) {
    for (Frequency& frequent : all) {
      if (frequent.code == entry.code) {
        frequent.name = std::move(entry.name);
        break;
      }
    }
  }
  figures.frequent = std::move(all);
}

StoreFigures gather(store::Store& store) {
  StoreFigures figures;
  std::unordered_map<store::DescriptorCode, std::uint64_t> frequency;
  for (const std::uint32_t range : store.ranges()) {
    if (const auto shard = store.shard(range)) {
      add_shard(*shard, figures, frequency);
    }
  }
  add_ledger(store, figures);
  add_frequent(store, frequency, figures);
  return figures;
}

std::map<unsigned, std::uint64_t> by_decade(const StoreFigures& figures) {
  std::map<unsigned, std::uint64_t> decades;
  for (const auto& [year, articles] : figures.years) {
    if (year != 0) {
      decades[year / 10U * 10U] += articles;
    }
  }
  return decades;
}

// First and last year of any article; nothing where none has a year.
std::optional<std::pair<unsigned, unsigned>> year_range(const StoreFigures& figures) {
  const auto first = figures.years.upper_bound(0);
  if (first == figures.years.end()) {
    return std::nullopt;
  }
  return std::pair<unsigned, unsigned>(first->first, figures.years.rbegin()->first);
}

std::uint64_t without_year(const StoreFigures& figures) {
  const auto none = figures.years.find(0);
  return none == figures.years.end() ? 0 : none->second;
}

std::optional<double> ratio(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? std::nullopt
                 : std::optional(static_cast<double>(part) / static_cast<double>(of));
}

template <typename Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

void print_store_json(store::Store& store, const StoreFigures& figures, Output& out) {
  const std::uint64_t bytes = store.disk_bytes();
  nlohmann::ordered_json json{{"store", store.directory()},
                              {"store_id", store.id()},
                              {"state_id", store.state_id()},
                              {"files", figures.files},
                              {"citations", figures.articles + figures.bare},
                              {"articles_with_descriptors", figures.articles},
                              {"articles_without_descriptors", figures.bare},
                              {"tombstones", figures.tombstones},
                              {"mean_descriptors", or_null(ratio(figures.uses, figures.articles))},
                              {"distinct_descriptors", figures.distinct},
                              {"disk_bytes", bytes},
                              {"bytes_an_article", or_null(ratio(bytes, figures.articles))}};
  const auto years = year_range(figures);
  json["first_year"] = years ? nlohmann::ordered_json(years->first) : nullptr;
  json["last_year"] = years ? nlohmann::ordered_json(years->second) : nullptr;
  json["articles_without_year"] = without_year(figures);
  json["articles_by_decade"] = nlohmann::ordered_json::object();
  for (const auto& [decade, articles] : by_decade(figures)) {
    json["articles_by_decade"][std::to_string(decade)] = articles;
  }
  json["most_frequent"] = nlohmann::ordered_json::array();
  for (const Frequency& frequent : figures.frequent) {
    json["most_frequent"].push_back({{"ui", store::descriptor_ui(frequent.code)},
                                     {"name", frequent.name},
                                     {"articles", frequent.articles}});
  }
  json["ledger"] = {{"file_bytes", figures.total.file_bytes},
                    {"xml_bytes", figures.total.xml_bytes},
                    {"citations", figures.total.citations},
                    {"deletions", figures.total.deletions},
                    {"books", figures.total.books},
                    {"left_out", figures.left_out},
                    {"unknown_headings", figures.total.unknown_headings}};
  out << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

// A line of the report: its name in a column of its own, and a gloss in another where there is one.
void line(Output& out, std::string_view name, std::string_view value, std::string_view gloss = "") {
  constexpr std::size_t column = 28;
  constexpr std::size_t gloss_column = 12;
  const auto padded = [](std::string_view text, std::size_t width) {
    return std::string(text) + std::string(text.size() + 2 < width ? width - text.size() : 2, ' ');
  };
  if (value.empty()) {
    out << name << '\n';
    return;
  }
  out << padded(name, column);
  if (gloss.empty()) {
    out << value;
  } else {
    out << padded(value, gloss_column) << gloss;
  }
  out << '\n';
}

void print_store(store::Store& store, const StoreFigures& figures, Output& out) {
  const std::uint64_t bytes = store.disk_bytes();
  line(out, "store", store.directory());
  line(out, "state id", store.state_id(), "changes with every file taken");
  line(out, "files", std::to_string(figures.files));
  line(out, "citations", std::to_string(figures.articles + figures.bare));
  line(out, "articles with descriptors", std::to_string(figures.articles));
  line(out, "mean descriptors", fixed(ratio(figures.uses, figures.articles), 2),
       "of the articles with descriptors");
  line(out, "distinct descriptors", std::to_string(figures.distinct));
  const auto years = year_range(figures);
  line(out, "years",
       years ? std::to_string(years->first) + " to " + std::to_string(years->second) : "-");
  for (const auto& [decade, articles] : by_decade(figures)) {
    line(out, "  " + std::to_string(decade) + "s", std::to_string(articles));
  }
  if (const std::uint64_t articles = without_year(figures); articles != 0) {
    line(out, "  no year", std::to_string(articles));
  }
  if (!figures.frequent.empty()) {
    line(out, "most frequent descriptors", "");
    for (const Frequency& frequent : figures.frequent) {
      line(
          out, "  " + store::descriptor_ui(frequent.code),
          std::to_string(frequent.articles) + "  " + (frequent.name.empty() ? "-" : frequent.name));
    }
  }
  line(out, "bytes on disk", std::to_string(bytes));
  line(out, "bytes an article", fixed(ratio(bytes, figures.articles), 1));
  line(out, "read from files",
       size_text(figures.total.file_bytes) + " (" + size_text(figures.total.xml_bytes) +
           " of XML): " + count_of(figures.total.citations, "citation") + ", " +
           count_of(figures.total.deletions, "deletion") + ", " +
           count_of(figures.total.books, "book") + ", " + std::to_string(figures.left_out) +
           " left out, " + count_of(figures.total.unknown_headings, "unknown heading"));
}

void print_atlas_json(store::Atlas& atlas, const pipeline::AtlasMeta& meta, Output& out) {
  auto json = nlohmann::ordered_json::parse(to_json(meta));
  json["directory"] = atlas.directory();
  json["disk_bytes"] = atlas.disk_bytes();
  out << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

void print_atlas(store::Atlas& atlas, const pipeline::AtlasMeta& meta, Output& out) {
  const std::uint64_t side = meta.settings.side;
  line(out, "atlas", atlas.directory());
  line(out, "store state", meta.store_state, "state id of the store when it was trained");
  line(out, "side", std::to_string(side) + " (" + count_of(side * side, "cell") + ")");
  line(out, "descriptors", std::to_string(meta.descriptors));
  line(out, "training articles", std::to_string(meta.training_articles));
  line(out, "held-out articles", std::to_string(meta.heldout_articles),
       "kept out of the training to check it");
  line(out, "articles with a place", std::to_string(meta.placed_articles));
  line(out, "start", meta.settings.start == pipeline::Start::pca ? "pca" : "random");
  line(out, "seed", std::to_string(meta.settings.seed));
  line(out, "least descriptors", std::to_string(meta.settings.min_descriptors),
       "articles with fewer did not train");
  line(out, "epochs", std::to_string(meta.epochs),
       meta.earlier_epochs == 0
           ? ""
           : "in this run; " + std::to_string(meta.epochs + meta.earlier_epochs) +
                 " with those of the atlases it went on from");
  line(out, "radius", std::to_string(meta.radius), "of the neighbourhood in the end, in cells");
  line(out, "QE", fixed(meta.quality.qe, 6),
       "quantization error: mean distance of articles to their cell, lower is better");
  line(out, "held-out QE", fixed(meta.quality.heldout_qe, 6), "the same of the held-out articles");
  line(out, "cosine QE", fixed(meta.quality.cosine_qe, 6),
       "mean of 1 - cosine between an article and its cell, lower is better");
  line(out, "topographic error", fixed(meta.quality.topographic_error, 6),
       "share of articles whose second-best cell is no neighbour of the best");
  line(out, "vacant share", fixed(meta.quality.vacant_share, 6),
       "of the cells that have no weights");
  line(out, "unhit share", fixed(meta.quality.unhit_share, 6),
       "of the cells that have weights but no training article");
  if (!meta.incremental_from.empty()) {
    line(out, "went on from store state", meta.incremental_from);
  }
  line(out, "bytes on disk", std::to_string(atlas.disk_bytes()));
}

int info(Session& session, const Options& options) {
  if (!options.store.empty()) {
    const auto store = store::Store::open(options.store, store::Store::Access::read);
    const StoreFigures figures = gather(*store);
    (options.json ? print_store_json : print_store)(*store, figures, session.out());
  } else {
    const auto atlas = store::Atlas::open(options.atlas, store::Atlas::Access::read);
    const pipeline::AtlasMeta meta = pipeline::read_atlas_meta(*atlas);
    (options.json ? print_atlas_json : print_atlas)(*atlas, meta, session.out());
  }
  return exit_done;
}

}  // namespace

Run define_info(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_one_of_store_and_atlas(command, options->store, options->atlas);
  add_json_option(command, options->json);
  return [options](Session& session) { return info(session, *options); };
}

}  // namespace somatlas::tools
