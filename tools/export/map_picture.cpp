// Draws the figure from top to bottom: title, cells, axes, names, colour bar, caption.
// Always holds: everything stands inside the picture that layout_of() sizes.
#include "tools/export/map_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace somatlas::exports {
namespace {

constexpr Colour paper{255, 255, 255};
constexpr Colour ink{28, 30, 38};
constexpr Colour soft_ink{95, 98, 108};
constexpr Colour vacant_ground{226, 226, 226};
constexpr Colour vacant_hatch{168, 168, 168};
constexpr Colour no_value_ground{222, 222, 222};
constexpr std::uint32_t margin = 36;
constexpr std::uint32_t axis_room = 44;  // left of the map, for row numbers
constexpr std::uint32_t map_pixels = 1024;

const TextStyle title_style{18, 2.6, ink, 0, paper};
const TextStyle subtitle_style{11, 1.3, soft_ink, 0, paper};
const TextStyle bar_style{11, 1.4, ink, 0, paper};
const TextStyle axis_style{9, 1.2, soft_ink, 0, paper};
const TextStyle caption_style{10, 1.25, soft_ink, 0, paper};
const TextStyle label_style{10.5, 1.5, ink, 2.4, paper};

void draw_centred(Picture& picture, double x, double y, const std::string& text,
                  const TextStyle& style) {
  draw_text(picture, x - text_width(text, style) / 2, y, text, style);
}

// A grey that no value has, striped so that print and copies keep it apart.
Colour hatch_at(std::int64_t x, std::int64_t y) {
  return (x + y) % 6 < 2 ? vacant_hatch : vacant_ground;
}

void hatch(Picture& picture, std::int64_t left, std::int64_t top, std::int64_t width,
           std::int64_t height) {
  for (std::int64_t y = top; y < top + height; ++y) {
    for (std::int64_t x = left; x < left + width; ++x) {
      picture.set(x, y, hatch_at(x, y));
    }
  }
}

// 1, 2 or 5 times a power of ten, at least the given step.
double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) {
      return factor * power;
    }
  }
  return 10 * power;
}

std::string with_thousands(const std::string& digits) {
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) {
      text += ',';
    }
    text += digits[i];
  }
  return text;
}

// The value at an end of the bar, to three digits.
std::string end_text(const MapFigure& figure, double value) {
  const double size = std::abs(value);
  const int before = size > 0 ? static_cast<int>(std::floor(std::log10(size))) + 1 : 1;
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.setf(std::ios::fixed);
  text.precision(figure.whole_numbers || value == 0 ? 0 : std::max(0, 3 - before));
  text << value;
  const bool years = figure.whole_numbers && figure.spacing == Spacing::linear;
  return figure.whole_numbers && !years ? with_thousands(text.str()) : text.str();
}

// As many decimals as the ticks need to be told apart.
std::vector<std::string> tick_texts(const std::vector<double>& values, bool years) {
  for (int decimals = 0;; ++decimals) {
    std::vector<std::string> texts;
    bool exact = true;
    for (const double value : values) {
      std::ostringstream text;
      text.imbue(std::locale::classic());
      text.setf(std::ios::fixed);
      text.precision(decimals);
      text << value;
      exact = exact && std::abs(std::stod(text.str()) - value) <= 1e-9 * (1 + std::abs(value));
      texts.push_back(decimals == 0 && !years ? with_thousands(text.str()) : text.str());
    }
    if (exact || decimals == 9) {
      return texts;
    }
  }
}

void draw_cells(Picture& picture, const MapFigure& figure, const MapLayout& layout) {
  for (std::uint32_t row = 0; row < figure.side; ++row) {
    for (std::uint32_t column = 0; column < figure.side; ++column) {
      const std::size_t i = std::size_t{row} * figure.side + column;
      const std::int64_t x = layout.map_left + std::int64_t{column} * layout.cell;
      const std::int64_t y = layout.map_top + std::int64_t{row} * layout.cell;
      if (!figure.colour.empty()) {
        picture.fill(x, y, layout.cell, layout.cell, figure.colour[i]);
      } else if (figure.state[i] == CellState::vacant) {
        hatch(picture, x, y, layout.cell, layout.cell);
      } else {
        picture.fill(x, y, layout.cell, layout.cell,
                     figure.state[i] == CellState::no_value
                         ? no_value_ground
                         : colour_at(position_on_bar(figure, figure.value[i])));
      }
    }
  }
  const std::int64_t edge = std::int64_t{figure.side} * layout.cell;
  picture.frame(layout.map_left, layout.map_top, edge, edge, ink);
}

