// The regions as VOSviewer's map, network and JSON files, and as GraphML for Gephi and Cytoscape.
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "store/store_error.h"
#include "tools/export/atlas_export.h"
#include "tools/export/delimited.h"
#include "tools/export/peer_formats.h"
#include "tools/export/region_network.h"
#include "tools/export/xml_text.h"

namespace somatlas::exports {
namespace {

// VOSviewer's own limit for a network that it draws.
constexpr std::size_t most_items = 5'000;

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "" : "; ") + name;
  }
  return list;
}

std::string vosviewer_json(const RegionNetwork& network) {
  using nlohmann::ordered_json;
  ordered_json items = ordered_json::array();
  for (std::size_t r = 0; r < network.regions.size(); ++r) {
    const NetworkRegion& region = network.regions[r];
    ordered_json item;
    item["id"] = r + 1;
    item["label"] = region.name;
    item["x"] = region.x;
    item["y"] = region.y;
    item["cluster"] = region.area + 1;
    item["weights"] = {{"hits", region.hits}, {"cells", region.cells}};
    if (region.mean_year) {
      item["scores"] = {{"avg year", *region.mean_year}, {"growth", *region.growth}};
    }
    if (!region.leading_ui.empty()) {
      item["url"] = "https://meshb.nlm.nih.gov/record/ui?ui=" + region.leading_ui;
    }
    item["description"] = "<b>" + xml_text(region.name) + "</b><br>" + xml_text(region.area_name) +
                          "<br>" + xml_text(list_of(region.leading));
    items.push_back(std::move(item));
  }
  ordered_json links = ordered_json::array();
  for (const auto& [pair, length] : network.borders) {
    links.push_back(
        {{"source_id", pair.first + 1}, {"target_id", pair.second + 1}, {"strength", length}});
  }
  ordered_json json;
  json["network"]["items"] = std::move(items);
  json["network"]["links"] = std::move(links);
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::optional<std::uint64_t> export_vosviewer(store::Atlas& atlas, const Target& target) {
  constexpr std::array<std::string_view, 3> names{"map.txt", "network.txt", "atlas.json"};
  const RegionNetwork network = region_network(atlas);
  if (network.regions.size() > most_items) {
    throw store::StoreError(atlas.directory() + ": VOSviewer takes " + std::to_string(most_items) +
                            " items and the map has " + std::to_string(network.regions.size()) +
                            " regions; export graphml or sqlite");
  }
  PendingDirectory directory(target.path, names, target.existing);
  NewFile map(directory.path_of(names[0]), directory.shown(names[0]));
  std::vector<std::string> fields{"id",           "label",          "x", "y", "cluster",
                                  "weight<hits>", "score<avg year>"};
  map.write(csv_line(fields));
  for (std::size_t r = 0; r < network.regions.size(); ++r) {
    const NetworkRegion& region = network.regions[r];
    fields = {std::to_string(r + 1),
              tsv_field(region.name),
              decimals(region.x, 6),
              decimals(region.y, 6),
              std::to_string(region.area + 1),
              std::to_string(region.hits),
              region.mean_year ? decimals(*region.mean_year, 2) : ""};
    map.write(csv_line(fields));
  }
  map.close();
  NewFile links(directory.path_of(names[1]), directory.shown(names[1]));
  for (const auto& [pair, length] : network.borders) {
    links.write(tsv_line(
        {std::to_string(pair.first + 1), std::to_string(pair.second + 1), std::to_string(length)}));
  }
  links.close();
  NewFile json(directory.path_of(names[2]), directory.shown(names[2]));
  json.write(vosviewer_json(network));
  json.close();
  if (target.stop.stop_requested()) {
    return std::nullopt;
  }
  directory.commit();
  return network.regions.size();
}

std::optional<std::uint64_t> export_graphml(store::Atlas& atlas, const Target& target) {
  struct Key {
    const char* id;
    const char* type;
  };
  constexpr std::array<Key, 11> keys{{{"label", "string"},
                                      {"x", "double"},
                                      {"y", "double"},
                                      {"row", "int"},
                                      {"column", "int"},
                                      {"area", "string"},
                                      {"continent", "string"},
                                      {"cells", "int"},
                                      {"hits", "long"},
                                      {"mean_year", "double"},
                                      {"growth", "double"}}};
  const RegionNetwork network = region_network(atlas);
  PendingFile output(target.path, target.existing);
  NewFile& file = output.file();
  file.write(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
  const auto key = [&](const char* id, const char* of, const char* type) {
    file.write(std::string("<key id=\"") + id + "\" for=\"" + of + "\" attr.name=\"" + id +
               "\" attr.type=\"" + type + "\"/>\n");
  };
  for (const Key& of_node : keys) {
    key(of_node.id, "node", of_node.type);
  }
  key("leading", "node", "string");
  key("weight", "edge", "double");
  file.write("<graph id=\"regions\" edgedefault=\"undirected\">\n");
  const auto data = [](const char* id, const std::string& value) {
    return std::string("<data key=\"") + id + "\">" + xml_text(value) + "</data>";
  };
  for (std::size_t r = 0; r < network.regions.size(); ++r) {
    const NetworkRegion& region = network.regions[r];
    std::string node = "<node id=\"r" + std::to_string(r) + "\">";
    node += data("label", region.name) + data("x", decimals(region.x, 6)) +
            data("y", decimals(region.y, 6)) + data("row", std::to_string(region.row)) +
            data("column", std::to_string(region.column)) + data("area", region.area_name) +
            data("continent", region.continent_name) + data("cells", std::to_string(region.cells)) +
            data("hits", std::to_string(region.hits));
    if (region.mean_year) {
      node += data("mean_year", decimals(*region.mean_year, 2)) +
              data("growth", decimals(*region.growth, 4));
    }
    file.write(node + data("leading", list_of(region.leading)) + "</node>\n");
  }
  for (const auto& [pair, length] : network.borders) {
    file.write("<edge source=\"r" + std::to_string(pair.first) + "\" target=\"r" +
               std::to_string(pair.second) + "\">" + data("weight", std::to_string(length)) +
               "</edge>\n");
  }
  file.write("</graph>\n</graphml>\n");
  if (target.stop.stop_requested()) {
    return std::nullopt;
  }
  output.commit();
  return network.regions.size();
}

}  // namespace somatlas::exports
