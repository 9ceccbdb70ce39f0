// somatlas map: finds articles on a finished atlas. Always holds: every article of the input has
// one row, in the input's order; of what has no place or is unknown the first are named on standard
// error and all are counted.
#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu/contract.h"
#include "gpu/tile.h"
#include "pipeline/mapping.h"
#include "pipeline/memory_plan.h"
#include "store/store.h"
#include "store/store_error.h"
#include "tools/command.h"
#include "tools/export/decimal_text.h"
#include "tools/export/delimited.h"
#include "tools/figures.h"
#include "tools/lookup/article_input.h"
#include "tools/lookup/descriptor_names.h"
#include "tools/lookup/unknown_descriptors.h"

namespace somatlas::tools {
namespace {

struct MapOptions {
  std::string atlas;
  std::string store;
  std::string input;
  std::size_t host_memory = 0;  // bytes; 0: half of what the machine has available
  bool json = false;
};

class MapRun : public lookup::ArticleSink {
 public:
  MapRun(Session& session, const MapOptions& options, store::Atlas& atlas, store::Store* store)
      : session_(session),
        json_(options.json),
        store_(store),
        mapper_(atlas, options.host_memory != 0 ? options.host_memory
                                                : pipeline::available_host_memory() / 2),
        names_(mapper_.descriptors()),
        view_(store != nullptr ? store->mesh_view() : std::make_shared<store::MeshView>()),
        former_(former_descriptors(*view_)),
        former_names_(former_),
        side_(mapper_.meta().settings.side) {
    if (store_ != nullptr) {
      check_store(options);
    }
    if (!json_) {
      session_.out() << "article\trow\tcolumn\tdistance\tsecond row\tsecond column\tlabel\n";
    }
  }

  void article(lookup::Article article) override {
    batch_bytes_ += bytes_of(article);
    batch_.push_back(std::move(article));
    if (batch_.size() == batch_articles || batch_bytes_ >= batch_bytes) {
      place_batch();
    }
  }
  void remark(const std::string& text) override {
    if (++remarks_ <= most_named) {
      session_.say(exports::tsv_field(text));
    }
  }

  /// Places what is left, says what was met, and returns the exit code.
  [[nodiscard]] int finish(const std::string& input) {
    place_batch();
    const std::uint64_t unplaced = articles_ - placed_;
    if (unplaced > most_named) {
      session_.say("and " + count_of(unplaced - most_named, "further article") +
                   " without a place");
    }
    if (remarks_ > most_named) {
      session_.say("and " + count_of(remarks_ - most_named, "further part") +
                   " of the input that cannot be placed");
    }
    for (const std::string& sentence : unknown_.sentences(names_)) {
      session_.say(sentence);
    }
    if (articles_ == 0) {
      session_.say(input + ": holds no article");
      return exit_done;
    }
    session_.say("articles: " + std::to_string(articles_) + " (" + std::to_string(placed_) +
                 " placed, " + std::to_string(unplaced) + " without a place)");
    if (known_ || (unknown_.empty() && !unknown_pmid_)) {
      return exit_done;
    }
    session_.say(input +
                 ": nothing in it is known to the atlas; give MEDLINE XML, or PMIDs, one a line, "
                 "or a line an article with MeSH headings by name or UI, separated by `;`");
    return exit_failed;
  }

 private:
  // The planes of a batch's descriptors are read once, so a batch is large; its rows are few bytes.
  static constexpr std::size_t batch_articles = 4096;
  static constexpr std::size_t batch_bytes = std::size_t{32} << 20;  // met by hostile rows alone
  static constexpr std::uint64_t most_named = 20;  // of each kind; the rest is counted

  /// What is to be searched for one article, or why it is not.
  struct Query {
    std::vector<store::DescriptorCode> codes;
    std::uint32_t unnamed = 0;
    std::string no_search;  // a reason; empty: searched
    bool recorded = false;  // the place at training is taken
  };

  void check_store(const MapOptions& options) {
    const pipeline::AtlasMeta& meta = mapper_.meta();
    if (store_->id() != meta.store_id) {
      throw store::StoreError(options.store + ": is not the store that " + options.atlas +
                              " was trained on; give that one, or none");
    }
    if (store_->state_id() != meta.store_state) {
      session_.say("warning: " + options.store + " has changed since " + options.atlas +
                   " was trained; articles are placed by the descriptors they have now");
    }
  }

  void place_batch() {
    std::vector<Query> queries(batch_.size());
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      if (!batch_[i].only_pmid) {
        queries[i] = query_of(batch_[i]);
      }
    }
    query_pmids(queries);