void draw_parts(Picture& picture, const MapFigure& figure, const MapLayout& layout) {
  constexpr std::array<std::int64_t, 3> thickness{1, 2, 4};
  const std::uint32_t cell = layout.cell;
  for (std::size_t level = 0; level < figure.parts.size(); ++level) {
    const std::vector<std::uint32_t>& part = figure.parts[level];
    const std::int64_t thick = thickness[std::min(level, thickness.size() - 1)];
    const Colour colour = level == 0 ? soft_ink : ink;
    for (std::uint32_t row = 0; row < figure.side; ++row) {
      for (std::uint32_t column = 0; column < figure.side; ++column) {
        const std::size_t i = std::size_t{row} * figure.side + column;
        const std::int64_t x = layout.map_left + std::int64_t{column} * cell;
        const std::int64_t y = layout.map_top + std::int64_t{row} * cell;
        if (column + 1 < figure.side && part[i] != part[i + 1]) {
          picture.fill(x + cell - thick / 2, y - thick / 2, thick, cell + thick / 2 + 1, colour);
        }
        if (row + 1 < figure.side && part[i] != part[i + figure.side]) {
          picture.fill(x - thick / 2, y + cell - thick / 2, cell + thick / 2 + 1, thick, colour);
        }
      }
    }
  }
}

constexpr std::uint32_t legend_columns = 4;
constexpr std::uint32_t legend_row = 26;

void draw_entries(Picture& picture, const MapFigure& figure, const MapLayout& layout) {
  const std::uint32_t width = layout.bar_width * 2 / legend_columns;
  for (std::uint32_t i = 0; i < figure.legend.size(); ++i) {
    const std::int64_t x = layout.bar_left + std::int64_t{i % legend_columns} * width;
    const std::int64_t y = layout.bar_top + std::int64_t{i / legend_columns} * legend_row;
    picture.fill(x, y, 26, layout.bar_height, figure.legend[i].colour);
    picture.frame(x, y, 26, layout.bar_height, ink);
    draw_text(picture, static_cast<double>(x) + 34,
              static_cast<double>(y) + layout.bar_height / 2.0 + caption_style.cap_height / 2,
              figure.legend[i].text, caption_style);
  }
}

void draw_axes(Picture& picture, const MapFigure& figure, const MapLayout& layout) {
  const double middle = figure.side * layout.cell / 2.0;
  draw_centred(picture, layout.map_left + middle, layout.map_top - 28.0, "column", axis_style);
  draw_text(picture, 14, layout.map_top + middle + axis_style.cap_height / 2, "row", axis_style);
  const auto step = static_cast<std::uint32_t>(std::max(1.0, round_step(figure.side / 8.0)));
  for (std::uint32_t i = 0; i < figure.side; i += step) {
    const double offset = (i + 0.5) * layout.cell;
    const std::string number = std::to_string(i);
    draw_centred(picture, layout.map_left + offset, layout.map_top - 11.0, number, axis_style);
    draw_text(picture, layout.map_left - 11.0 - text_width(number, axis_style),
              layout.map_top + offset + axis_style.cap_height / 2, number, axis_style);
    const auto at = static_cast<std::int64_t>(offset);
    picture.fill(layout.map_left + at, layout.map_top - 6, 1, 5, soft_ink);
    picture.fill(layout.map_left - 6, layout.map_top + at, 5, 1, soft_ink);
  }
}

void draw_labels(Picture& picture, const MapFigure& figure, const MapLayout& layout) {
  const std::vector<PlacedLabel> placed =
      place_labels(figure.labels, figure.label_count, figure.side, layout.cell, layout.map_left,
                   layout.map_top, label_style);
  for (const PlacedLabel& label : placed) {
    picture.disc(label.x, label.y, 5, paper);
    picture.disc(label.x, label.y, 3, ink);
  }
  for (const PlacedLabel& label : placed) {
    double baseline = label.box.top + label_style.cap_height;
    for (const std::string& line : label.lines) {
      draw_centred(picture, (label.box.left + label.box.right) / 2, baseline, line, label_style);
      baseline += label_style.cap_height * 1.75;
    }
  }
}

