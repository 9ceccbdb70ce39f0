// What the viewer's pages ask for, as JSON. Always holds: every answer has a bound on its size;
// names stand in it as text, which the pages put in as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tools/serve/atlas_view.h"

namespace somatlas::serve {

inline constexpr std::size_t pmids_a_page = 50;
inline constexpr std::size_t most_labels = 300;
inline constexpr std::size_t most_found = 20;
inline constexpr std::size_t leading_in_brief = 3;

/// Side, zooms, layers with legends, levels of regions, what the atlas says of itself.
[[nodiscard]] nlohmann::json describe_atlas(const AtlasView& view);
/// A layer with its legend, also a descriptor's plane.
[[nodiscard]] nlohmann::json describe_layer(const Layer& layer);

/// Leading descriptors with lift, years, articles of that page, regions and neighbours of a cell.
[[nodiscard]] nlohmann::json describe_cell(const AtlasView& view, std::uint32_t cell,
                                           std::size_t page);
/// A cell in few words: hits, the name of its region, its first descriptors. Nothing is read.
[[nodiscard]] nlohmann::json describe_briefly(const AtlasView& view, std::uint32_t cell);
/// How many articles of the cell are of each year, by the store; reads at most so many of its
/// ranges anew that an answer does not keep one waiting, and says whether it counted all articles.
[[nodiscard]] nlohmann::json count_years(const AtlasView& view, std::uint32_t cell);

/// A region of a level (0 to 2): hits, cells and the window they lie in, the parts above it and the
/// largest below, years, growth, leading descriptors with lift.
[[nodiscard]] nlohmann::json describe_region(const AtlasView& view, std::size_t level,
                                             std::uint32_t number);
/// How many articles of the region are of each step of years, once all are counted: to be asked
/// again until they are, and each time some more.
[[nodiscard]] nlohmann::json count_region_years(const AtlasView& view, std::size_t level,
                                                std::uint32_t number);

/// How far the counting of all articles by year has come, and how many there are of each step.
[[nodiscard]] nlohmann::json describe_years(const YearCounts::State& state);

/// Rows and columns of cells, the ends included.
struct CellWindow {
  std::uint32_t top = 0;
  std::uint32_t left = 0;
  std::uint32_t bottom = 0;
  std::uint32_t right = 0;
};
/// The smallest that holds each region of that level.
[[nodiscard]] std::vector<CellWindow> windows_of(const AtlasView& view, std::size_t level);
/// Growth of a region's articles against those of the atlas (pipeline::growth); nothing where no
/// article has a year.
[[nodiscard]] std::optional<double> growth_of(const AtlasView& view,
                                              const store::AtlasRegion& region);
/// Names of the regions of a level (0 to 2) whose centre is in the window, those of most articles;
/// without a level, of its cells.
[[nodiscard]] nlohmann::json list_labels(const AtlasView& view, std::optional<std::size_t> level,
                                         const CellWindow& window);

/// The descriptor whose name or UI is text, those that have it as an entry word, then those whose
/// name or entry word begins with it, those with a word that does, those that hold it, and those
/// with its words in another order; names before entry words and each by falling number of
/// articles; "entry" is the entry word where one was found. An article by its PMID. Where nothing
/// is found, "nearest" has what may be meant.
[[nodiscard]] nlohmann::json search_names(const AtlasView& view, std::string_view text);

/// What may be meant by each of these names (lookup::DescriptorNames::nearest), as search_names()
/// gives descriptors.
[[nodiscard]] nlohmann::json nearest_names(const AtlasView& view,
                                           std::span<const std::string_view> names);

inline constexpr std::size_t most_pmids_at_once = 1000;
inline constexpr std::size_t most_lines_at_once = 50;
inline constexpr std::size_t most_descriptors_of_a_line = 200;
inline constexpr std::uint64_t most_articles_tested = 1'000'000;
inline constexpr std::size_t most_regions_told = 100;

/// Where the first of these articles lie, by the places of training: [PMID, row, column, and the
/// number of the region of each level]; those that have no place are left out. "done" says of how
/// many of the list this is: the places of so few of its ranges are read at once that an answer
/// does not keep one waiting; ascending PMIDs need the fewest answers.
[[nodiscard]] nlohmann::json place_pmids(const AtlasView& view,
                                         std::span<const std::uint32_t> pmids);
/// The same of articles given as lines of descriptors, as `map` reads them, found by search: the
/// first of each entry is the line's number from 0. "unknown" are names and UIs that lead to no
/// descriptor of the atlas, each once, at most most_found: the number of the first line that has
/// it, and the name.
[[nodiscard]] nlohmann::json place_lines(const AtlasView& view,
                                         std::span<const std::string_view> lines);

/// How many articles of a list lie in a region.
struct RegionCount {
  std::uint32_t region = 0;
  std::uint64_t articles = 0;
};
/// Which regions of the level (0 to 2) a list favours or avoids against the training articles:
/// those that stand out most come first, at most most_regions_told.
[[nodiscard]] nlohmann::json test_regions(const AtlasView& view, std::size_t level,
                                          std::span<const RegionCount> counts);

}  // namespace somatlas::serve
