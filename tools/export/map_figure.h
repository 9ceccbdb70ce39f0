// What the figure of a map shows, and where its parts stand. Always holds: a cell is a whole number
// of pixels; everything, wrapped where it is long, stands inside the size that layout_of() gives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/export/colour_scale.h"
#include "tools/export/map_labels.h"
#include "tools/export/stroke_font.h"

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
  // Discs on the cells, their area by the count; empty: none.
  std::vector<std::uint32_t> overlay;  // side * side
  std::string overlay_text;            // what is counted
  std::string title;
  std::string subtitle;
  std::string quantity;              // what the bar measures, with its unit
  std::string no_value;              // explains CellState::no_value; empty: none is shown
  std::vector<std::string> caption;  // paragraphs
  std::vector<MapLabel> labels;      // in order of weight
  std::size_t label_count = 0;       // at most so many are shown
};

inline constexpr Colour figure_ink{28, 30, 38};
inline constexpr Colour figure_soft_ink{95, 98, 108};
inline constexpr TextStyle title_style{18, 2.6, figure_ink, 0, {255, 255, 255}, true};
inline constexpr TextStyle subtitle_style{11, 1.3, figure_soft_ink, 0, {255, 255, 255}, false};
inline constexpr TextStyle legend_style{11, 1.4, figure_ink, 0, {255, 255, 255}, false};
inline constexpr TextStyle axis_style{9, 1.2, figure_soft_ink, 0, {255, 255, 255}, false};
inline constexpr TextStyle caption_style{10, 1.25, figure_soft_ink, 0, {255, 255, 255}, false};
inline constexpr double title_line = 30;  // pixels from a line to the next
inline constexpr double text_line = 20;
inline constexpr std::uint32_t legend_columns = 4;
inline constexpr std::uint32_t legend_row = 26;

/// Where things stand, in pixels.
struct MapLayout {
  std::uint32_t cell = 1;  // pixels an edge
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t map_left = 0;  // the top left corner of cell (0, 0)
  std::uint32_t map_top = 0;
  std::uint32_t bar_left = 0;
  std::uint32_t bar_top = 0;
  std::uint32_t bar_width = 0;
  std::uint32_t bar_height = 0;
  std::uint32_t overlay_top = 0;  // middle of the discs that explain the overlay
  std::uint32_t caption_top = 0;  // the first line's baseline
  std::vector<std::string> title;
  std::vector<std::string> subtitle;
  std::vector<std::string> caption;
};

[[nodiscard]] MapLayout layout_of(const MapFigure& figure);

/// The radius of the disc of a cell with so many: its area goes by the count, that of the greatest
/// about fills a cell that is large, that of one is small, and none is too small to be seen.
[[nodiscard]] double disc_radius(std::uint32_t count, std::uint32_t greatest, std::uint32_t cell);

/// Where a value lies on the bar, 0 to 1.
[[nodiscard]] double position_on_bar(const MapFigure& figure, double value);
/// Round values within the bar's ends; powers of ten with 2 and 5 between them on a logarithmic
/// one.
[[nodiscard]] std::vector<double> tick_values(const MapFigure& figure);
/// 1, 2 or 5 times a power of ten, at least the given step.
[[nodiscard]] double round_step(double step);

/// The borders between cells of different numbers, each run of edges in one line, in cells: across
/// first, then down.
struct Border {
  std::uint32_t row = 0;
  std::uint32_t column = 0;  // of the run's upper left end
  std::uint32_t length = 0;
  bool across = false;
  friend bool operator==(const Border&, const Border&) = default;
};
[[nodiscard]] std::vector<Border> borders_of(std::uint32_t side,
                                             const std::vector<std::uint32_t>& part);

}  // namespace somatlas::exports