void draw_legend(Picture& picture, const MapFigure& figure, const MapLayout& layout) {
  const double text_line = layout.bar_top - 9.0;
  draw_text(picture, layout.bar_left, text_line, figure.quantity, bar_style);
  for (std::uint32_t x = 0; x < layout.bar_width; ++x) {
    picture.fill(layout.bar_left + x, layout.bar_top, 1, layout.bar_height,
                 colour_at((x + 0.5) / layout.bar_width));
  }
  picture.frame(layout.bar_left, layout.bar_top, layout.bar_width, layout.bar_height, ink);
  const std::vector<double> ticks = tick_values(figure);
  const std::vector<std::string> texts =
      tick_texts(ticks, figure.whole_numbers && figure.spacing == Spacing::linear);
  const std::int64_t bottom = std::int64_t{layout.bar_top} + layout.bar_height;
  const auto place_of = [&](double value) {
    return layout.bar_left + position_on_bar(figure, value) * (layout.bar_width - 1.0);
  };
  const auto tick = [&](double value) {
    picture.fill(std::lround(place_of(value)), bottom + 1, 1, 6, ink);
  };
  const auto number = [&](double value, const std::string& text) {
    draw_centred(picture, place_of(value) + 0.5, static_cast<double>(bottom) + 22, text, bar_style);
  };
  const auto half = [](const std::string& text) { return text_width(text, bar_style) / 2; };
  // The ends have their numbers first; a round one that would touch another is left to its tick.
  constexpr double apart = 10;
  double free_to = layout.width;
  tick(figure.low);
  number(figure.low, end_text(figure, figure.low));
  double free_from = place_of(figure.low) + half(end_text(figure, figure.low)) + apart;
  if (figure.high > figure.low) {
    tick(figure.high);
    number(figure.high, end_text(figure, figure.high));
    free_to = place_of(figure.high) - half(end_text(figure, figure.high)) - apart;
  }
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    tick(ticks[i]);
    const double x = place_of(ticks[i]);
    if (x - half(texts[i]) >= free_from && x + half(texts[i]) <= free_to) {
      number(ticks[i], texts[i]);
      free_from = x + half(texts[i]) + apart;
    }
  }

  std::int64_t x = std::int64_t{layout.bar_left} + layout.bar_width + 56;
  const std::int64_t y = layout.bar_top;
  const auto entry = [&](const std::string& text, bool striped) {
    if (striped) {
      hatch(picture, x, y, 30, layout.bar_height);
    } else {
      picture.fill(x, y, 30, layout.bar_height, no_value_ground);
    }
    picture.frame(x, y, 30, layout.bar_height, ink);
    draw_text(picture, static_cast<double>(x) + 40,
              static_cast<double>(y) + layout.bar_height / 2.0 + bar_style.cap_height / 2, text,
              bar_style);
    x += 40 + static_cast<std::int64_t>(text_width(text, bar_style)) + 36;
  };
  const auto vacant = std::count(figure.state.begin(), figure.state.end(), CellState::vacant);
  if (vacant != 0) {
    entry("vacant (" + std::to_string(vacant) + ")", true);
  }
  if (!figure.no_value.empty()) {
    entry(figure.no_value, false);
  }
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
  layout.map_left = margin + axis_room;
  layout.map_top = 138;
  layout.width = layout.map_left + edge + margin + 8;
  layout.bar_left = layout.map_left;
  layout.bar_top = layout.map_top + edge + 54;
  layout.bar_width = edge / 2;
  layout.bar_height = 18;
  if (!figure.legend.empty()) {
    const auto rows =
        (static_cast<std::uint32_t>(figure.legend.size()) + legend_columns - 1) / legend_columns;
    layout.legend_height = (rows - 1) * legend_row;
  }
  layout.height = layout.bar_top + layout.legend_height + layout.bar_height + 62 +
                  20 * static_cast<std::uint32_t>(figure.caption.size()) + 12;
  return layout;
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

Picture draw_map(const MapFigure& figure) {
  const MapLayout layout = layout_of(figure);
  Picture picture(layout.width, layout.height, paper);
  draw_text(picture, layout.map_left, 52, figure.title, title_style);
  draw_text(picture, layout.map_left, 80, figure.subtitle, subtitle_style);
  draw_cells(picture, figure, layout);
  draw_parts(picture, figure, layout);
  draw_axes(picture, figure, layout);
  draw_labels(picture, figure, layout);
  (figure.legend.empty() ? draw_legend : draw_entries)(picture, figure, layout);
  double baseline = layout.bar_top + layout.legend_height + layout.bar_height + 62.0;
  for (const std::string& line : figure.caption) {
    draw_text(picture, layout.map_left, baseline, line, caption_style);
    baseline += 20;
  }
  return picture;
}

}  // namespace somatlas::exports
