// Square pictures of a map as a viewer asks for them: a shade a cell, and tiles of 256 x 256 shades
// cut out of the map at every zoom. Always holds: a tile depends on the shades and its place alone;
// tiles side by side fit without a seam.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace somatlas::pipeline {

/// A shade is a place in a palette of 256 colours: 0 to most_shade is a value, the others a state.
using Shade = std::uint8_t;
inline constexpr Shade most_shade = 250;
inline constexpr Shade shade_outside = 251;      // beyond the map's edge
inline constexpr Shade shade_no_value = 252;     // a usable cell with nothing to show
inline constexpr Shade shade_border = 253;       // between two regions
inline constexpr Shade shade_vacant = 254;       // a cell with no weights
inline constexpr Shade shade_vacant_line = 255;  // the hatching on it

/// Values from low to high, evenly or by log(1 + value), as shades.
struct ShadeRange {
  double low = 0;
  double high = 1;
  bool logarithmic = false;
};
/// The nearest shade; what lies outside the range takes its end. 0 where the range is empty.
[[nodiscard]] Shade shade_of(double value, const ShadeRange& range);

/// The value below which that share of the values lies, by rank; 0 where there are none.
[[nodiscard]] double quantile(std::vector<double> values, double share);

/// A colour for each of `count` parts of the map, numbers from 0: parts whose cells share an edge
/// get different ones while there are `colours`; each takes the one fewest parts have so far, the
/// lower at a tie. part: of each cell, row by row.
[[nodiscard]] std::vector<Shade> part_colours(std::uint32_t side,
                                              std::span<const std::uint32_t> part,
                                              std::size_t count, std::size_t colours);

/// What tiles are cut from.
struct TileSource {
  std::uint32_t side = 0;
  std::span<const Shade> shade;         // side * side, row by row
  std::span<const std::uint32_t> part;  // as shade, or empty: draws borders, and mixes no shades
};

inline constexpr std::uint32_t tile_edge = 256;
/// The zoom at which a cell is 128 pixels wide, the largest there is. At zoom 0 one tile shows the
/// whole map, its side filled up to a power of two; each further zoom doubles a cell's edge.
[[nodiscard]] std::uint32_t most_zoom(std::uint32_t side);

/// tile_edge * tile_edge shades, row by row, of the tile in column x and row y at that zoom, all in
/// range. Where a pixel holds several cells it has the mean of their values' shades, rounded half
/// up. From 4 pixels a cell on, vacant cells are hatched and borders drawn.
[[nodiscard]] std::vector<Shade> render_tile(const TileSource& source, std::uint32_t zoom,
                                             std::uint32_t x, std::uint32_t y);

}  // namespace somatlas::pipeline
