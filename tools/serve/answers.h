// What the viewer's pages ask for, as JSON. Always holds: every answer has a bound on its size;
// names stand in it as text, which the pages put in as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "tools/serve/atlas_view.h"

namespace somatlas::serve {

inline constexpr std::size_t pmids_a_page = 50;
inline constexpr std::size_t most_labels = 300;
inline constexpr std::size_t most_found = 20;

/// Side, zooms, layers with legends, levels of regions, what the atlas says of itself.
[[nodiscard]] nlohmann::json describe_atlas(const AtlasView& view);
/// A layer with its legend, also a descriptor's plane.
[[nodiscard]] nlohmann::json describe_layer(const Layer& layer);

/// Leading descriptors with lift, years, articles of that page, regions and neighbours of a cell.
[[nodiscard]] nlohmann::json describe_cell(const AtlasView& view, std::uint32_t cell,
                                           std::size_t page);
/// How many articles of the cell are of each year, by the store; reads at most so many of its
/// ranges anew that an answer does not keep one waiting, and says whether it counted all articles.
[[nodiscard]] nlohmann::json count_years(const AtlasView& view, std::uint32_t cell);

/// Rows and columns of cells, the ends included.
struct CellWindow {
  std::uint32_t top = 0;
  std::uint32_t left = 0;
  std::uint32_t bottom = 0;
  std::uint32_t right = 0;
};
/// Names of the regions of a level (0 to 2) whose centre is in the window, those of most articles;
/// without a level, of its cells.
[[nodiscard]] nlohmann::json list_labels(const AtlasView& view, std::optional<std::size_t> level,
                                         const CellWindow& window);

/// Descriptors whose name begins with text, then those with a word that does, then those that hold
/// it, each by falling number of articles; a descriptor by its UI; an article by its PMID.
[[nodiscard]] nlohmann::json search_names(const AtlasView& view, std::string_view text);

}  // namespace somatlas::serve