    std::vector<std::vector<store::DescriptorCode>> codes;
    std::vector<std::uint32_t> unnamed;
    for (Query& query : queries) {
      if (query.no_search.empty() && !query.recorded) {
        check(query);
      }
      if (query.no_search.empty() && !query.recorded) {
        codes.push_back(query.codes);
        unnamed.push_back(query.unnamed);
      }
    }
    const std::vector<std::optional<pipeline::Place>> found = mapper_.place(codes, unnamed);
    std::size_t next = 0;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      std::optional<pipeline::Place> place;
      std::string reason = queries[i].no_search;
      if (queries[i].recorded) {
        place = mapper_.recorded(batch_[i].pmid);
        reason = "the atlas has no place of it (with --store its descriptors are searched)";
      } else if (reason.empty()) {
        place = found[next++];
        reason = "the atlas knows none of its descriptors";
      }
      write_row(name_of(batch_[i]), place);
      ++articles_;
      if (place) {
        ++placed_;
        known_ = true;
      } else if (articles_ - placed_ <= most_named) {
        session_.say(name_of(batch_[i]) + ": " + reason);
      }
      unknown_pmid_ = unknown_pmid_ || (!place && queries[i].recorded);
    }
    batch_.clear();
    batch_bytes_ = 0;
  }

  static std::size_t bytes_of(const lookup::Article& article) {
    return std::transform_reduce(article.names.begin(), article.names.end(),
                                 sizeof article + article.uis.size() * sizeof article.uis.front(),
                                 std::plus<>(),
                                 [](const std::string& name) { return sizeof name + name.size(); });
  }

  // What the names were before the changes of the store's lists, the last list first.
  static std::vector<store::AtlasDescriptor> former_descriptors(const store::MeshView& view) {
    std::vector<store::AtlasDescriptor> former;
    for (auto list = view.lists().rbegin(); list != view.lists().rend(); ++list) {
      for (const store::MeshChange& change : list->changes) {
        former.push_back({change.from, change.old_name, {}, 0});
      }
    }
    return former;
  }

  static std::string name_of(const lookup::Article& article) {
    return article.pmid != 0 ? std::to_string(article.pmid)
                             : "line " + std::to_string(article.line);
  }

  Query query_of(const lookup::Article& article) {
    Query query;
    query.no_search = article.fault;
    for (const ingest::DescriptorUi& ui : article.uis) {
      query.codes.push_back(store::descriptor_code(ui.number, ui.digits));
    }
    std::set<std::string> unknown;
    for (const std::string& name : article.names) {
      const store::AtlasDescriptor* descriptor = names_.find(name);
      if (descriptor == nullptr) {
        descriptor = former_names_.find(name);
      }
      if (descriptor != nullptr) {
        query.codes.push_back(descriptor->code);
      } else if (unknown.insert(lookup::folded(name)).second) {
        ++query.unnamed;
        unknown_.add(name);
      }
    }
    std::vector<store::DescriptorCode> filed = std::exchange(query.codes, {});
    for (const store::DescriptorCode code : filed) {
      if (const auto current = view_->current(code)) {
        query.codes.push_back(*current);
      }
    }
    std::sort(query.codes.begin(), query.codes.end());
    query.codes.erase(std::unique(query.codes.begin(), query.codes.end()), query.codes.end());
    return query;
  }

