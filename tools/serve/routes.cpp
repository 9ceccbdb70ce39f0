// Addresses are compared with the few that there are; nothing of them is used as a name of a file.
#include "tools/serve/routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

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
  ByteCache::Value tile = view.cache().get(key, [&] { return view.tile(*layer, *zoom, *x, *y); });
  return {.status = 200, .type = "image/png", .body = std::move(tile), .lasting = true};
}

// api/cell/ROW/COLUMN, api/brief/ROW/COLUMN, api/years/ROW/COLUMN
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
  if (target.path[1] == "brief") {
    return json_reply(describe_briefly(view, cell));
  }
  const auto page = parse_number(target.value("page").value_or("0"));
  return page ? json_reply(describe_cell(view, cell, *page))
              : senseless("page is a number from 0 on");
}

// api/region/LEVEL/NUMBER, and .../years
Reply region_reply(const AtlasView& view, const RequestTarget& target) {
  const auto level = parse_number(target.path[2], store::region_levels);
  if (!level || *level == 0) {
    return nothing_here();
  }
  const std::size_t regions = view.cells().levels[*level - 1].size();
  const auto number = parse_number(target.path[3], static_cast<std::uint32_t>(regions - 1));
  if (!number || *number >= regions) {
    return nothing_here();
  }
  return json_reply(target.path.size() == 5 ? count_region_years(view, *level - 1, *number)
                                            : describe_region(view, *level - 1, *number));
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

// What stands between commas; nothing where there are more than most of them or take refuses one.
template <typename Take>
bool each_of(std::string_view text, std::size_t most, const Take& take) {
  for (std::size_t count = 0; !text.empty(); ++count) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (count == most || end + 1 == text.size() || !take(text.substr(0, end))) {
      return false;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

// api/place?pmids=N,N,... or ?line=...&line=...
Reply place_reply(const AtlasView& view, const RequestTarget& target) {
  if (const auto text = target.value("pmids")) {
    std::vector<std::uint32_t> pmids;
    const bool whole = each_of(*text, most_pmids_at_once, [&pmids](std::string_view one) {
      const auto pmid = parse_number(one);
      pmids.push_back(pmid.value_or(0));
      return pmids.back() != 0;
    });
    return whole ? json_reply(place_pmids(view, pmids))
                 : senseless("pmids takes at most " + std::to_string(most_pmids_at_once) +
                             " numbers from 1 on, parted by commas");
  }
  std::vector<std::string_view> lines;
  for (const auto& [name, value] : target.query) {
    if (name == "line") {
      lines.emplace_back(value);
    }
  }
  return !lines.empty() && lines.size() <= most_lines_at_once
             ? json_reply(place_lines(view, lines))
             : senseless("place takes pmids, or 1 to " + std::to_string(most_lines_at_once) +
                         " times line, an article's descriptors parted by semicolons");
}

// api/nearest?name=...&name=...
Reply nearest_reply(const AtlasView& view, const RequestTarget& target) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : target.query) {
    if (name == "name") {
      names.emplace_back(value);
    }
  }
  return !names.empty() && names.size() <= most_found
             ? json_reply(nearest_names(view, names))
             : senseless("nearest takes 1 to " + std::to_string(most_found) +
                         " times name, none of a descriptor");
}

// api/enrichment?level=1&counts=REGION:N,REGION:N,...
Reply enrichment_reply(const AtlasView& view, const RequestTarget& target) {
  const auto level = parse_number(target.value("level").value_or(""), store::region_levels);
  if (!level || *level == 0) {
    return senseless("enrichment takes level, 1 to 3, and counts");
  }
  const std::size_t regions = view.cells().levels[*level - 1].size();
  std::vector<RegionCount> counts;
  std::uint64_t all = 0;
  const bool whole =
      each_of(target.value("counts").value_or(""), regions, [&](std::string_view one) {
        const std::size_t colon = std::min(one.find(':'), one.size());
        const auto region =
            parse_number(one.substr(0, colon), static_cast<std::uint32_t>(regions - 1));
        const auto count = parse_number(one.substr(std::min(colon + 1, one.size())));
        if (region && count) {
          counts.push_back({*region, *count});
          all += *count;
        }
        return region && count && all <= most_articles_tested;
      });
  return whole ? json_reply(test_regions(view, *level - 1, counts))
               : senseless(
                     "counts takes REGION:N of regions of the level, parted by commas, of "
                     "at most " +
                     std::to_string(most_articles_tested) + " articles");
}

Reply api_reply(const AtlasView& view, const RequestTarget& target) {
  const std::string& name = target.path[1];
  if (target.path.size() == 4 && (name == "cell" || name == "brief" || name == "years")) {
    return cell_reply(view, target);
  }
  if (name == "region" &&
      (target.path.size() == 4 || (target.path.size() == 5 && target.path[4] == "years"))) {
    return region_reply(view, target);
  }
  if (target.path.size() == 3 && name == "layer") {
    const auto layer = view.layer(target.path[2]);
    return layer ? json_reply(describe_layer(*layer))
                 : text_reply(404, "This atlas has no layer " + target.path[2]);
  }
  if (target.path.size() != 2) {
    return nothing_here();
  }
  if (name == "atlas") {
    return json_reply(describe_atlas(view));
  }
  if (name == "timeline") {
    return json_reply(describe_years(view.year_counts().go_on()));
  }
  if (name == "labels") {
    return labels_reply(view, target);
  }
  if (name == "place") {
    return place_reply(view, target);
  }
  if (name == "nearest") {
    return nearest_reply(view, target);
  }
  if (name == "enrichment") {
    return enrichment_reply(view, target);
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
