// Sizes follow from the side and from how many lines the words take.
#include "tools/export/map_figure.h"

#include <algorithm>
#include <cmath>

namespace somatlas::exports {
namespace {

constexpr std::uint32_t margin = 36;
constexpr std::uint32_t axis_room = 44;  // left of the map, for row numbers
constexpr std::uint32_t map_pixels = 1024;
constexpr double largest_disc = 20;
constexpr double smallest_disc = 2.6;
constexpr double largest_of_one = 6;

// Broken at blanks, and within words that are longer than a line.
void add_lines(std::vector<std::string>& lines, const std::string& text, double width,
               const TextStyle& style) {
  for (std::string line : broken_into_lines(text, width, style)) {
    while (text_width(line, style) > width) {
      const auto next_character = [&](std::size_t end) {
        do {
          ++end;
        } while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80);
        return end;
      };
      std::size_t end = next_character(0);
      for (std::size_t next = end;
           (next = next_character(next)) < line.size() &&
           text_width(std::string_view(line).substr(0, next), style) <= width;) {
        end = next;
      }
      lines.push_back(line.substr(0, end));
      line.erase(0, end);
    }
    lines.push_back(line);
  }
}

std::uint32_t whole(double pixels) {
  return static_cast<std::uint32_t>(std::ceil(pixels));
}

double room_of(const std::vector<std::string>& lines, double height) {
  return height * static_cast<double>(std::max<std::size_t>(lines.size(), 1) - 1);
}

}  // namespace

MapLayout layout_of(const MapFigure& figure) {
  MapLayout layout;
  // The whole number of pixels that brings the map nearest to map_pixels, as a ratio.
  const std::uint32_t below = std::max(1U, map_pixels / figure.side);
  const auto square = [&](std::uint32_t cell) { return std::uint64_t{cell} * figure.side; };
  const bool larger = square(below) < map_pixels &&
                      square(below) * square(below + 1) < std::uint64_t{map_pixels} * map_pixels;
  layout.cell = larger ? below + 1 : below;
  const std::uint32_t edge = layout.cell * figure.side;
  add_lines(layout.title, figure.title, edge, title_style);
  add_lines(layout.subtitle, figure.subtitle, edge, subtitle_style);
  for (const std::string& paragraph : figure.caption) {
    add_lines(layout.caption, paragraph, edge, caption_style);
  }
  layout.map_left = margin + axis_room;
  layout.map_top =
      138 + whole(room_of(layout.title, title_line) + room_of(layout.subtitle, text_line));
  layout.width = layout.map_left + edge + margin + 8;
  layout.bar_left = layout.map_left;
  layout.bar_top = layout.map_top + edge + 54;
  layout.bar_width = edge / 2;
  layout.bar_height = 18;
  std::uint32_t bottom = layout.bar_top + layout.bar_height;
  if (!figure.legend.empty()) {
    const auto rows =
        (static_cast<std::uint32_t>(figure.legend.size()) + legend_columns - 1) / legend_columns;
    bottom += (rows - 1) * legend_row;
  }
  if (!figure.overlay.empty()) {
    layout.overlay_top = bottom + 62;
    bottom = layout.overlay_top;
  }
  layout.caption_top = bottom + 62;
  layout.height = layout.caption_top + whole(room_of(layout.caption, text_line)) + 32;
  return layout;
}

double disc_radius(std::uint32_t count, std::uint32_t greatest, std::uint32_t cell) {
  const double most = std::clamp(cell * 0.48, 9.0, largest_disc);
  const double unit = std::min(most / std::sqrt(std::max(greatest, 1U)), largest_of_one);
  return std::max(smallest_disc, unit * std::sqrt(count));
}

double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) {
      return factor * power;
    }
  }
  return 10 * power;
}

double position_on_bar(const MapFigure& figure, double value) {
  if (figure.high <= figure.low) {
    return 0;
  }
  const double t = figure.spacing == Spacing::logarithmic
                       ? (std::log1p(value) - std::log1p(figure.low)) /
                             (std::log1p(figure.high) - std::log1p(figure.low))
                       : (value - figure.low) / (figure.high - figure.low);
  return std::clamp(t, 0.0, 1.0);
}

std::vector<double> tick_values(const MapFigure& figure) {
  if (figure.high <= figure.low) {
    return {figure.low};
  }
  std::vector<double> ticks;
  if (figure.spacing == Spacing::logarithmic) {
    if (figure.low <= 0) {
      ticks.push_back(0);
    }
    for (double power = 1; power <= figure.high; power *= 10) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        // From 10,000 on the powers of ten alone.
        const double tick = factor * power;
        if (tick >= figure.low && tick <= figure.high && (factor == 1 || figure.high < 10'000)) {
          ticks.push_back(tick);
        }
      }
    }
    return ticks;
  }
  double step = round_step((figure.high - figure.low) / 6);
  if (figure.whole_numbers) {
    step = std::max(1.0, step);
  }
  for (auto n = static_cast<std::int64_t>(std::ceil(figure.low / step - 1e-9));
       static_cast<double>(n) * step <= figure.high + step * 1e-9; ++n) {
    ticks.push_back(static_cast<double>(n) * step);
  }
  return ticks;
}

std::vector<Border> borders_of(std::uint32_t side, const std::vector<std::uint32_t>& part) {
  std::vector<Border> borders;
  // Along every line between two rows, then between two columns.
  for (const bool across : {true, false}) {
    for (std::uint32_t line = 1; line < side; ++line) {
      std::uint32_t length = 0;
      for (std::uint32_t at = 0; at <= side; ++at) {
        const std::size_t step = across ? side : 1;
        const std::size_t cell =
            across ? std::size_t{line} * side + at : std::size_t{at} * side + line;
        if (at < side && part[cell] != part[cell - step]) {
          ++length;
        } else if (length != 0) {
          const std::uint32_t start = at - length;
          borders.push_back({across ? line : start, across ? start : line, length, across});
          length = 0;
        }
      }
    }
  }
  return borders;
}

}  // namespace somatlas::exports
