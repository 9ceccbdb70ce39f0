// The colours behind shades, all told apart with any kind of colour vision, and tiles as PNG.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "pipeline/map_tiles.h"
#include "tools/export/colour_scale.h"
#include "tools/serve/atlas_view.h"

namespace somatlas::serve {

/// Colours that regions take; neighbours never share one while these suffice.
inline constexpr std::size_t parts_colours = 9;

/// A colour for each shade; that of shade_outside is shown transparent.
[[nodiscard]] const std::array<exports::Colour, 256>& colours_of(Palette palette);
/// "#rrggbb".
[[nodiscard]] std::string css_colour(exports::Colour colour);

/// A tile of pipeline::tile_edge pixels an edge as a PNG with that palette. Throws
/// std::runtime_error.
[[nodiscard]] std::string encode_tile(std::span<const pipeline::Shade> tile, Palette palette);

/// The largest weight of a plane, which stands behind its shades, low byte first.
[[nodiscard]] inline std::uint16_t most_weight_of(const std::string& plane_shades) {
  const auto byte = [&plane_shades](std::size_t from_end) {
    return static_cast<unsigned char>(plane_shades[plane_shades.size() - from_end]);
  };
  return static_cast<std::uint16_t>(byte(2) | byte(1) << 8U);
}

}  // namespace somatlas::serve