  // Descriptors of lines that are PMIDs, from the store; each range of PMIDs is read once a batch.
  void query_pmids(std::vector<Query>& queries) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      if (batch_[i].only_pmid) {
        queries[i].recorded = store_ == nullptr;
        order.push_back(i);
      }
    }
    if (store_ == nullptr) {
      return;
    }
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return batch_[a].pmid < batch_[b].pmid; });
    std::optional<std::uint32_t> range;
    std::optional<store::Shard> shard;
    for (const std::size_t i : order) {
      const std::uint32_t pmid = batch_[i].pmid;
      if (range != pmid / store::pmids_per_shard) {
        range = pmid / store::pmids_per_shard;
        shard = store_->shard(*range);
      }
      const auto low = static_cast<std::uint16_t>(pmid % store::pmids_per_shard);
      const std::size_t row =
          shard ? static_cast<std::size_t>(
                      std::lower_bound(shard->low.begin(), shard->low.end(), low) -
                      shard->low.begin())
                : 0;
      if (!shard || row == shard->rows() || shard->low[row] != low) {
        queries[i].no_search = "the store has no such article";
        unknown_pmid_ = true;
        continue;
      }
      known_ = true;
      if (shard->state[row] == store::ArticleState::deleted) {
        queries[i].no_search = "it was deleted";
      } else {
        const auto codes = shard->row(row);
        queries[i].codes.assign(codes.begin(), codes.end());
      }
    }
  }

  // Counts what the atlas does not know, and finds articles that cannot be searched.
  void check(Query& query) {
    for (const store::DescriptorCode code : query.codes) {
      if (mapper_.knows(code)) {
        known_ = true;
      } else {
        unknown_.add(store::descriptor_ui(code));
      }
    }
    const std::size_t k = query.codes.size() + query.unnamed;
    if (k == 0) {
      query.no_search = "it has no descriptors";
    } else if (k > gpu::max_descriptors) {
      query.no_search = "it has " + std::to_string(k) + " descriptors, more than " +
                        std::to_string(gpu::max_descriptors);
    }
  }

  void write_row(const std::string& name, const std::optional<pipeline::Place>& place) {
    const bool second = place && place->second != gpu::no_neuron;
    const std::string label = place ? mapper_.label(place->neuron) : "";
    if (json_) {
      write_json(name, place, second, label);
      return;
    }
    const auto number = [](bool there, std::uint32_t value) {
      return there ? std::to_string(value) : std::string("-");
    };
    session_.out() << exports::tsv_line(
        {name, number(place.has_value(), place ? place->neuron / side_ : 0),
         number(place.has_value(), place ? place->neuron % side_ : 0),
         place ? exports::distance_text(place->distance) : "-",
         number(second, second ? place->second / side_ : 0),
         number(second, second ? place->second % side_ : 0), label.empty() ? "-" : label});
  }

  void write_json(const std::string& name, const std::optional<pipeline::Place>& place, bool second,
                  const std::string& label) {
    const auto text = [](const std::string& value) {
      return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    const auto number = [](bool there, std::uint32_t value) {
      return there ? std::to_string(value) : std::string("null");
    };
    const std::string leading = place ? mapper_.leading(place->neuron) : "";
    session_.out() << "{\"article\":" << text(name)
                   << ",\"row\":" << number(place.has_value(), place ? place->neuron / side_ : 0)
                   << ",\"column\":" << number(place.has_value(), place ? place->neuron % side_ : 0)
                   << ",\"distance\":"
                   << (place ? exports::distance_text(place->distance) : std::string("null"))
                   << ",\"second_row\":" << number(second, second ? place->second / side_ : 0)
                   << ",\"second_column\":" << number(second, second ? place->second % side_ : 0)
                   << ",\"label\":" << (label.empty() ? std::string("null") : text(label))
                   << ",\"leading\":" << (leading.empty() ? std::string("null") : text(leading))
                   << "}\n";
  }

  Session& session_;
  bool json_;
  store::Store* store_;
  pipeline::AtlasMapper mapper_;
  lookup::DescriptorNames names_;
  std::shared_ptr<const store::MeshView> view_;  // of the store: as filed where there is none
  std::vector<store::AtlasDescriptor> former_;
  lookup::DescriptorNames former_names_;
  std::uint32_t side_;
  std::vector<lookup::Article> batch_;
  std::size_t batch_bytes_ = 0;
  lookup::UnknownDescriptors unknown_;
  bool known_ = false;         // anything of the input: a descriptor, or an article of the store
  bool unknown_pmid_ = false;  // a PMID that neither the atlas nor the store has
  std::uint64_t remarks_ = 0;
  std::uint64_t articles_ = 0;
  std::uint64_t placed_ = 0;
};

ingest::NameTable names_of(store::Atlas& atlas) {
  ingest::NameTable names;
  for (store::AtlasDescriptor& descriptor : atlas.descriptors()) {
    names.add(std::move(descriptor.name),
              {store::descriptor_number(descriptor.code),
               static_cast<std::uint8_t>(store::descriptor_digits(descriptor.code))});
  }
  return names;
}

int run(Session& session, const MapOptions& options) {
  const std::unique_ptr<store::Atlas> atlas =
      store::Atlas::open(options.atlas, store::Atlas::Access::read);
  std::unique_ptr<store::Store> store;
  if (!options.store.empty()) {
    store = store::Store::open(options.store, store::Store::Access::read);
  }
  const std::unique_ptr<ingest::ByteSource> input = lookup::open_input(options.input);
  MapRun work(session, options, *atlas, store.get());
  lookup::read_articles(*input, names_of(*atlas), work);
  return work.finish(input->path());
}

}  // namespace

Run define_map(CLI::App& command) {
  auto options = std::make_shared<MapOptions>();
  add_atlas_option(command, options->atlas)->required();
  add_store_option(command, options->store)
      ->description(
          "The atlas's store: articles given as PMIDs are searched by the descriptors they have "
          "there now, not looked up among the places found at training; its lists of changed "
          "descriptors hold for the input too");
  add_json_option(command, options->json)
      ->description("Write a JSON object a line instead of tab-separated values");
  add_size_option(command, "--host-memory", options->host_memory,
                  "Most memory to keep planes of the map in, for instance 4GiB (default: half of "
                  "what the machine has available)");
  command
      .add_option(
          "INPUT", options->input,
          "MEDLINE XML (gzip too); or PMIDs, one a line; or a line an article, its descriptors "
          "separated by `;`, each by UI or by the name of the MeSH heading in any case (no entry "
          "terms, no qualifiers); the first line tells which; - is standard input")
      ->required()
      ->type_name("");
  command.footer(
      "Prints a line an article, in the order of the input, tab-separated:\n"
      "  article        its PMID, or `line N` of the input\n"
      "  row, column    of its cell, from 0, from the top left\n"
      "  distance       to the cell's weights: lower is nearer\n"
      "  second row, second column\n"
      "                 of the second-best cell: far away means an uncertain place\n"
      "  label          the name of the region of the map that the cell lies in\n"
      "An article without a place has `-` in these columns. The exit code is 1 where nothing in "
      "the\n"
      "input is known to the atlas.");
  return [options](Session& session) { return run(session, *options); };
}

}  // namespace somatlas::tools
