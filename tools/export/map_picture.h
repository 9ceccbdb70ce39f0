// The figure of a map: its cells in colours, names at its peaks, a colour bar with values, what
// grey cells mean where there are any, and a caption. Always holds: a cell is a whole number of
// pixels and has one colour, that of its value on the bar.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/export/colour_scale.h"
#include "tools/export/map_labels.h"
#include "tools/export/picture.h"

namespace somatlas::exports {

enum class CellState : std::uint8_t {
  valued,
  vacant,    // no weights: hatched
  no_value,  // usable, with nothing to show (no article, none with a date): flat light grey
};

enum class Spacing : std::uint8_t { linear, logarithmic };

/// What is to be drawn.
struct MapFigure {
  std::uint32_t side = 0;
  std::vector<double> value;          // side * side, row-major
  std::vector<CellState> state;       // as value
  Spacing spacing = Spacing::linear;  // logarithmic: colours by log(1 + value)
  double low = 0;                     // values at the ends of the bar; what lies outside takes the
  double high = 1;                    // colour of the nearest end
  bool whole_numbers = false;         // ticks at whole numbers only
  // In place of values and their bar: a colour a cell, and what the colours mean.
  std::vector<Colour> colour;
  struct LegendEntry {
    Colour colour;
    std::string text;
  };
  std::vector<LegendEntry> legend;
  // Lines between cells of different numbers, the later the thicker; each side * side.
  std::vector<std::vector<std::uint32_t>> parts;
  std::string title;
  std::string subtitle;
  std::string quantity;              // what the bar measures, with its unit
  std::string no_value;              // explains CellState::no_value; empty: none is shown
  std::vector<std::string> caption;  // lines
  std::vector<MapLabel> labels;      // in order of weight
  std::size_t label_count = 0;       // at most so many are shown
};

/// Where things stand, in pixels.
struct MapLayout {
  std::uint32_t cell = 1;  // pixels an edge
  std::uint32_t map_left = 0;
  std::uint32_t map_top = 0;
  std::uint32_t bar_left = 0;
  std::uint32_t bar_top = 0;
  std::uint32_t bar_width = 0;
  std::uint32_t bar_height = 0;
  std::uint32_t legend_height = 0;  // of what a legend has below the bar's height
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};
[[nodiscard]] MapLayout layout_of(const MapFigure& figure);

/// The place of a value on the bar, 0 to 1.
[[nodiscard]] double position_on_bar(const MapFigure& figure, double value);
/// Values for the bar's ticks, ascending, low and high among them only where they are round.
[[nodiscard]] std::vector<double> tick_values(const MapFigure& figure);

[[nodiscard]] Picture draw_map(const MapFigure& figure);

}  // namespace somatlas::exports
