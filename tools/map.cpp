// somatlas map: finds articles on a finished atlas. Always holds: every article of the input has
// one row, in the input's order; of what has no place or is unknown the first are named on standard
// error and all are counted.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "gpu/contract.h"
#include "pipeline/mapping.h"
#include "pipeline/memory_plan.h"
#include "store/store.h"
#include "tools/command.h"
#include "tools/export/decimal_text.h"
#include "tools/export/delimited.h"
#include "tools/lookup/article_placer.h"

namespace somatlas::tools {
namespace {

struct MapOptions {
  std::string atlas;
  std::string store;
  std::string input;
  std::size_t host_memory = 0;  // bytes; 0: half of what the machine has available
  bool json = false;
};

class PlaceRows {
 public:
  PlaceRows(Session& session, bool json, const pipeline::AtlasMapper& mapper)
      : session_(session), json_(json), mapper_(mapper), side_(mapper.meta().settings.side) {}

  void write_header() {
    if (!json_) {
      session_.out() << "article\trow\tcolumn\tdistance\tsecond row\tsecond column\tlabel\n";
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

 private:
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
  const pipeline::AtlasMapper& mapper_;
  std::uint32_t side_;
};

int run(Session& session, const MapOptions& options) {
  const std::unique_ptr<store::Atlas> atlas =
      store::Atlas::open(options.atlas, store::Atlas::Access::read);
  std::unique_ptr<store::Store> store;
  if (!options.store.empty()) {
    store = store::Store::open(options.store, store::Store::Access::read);
  }
  const std::unique_ptr<ingest::ByteSource> input = lookup::open_input(options.input);
  pipeline::AtlasMapper mapper(*atlas, options.host_memory != 0
                                           ? options.host_memory
                                           : pipeline::available_host_memory() / 2);
  PlaceRows rows(session, options.json, mapper);
  lookup::ArticlePlacer placer(
      mapper, store.get(),
      [&](const lookup::Article& article, const std::optional<pipeline::Place>& place) {
        rows.write_row(lookup::name_of(article), place);
      },
      [&](const std::string& sentence) { session.say(sentence); });
  rows.write_header();
  return placer.place_all(*input) ? exit_done : exit_failed;
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
          "MEDLINE XML, .nbib or CSV as PubMed saves them (gzip too); or PMIDs, one a line; or a "
          "line an article, its descriptors "
          "separated by `;`, each by UI, by the name of the MeSH heading in any case, or by an "
          "entry word where the store was given descYYYY.xml (no qualifiers); the first line tells "
          "which; - is standard input")
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
