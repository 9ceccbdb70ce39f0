// Addresses are compared with the few that there are; nothing of them is used as a name of a file.
#include "tools/serve/routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tools/serve/answers.h"
#include "tools/serve/assets.h"
#include "tools/serve/palettes.h"

namespace somatlas::serve {
namespace {

using nlohmann::json;

constexpr std::size_t longest_search = 200;

Reply json_reply(const json& value) {
  return {.status = 200,
          .type = "application/json",
          .body = std::make_shared<const std::string>(
              value.dump(-1, ' ', false, json::error_handler_t::replace)),
          .lasting = false};
}

Reply nothing_here() {
  return text_reply(404, "there is nothing at this address");
}

Reply senseless(const std::string& what) {
  return text_reply(400, what);
}

Reply asset_reply(const std::string& name) {
  const auto found = std::ranges::find(assets(), name, &Asset::name);
  return found == assets().end() ? nothing_here()
                                 : Reply{.status = 200,
                                         .type = std::string(found->type),
                                         .body = std::make_shared<const std::string>(found->bytes),
                                         .lasting = false};
}

// tile/LAYER/ZOOM/X/Y.png
Reply tile_reply(const AtlasView& view, const RequestTarget& target) {
  std::string last = target.path[4];
  if (!last.ends_with(".png")) {
    return nothing_here();
  }
  last.resize(last.size() - 4);
  const auto zoom = parse_number(target.path[2], pipeline::most_zoom(view.side()));
  const auto x = zoom ? parse_number(target.path[3], (1U << *zoom) - 1) : std::nullopt;
  const auto y = zoom ? parse_number(last, (1U << *zoom) - 1) : std::nullopt;
  const std::optional<Layer> layer = y && x ? view.layer(target.path[1]) : std::nullopt;
  if (!layer) {
    return nothing_here();
  }
  const std::string key =
      "tile/" + layer->id + '/' + target.path[2] + '/' + target.path[3] + '/' + last;
  ByteCache::Value tile = view.cache().get(key, [&] {
    const ByteCache::Value shades = view.shades(layer->id);
    pipeline::TileSource source{.side = view.side(),
                                .shade = {reinterpret_cast<const pipeline::Shade*>(shades->data()),
                                          std::size_t{view.side()} * view.side()},
                                .part = {}};
    if (layer->level) {
      source.part = view.part(*layer->level);
    }
    return encode_tile(pipeline::render_tile(source, *zoom, *x, *y), layer->palette);
  });
  return {.status = 200, .type = "image/png", .body = std::move(tile), .lasting = true};
}

// api/cell/ROW/COLUMN, api/years/ROW/COLUMN
Reply cell_reply(const AtlasView& view, const RequestTarget& target) {
  const auto row = parse_number(target.path[2], view.side() - 1);
  const auto column = parse_number(target.path[3], view.side() - 1);
  if (!row || !column) {
    return nothing_here();
  }
  const std::uint32_t cell = *row * view.side() + *column;
  if (target.path[1] == "years") {
    return json_reply(count_years(view, cell));
  }
  const auto page = parse_number(target.value("page").value_or("0"));
  return page ? json_reply(describe_cell(view, cell, *page))
              : senseless("page is a number from 0 on");
}

Reply labels_reply(const AtlasView& view, const RequestTarget& target) {
  const std::uint32_t last = view.side() - 1;
  const auto level = parse_number(target.value("level").value_or(""), store::region_levels);
  const auto top = parse_number(target.value("top").value_or("0"), last);
  const auto left = parse_number(target.value("left").value_or("0"), last);
  const auto bottom = parse_number(target.value("bottom").value_or(std::to_string(last)), last);
  const auto right = parse_number(target.value("right").value_or(std::to_string(last)), last);
  if (!level || !top || !left || !bottom || !right) {
    return senseless(
        "labels takes level (0: cells, 1 to 3: regions) and top, left, bottom and "
        "right, rows and columns of the map");
  }
  return json_reply(list_labels(view,
                                *level == 0 ? std::nullopt : std::optional<std::size_t>(*level - 1),
                                {.top = *top, .left = *left, .bottom = *bottom, .right = *right}));
}

Reply api_reply(const AtlasView& view, const RequestTarget& target) {
  const std::string& name = target.path[1];
  if (target.path.size() == 4 && (name == "cell" || name == "years")) {
    return cell_reply(view, target);
  }
  if (target.path.size() == 3 && name == "layer") {
    const auto layer = view.layer(target.path[2]);
    return layer ? json_reply(describe_layer(*layer)) : nothing_here();
  }
  if (target.path.size() != 2) {
    return nothing_here();
  }
  if (name == "atlas") {
    return json_reply(describe_atlas(view));
  }
  if (name == "labels") {
    return labels_reply(view, target);
  }
  if (name == "search") {
    const std::string_view text = target.value("q").value_or("");
    return text.size() > longest_search ? senseless("q is too long")
                                        : json_reply(search_names(view, text));
  }
  return nothing_here();
}

}  // namespace

Reply reply_to(const AtlasView& view, const RequestTarget& target) {
  if (target.path.size() < 2) {
    return asset_reply(target.path.empty() ? "" : target.path.front());
  }
  if (target.path[0] == "tile" && target.path.size() == 5) {
    return tile_reply(view, target);
  }
  return target.path[0] == "api" ? api_reply(view, target) : nothing_here();
}

}  // namespace somatlas::serve
