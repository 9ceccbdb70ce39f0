// The figure of a map, drawn: its cells in colours, names on it, a colour bar with values, what
// grey cells mean where there are any, and a caption. Always holds: both forms show the same in the
// same places; a cell has one colour, that of its value on the bar.
#pragma once

#include <cstdint>
#include <string>

#include "tools/export/map_figure.h"
#include "tools/export/picture.h"

namespace somatlas::exports {

/// scale: dots an edge of one of the layout's pixels.
[[nodiscard]] Picture draw_map(const MapFigure& figure, std::uint32_t scale = 1);
/// An SVG file; description: what it shows, in words.
[[nodiscard]] std::string svg_of_map(const MapFigure& figure, const std::string& description);

}  // namespace somatlas::exports
