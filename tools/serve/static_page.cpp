// Tiles of layers end at 16 x 16 of them and those of planes at 4 x 4, or where that is more than
// anybody needs; further in the page draws their pixels larger.
#include "tools/serve/static_page.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "store/store_error.h"
#include "tools/export/codebook_text.h"
#include "tools/serve/answers.h"
#include "tools/serve/assets.h"
#include "tools/serve/page_folder.h"

namespace somatlas::serve {
namespace {

using nlohmann::json;

constexpr std::uint32_t most_layer_zoom = 4;
constexpr std::uint32_t most_plane_zoom = 2;
constexpr std::uint32_t plane_zooms_left_out = 5;  // from 4 pixels a cell on they show nothing new
constexpr std::string_view static_assets = "static/";  // these take the place of the server's
constexpr std::string_view head = "<meta charset=\"utf-8\">\n";
constexpr std::string_view before_api = "<script src=\"api.js\" defer></script>\n";
// What a server works out for its page.
constexpr std::string_view worked_out_here =
    "<script src=\"enrichment.js\" defer></script>\n<script src=\"nearest.js\" defer></script>\n";
// A web server's own policy comes on top. From file:// no script has an origin that 'self' means.
constexpr std::string_view policy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'self' "
    "file:; style-src 'self' file:; img-src 'self' file: data:; base-uri 'none'; form-action "
    "'none'\">\n";

std::uint32_t layer_zoom(std::uint32_t side) {
  return std::min(pipeline::most_zoom(side), most_layer_zoom);
}

std::uint32_t plane_zoom(std::uint32_t side) {
  const std::uint32_t most = pipeline::most_zoom(side);
  return std::min(most - std::min(most, plane_zooms_left_out), most_plane_zoom);
}

// Tiles an edge that hold a part of the map.
std::uint32_t tiles_across(std::uint32_t side, std::uint32_t zoom) {
  const std::uint64_t pixels = (std::uint64_t{pipeline::tile_edge} << zoom) * side;
  const std::uint64_t padded = std::bit_ceil(side);
  return static_cast<std::uint32_t>((pixels + padded * pipeline::tile_edge - 1) /
                                    (padded * pipeline::tile_edge));
}

std::uint64_t tiles_to(std::uint32_t side, std::uint32_t most) {
  std::uint64_t tiles = 0;
  for (std::uint32_t zoom = 0; zoom <= most; ++zoom) {
    tiles += std::uint64_t{tiles_across(side, zoom)} * tiles_across(side, zoom);
  }
  return tiles;
}

std::vector<store::AtlasDescriptor> planes_of(const AtlasView& view, const PageRequest& request) {
  if (!request.descriptors.empty()) {
    return exports::chosen_descriptors(view.atlas(), request.descriptors);
  }
  std::vector<store::AtlasDescriptor> chosen = view.descriptors();
  std::ranges::stable_sort(chosen, std::ranges::greater{}, &store::AtlasDescriptor::articles);
  chosen.resize(std::min(chosen.size(), request.planes));
  return chosen;
}

void refuse_too_many_files(const AtlasView& view, std::size_t planes) {
  const std::uint64_t squares = (view.side() + cells_edge - 1) / cells_edge;
  const std::uint64_t files =
      view.layers().size() * tiles_to(view.side(), layer_zoom(view.side())) +
      planes * tiles_to(view.side(), plane_zoom(view.side())) + squares * squares +
      view.meta().placed_articles / articles_a_file +
      view.cells().levels[0].size() / regions_a_file;
  if (files > most_page_files) {
    throw store::StoreError("a page with " + std::to_string(planes) + " planes takes some " +
                            std::to_string(files) + " files, and " +
                            std::to_string(most_page_files) +
                            " are the most; choose fewer with --planes or --descriptors");
  }
}

bool write_tiles(PageFolder& folder, const AtlasView& view, const Layer& layer, std::uint32_t most,
                 const std::stop_token& stop) {
  for (std::uint32_t zoom = 0; zoom <= most; ++zoom) {
    const std::uint32_t across = tiles_across(view.side(), zoom);
    for (std::uint32_t x = 0; x < across; ++x) {
      for (std::uint32_t y = 0; y < across; ++y) {
        if (stop.stop_requested()) {
          return false;
        }
        folder.write("tile/" + layer.id + '/' + std::to_string(zoom) + '/' + std::to_string(x) +
                         '/' + std::to_string(y) + ".png",
                     view.tile(layer, zoom, x, y));
      }
    }
  }
  return true;
}

std::vector<std::string_view> names_in_page() {
  std::vector<std::string_view> names{"index.html", "tile/*.png", "data/*.js"};
  for (const Asset& asset : assets()) {
    if (!asset.name.empty()) {
      const bool own = asset.name.starts_with(static_assets);
      names.push_back(own ? asset.name.substr(static_assets.size()) : asset.name);
    }
  }
  return names;
}

void write_assets(PageFolder& folder) {
  for (const Asset& asset : assets()) {
    if (asset.name.empty()) {
      std::string page(asset.bytes);
      const std::size_t api = page.find(before_api);
      const std::size_t at = page.find(head);
      if (api == std::string::npos || at == std::string::npos || at > api) {
        throw std::logic_error("the page's head has changed");
      }
      page.insert(api, worked_out_here);
      folder.write("index.html", page.insert(at + head.size(), policy));
    } else if (asset.name.starts_with(static_assets)) {
      folder.write(std::string(asset.name.substr(static_assets.size())), asset.bytes);
    } else if (std::ranges::none_of(assets(), [&](const Asset& other) {
                 return other.name == std::string(static_assets) + std::string(asset.name);
               })) {
      folder.write(std::string(asset.name), asset.bytes);
    }
  }
}

}  // namespace

PageFolder::PageFolder(const std::string& path, exports::Existing existing)
    : folder_(path, names_in_page(), existing) {}

void PageFolder::write(const std::string& name, std::string_view bytes) {
  if (const std::size_t end = name.rfind('/'); end != std::string::npos) {
    const std::string above = name.substr(0, end);
    if (made_.insert(above).second) {
      folder_.make_folder(above);
    }
  }
  exports::NewFile file(folder_.path_of(name), folder_.shown(name));
  file.write(bytes);
  file.close(exports::Sync::with_directory);
  ++files_;
  bytes_ += bytes.size();
}

void PageFolder::write_data(const std::string& name, const json& value) {
  write("data/" + name + ".js", "api.take(\"" + name + "\", " +
                                    value.dump(-1, ' ', false, json::error_handler_t::replace) +
                                    ");\n");
}

std::optional<PageSummary> export_page(const AtlasView& view, const PageRequest& request,
                                       const exports::Target& target) {
  const std::vector<store::AtlasDescriptor> planes = planes_of(view, request);
  refuse_too_many_files(view, planes.size());
  PageFolder folder(target.path, target.existing);
  write_assets(folder);
  json described = describe_atlas(view);
  for (json& layer : described["layers"]) {
    layer["tile_zoom"] = layer_zoom(view.side());
    if (!write_tiles(folder, view, *view.layer(layer["id"]), layer_zoom(view.side()),
                     target.stop)) {
      return std::nullopt;
    }
  }
  described["planes"] = json::object();
  for (const store::AtlasDescriptor& descriptor : planes) {
    const Layer layer = view.layer(store::descriptor_ui(descriptor.code)).value();
    json plane = describe_layer(layer);
    plane["tile_zoom"] = plane_zoom(view.side());
    described["planes"][layer.id] = std::move(plane);
    if (!write_tiles(folder, view, layer, plane_zoom(view.side()), target.stop)) {
      return std::nullopt;
    }
  }
  if (!write_names(folder, view, planes, target.stop)) {
    return std::nullopt;
  }
  write_entry_words(folder, view);
  write_regions(folder, view);
  described["cells_edge"] = cells_edge;
  described["recent_from"] = view.cells().recent_from;
  YearsOfRegions years;
  if (!write_cells(folder, view, years, target.stop)) {
    return std::nullopt;
  }
  write_parts(folder, view, std::move(years));
  described["place_files"] = write_places(folder, view, target.stop);
  if (target.stop.stop_requested()) {
    return std::nullopt;
  }
  folder.write_data("atlas", described);
  folder.commit();
  return PageSummary{.planes = planes.size(), .files = folder.files(), .bytes = folder.bytes()};
}

}  // namespace somatlas::serve
