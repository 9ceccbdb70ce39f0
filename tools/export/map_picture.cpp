// Draws the figure from top to bottom: title, cells, axes, discs, names, legend, caption.
// Always holds: cells and their hatches are one picture, everything else is words, lines and discs.
#include "tools/export/map_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>

#include "tools/export/picture_canvas.h"
#include "tools/export/svg_canvas.h"

namespace somatlas::exports {
namespace {

constexpr Colour paper{255, 255, 255};
constexpr Colour vacant_ground{226, 226, 226};
constexpr Colour vacant_hatch{168, 168, 168};
constexpr Colour no_value_ground{222, 222, 222};
constexpr Colour disc_colour{213, 94, 0};  // kept apart from every colour of the scale

void draw_centred(Canvas& canvas, double x, double y, const std::string& text,
                  const TextStyle& style) {
  canvas.text(x - text_width(text, style) / 2, y, text, style);
}

void draw_lines(Canvas& canvas, double x, double y, const std::vector<std::string>& lines,
                double line, const TextStyle& style) {
  for (const std::string& text : lines) {
    canvas.text(x, y, text, style);
    y += line;
  }
}

// A grey that no value has, striped so that print and copies keep it apart.
void hatch(Picture& picture, std::int64_t left, std::int64_t top, std::int64_t width,
           std::int64_t height) {
  for (std::int64_t y = top; y < top + height; ++y) {
    for (std::int64_t x = left; x < left + width; ++x) {
      picture.set(x, y, (x + y) % 6 < 2 ? vacant_hatch : vacant_ground);
    }
  }
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

void draw_cells(Canvas& canvas, const MapFigure& figure, const MapLayout& layout) {
  const std::uint32_t edge = figure.side * layout.cell;
  Picture cells(edge, edge, paper);
  for (std::uint32_t row = 0; row < figure.side; ++row) {
    for (std::uint32_t column = 0; column < figure.side; ++column) {
      const std::size_t i = std::size_t{row} * figure.side + column;
      const std::int64_t x = std::int64_t{column} * layout.cell;
      const std::int64_t y = std::int64_t{row} * layout.cell;
      if (!figure.colour.empty()) {
        cells.fill(x, y, layout.cell, layout.cell, figure.colour[i]);
      } else if (figure.state[i] == CellState::vacant) {
        hatch(cells, x, y, layout.cell, layout.cell);
      } else {
        cells.fill(x, y, layout.cell, layout.cell,
                   figure.state[i] == CellState::no_value
                       ? no_value_ground
                       : colour_at(position_on_bar(figure, figure.value[i])));
      }
    }
  }
  canvas.part("cells");
  canvas.image(layout.map_left, layout.map_top, cells);
  canvas.frame(layout.map_left, layout.map_top, edge, edge, figure_ink);
}

void draw_parts(Canvas& canvas, const MapFigure& figure, const MapLayout& layout) {
  constexpr std::array<double, 3> thickness{1, 2, 4};
  canvas.part("borders");
  for (std::size_t level = 0; level < figure.parts.size(); ++level) {
    std::vector<Line> lines;
    for (const Border& border : borders_of(figure.side, figure.parts[level])) {
      const double x = layout.map_left + double{1} * border.column * layout.cell;
      const double y = layout.map_top + double{1} * border.row * layout.cell;
      const double length = double{1} * border.length * layout.cell;
      lines.push_back({x, y, border.across ? x + length : x, border.across ? y : y + length});
    }
    canvas.lines(lines, thickness[std::min(level, thickness.size() - 1)],
                 level == 0 ? figure_soft_ink : figure_ink);
  }
}

void draw_axes(Canvas& canvas, const MapFigure& figure, const MapLayout& layout) {
  canvas.part("axes");
  const double middle = figure.side * layout.cell / 2.0;
  draw_centred(canvas, layout.map_left + middle, layout.map_top - 28.0, "column", axis_style);
  canvas.text(14, layout.map_top + middle + axis_style.cap_height / 2, "row", axis_style);
  const auto step = static_cast<std::uint32_t>(std::max(1.0, round_step(figure.side / 8.0)));
  for (std::uint32_t i = 0; i < figure.side; i += step) {
    const double offset = (i + 0.5) * layout.cell;
    const std::string number = std::to_string(i);
    draw_centred(canvas, layout.map_left + offset, layout.map_top - 11.0, number, axis_style);
    canvas.text(layout.map_left - 11.0 - text_width(number, axis_style),
                layout.map_top + offset + axis_style.cap_height / 2, number, axis_style);
    const double at = std::floor(offset);
    canvas.fill(layout.map_left + at, layout.map_top - 6.0, 1, 5, figure_soft_ink);
    canvas.fill(layout.map_left - 6.0, layout.map_top + at, 5, 1, figure_soft_ink);
  }
}

void draw_disc(Canvas& canvas, double x, double y, double radius) {
  canvas.disc(x, y, radius + 1.6, paper);
  canvas.disc(x, y, radius, disc_colour);
}

// Large discs first, so that none hides a small one.
void draw_overlay(Canvas& canvas, const MapFigure& figure, const MapLayout& layout) {
  if (figure.overlay.empty()) {
    return;
  }
  canvas.part("articles");
  const std::uint32_t greatest = *std::ranges::max_element(figure.overlay);
  std::vector<std::uint32_t> cells;
  for (std::uint32_t i = 0; i < figure.overlay.size(); ++i) {
    if (figure.overlay[i] != 0) {
      cells.push_back(i);
    }
  }
  std::ranges::stable_sort(cells, [&](std::uint32_t a, std::uint32_t b) {
    return figure.overlay[a] > figure.overlay[b];
  });
  for (const std::uint32_t cell : cells) {
    draw_disc(canvas, layout.map_left + (cell % figure.side + 0.5) * layout.cell,
              layout.map_top + (cell / figure.side + 0.5) * layout.cell,
              disc_radius(figure.overlay[cell], greatest, layout.cell));
  }
  canvas.part("articles-legend");
  double x = layout.bar_left;
  const double y = layout.overlay_top;
  const double baseline = y + legend_style.cap_height / 2;
  std::uint32_t last = 0;
  for (const std::uint32_t count : {1U, greatest / 4, greatest}) {
    if (count > last) {
      const double radius = disc_radius(count, greatest, layout.cell);
      draw_disc(canvas, x + radius + 2, y, radius);
      x += 2 * radius + 10;
      const std::string number = with_thousands(std::to_string(count));
      canvas.text(x, baseline, number, legend_style);
      x += text_width(number, legend_style) + 22;
      last = count;
    }
  }
  const std::vector<std::string> lines = broken_into_lines(
      figure.overlay_text, layout.map_left + figure.side * layout.cell - x, legend_style);
  draw_lines(canvas, x, baseline - text_line / 2 * (static_cast<double>(lines.size()) - 1), lines,
             text_line, legend_style);
}

void draw_labels(Canvas& canvas, const MapFigure& figure, const MapLayout& layout) {
  const std::vector<PlacedLabel> placed = place_labels(
      figure.labels, figure.label_count, figure.side, layout.cell, layout.map_left, layout.map_top);
  canvas.part("names");
  for (const PlacedLabel& label : placed) {
    if (label.kind == LabelKind::place) {
      canvas.disc(label.x, label.y, 5, paper);
      canvas.disc(label.x, label.y, 3, figure_ink);
    }
  }
  for (const PlacedLabel& label : placed) {
    const TextStyle style = label_style(label.kind);
    double baseline = label.box.top + style.cap_height;
    for (const std::string& line : label.lines) {
      draw_centred(canvas, (label.box.left + label.box.right) / 2, baseline, line, style);
      baseline += line_height(style);
    }
  }
}

// A box of one colour or hatched, and what it means.
void draw_entry(Canvas& canvas, double x, double y, std::optional<Colour> colour, bool striped,
                const std::string& text) {
  constexpr std::uint32_t width = 28;
  constexpr std::uint32_t height = 18;
  if (striped) {
    Picture box(width, height, paper);
    hatch(box, 0, 0, width, height);
    canvas.image(x, y, box);
  } else {
    canvas.fill(x, y, width, height, colour.value_or(no_value_ground));
  }
  canvas.frame(x, y, width, height, figure_ink);
  canvas.text(x + width + 9, y + height / 2.0 + caption_style.cap_height / 2, text, caption_style);
}

void draw_entries(Canvas& canvas, const MapFigure& figure, const MapLayout& layout) {
  canvas.part("legend");
  const std::uint32_t width = layout.bar_width * 2 / legend_columns;
  for (std::uint32_t i = 0; i < figure.legend.size(); ++i) {
    draw_entry(canvas, layout.bar_left + i % legend_columns * width,
               layout.bar_top + i / legend_columns * legend_row, figure.legend[i].colour, false,
               figure.legend[i].text);
  }
}

void draw_bar(Canvas& canvas, const MapFigure& figure, const MapLayout& layout) {
  canvas.part("legend");
  canvas.text(layout.bar_left, layout.bar_top - 9.0, figure.quantity, legend_style);
  Picture bar(layout.bar_width, layout.bar_height, paper);
  for (std::uint32_t x = 0; x < layout.bar_width; ++x) {
    bar.fill(x, 0, 1, layout.bar_height, colour_at((x + 0.5) / layout.bar_width));
  }
  canvas.image(layout.bar_left, layout.bar_top, bar);
  canvas.frame(layout.bar_left, layout.bar_top, layout.bar_width, layout.bar_height, figure_ink);
  const std::vector<double> ticks = tick_values(figure);
  const std::vector<std::string> texts =
      tick_texts(ticks, figure.whole_numbers && figure.spacing == Spacing::linear);
  const double bottom = layout.bar_top + layout.bar_height;
  const auto place_of = [&](double value) {
    return layout.bar_left + position_on_bar(figure, value) * (layout.bar_width - 1.0);
  };
  const auto tick = [&](double value) {
    canvas.fill(std::round(place_of(value)), bottom + 1, 1, 6, figure_ink);
  };
  const auto number = [&](double value, const std::string& text) {
    draw_centred(canvas, place_of(value) + 0.5, bottom + 22, text, legend_style);
  };
  const auto half = [](const std::string& text) { return text_width(text, legend_style) / 2; };
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

  const double x = layout.bar_left + layout.bar_width + 56.0;
  double y = layout.bar_top;
  const auto vacant = std::count(figure.state.begin(), figure.state.end(), CellState::vacant);
  if (vacant != 0) {
    draw_entry(canvas, x, y, std::nullopt, true,
               "vacant (" + with_thousands(std::to_string(vacant)) + ")");
    y += legend_row;
  }
  if (!figure.no_value.empty()) {
    draw_entry(canvas, x, y, std::nullopt, false, figure.no_value);
  }
}

void draw(Canvas& canvas, const MapFigure& figure, const MapLayout& layout) {
  canvas.part("title");
  draw_lines(canvas, layout.map_left, 52, layout.title, title_line, title_style);
  const auto extra = static_cast<double>(std::max<std::size_t>(layout.title.size(), 1) - 1);
  draw_lines(canvas, layout.map_left, 80 + title_line * extra, layout.subtitle, text_line,
             subtitle_style);
  draw_cells(canvas, figure, layout);
  draw_parts(canvas, figure, layout);
  draw_axes(canvas, figure, layout);
  draw_overlay(canvas, figure, layout);
  draw_labels(canvas, figure, layout);
  (figure.legend.empty() ? draw_bar : draw_entries)(canvas, figure, layout);
  canvas.part("caption");
  draw_lines(canvas, layout.map_left, layout.caption_top, layout.caption, text_line, caption_style);
}

}  // namespace

Picture draw_map(const MapFigure& figure, std::uint32_t scale) {
  const MapLayout layout = layout_of(figure);
  PictureCanvas canvas(layout.width, layout.height, scale, paper);
  draw(canvas, figure, layout);
  return canvas.picture();
}

std::string svg_of_map(const MapFigure& figure, const std::string& description) {
  const MapLayout layout = layout_of(figure);
  SvgCanvas canvas(layout.width, layout.height, paper);
  draw(canvas, figure, layout);
  return canvas.file(figure.title, description);
}

}  // namespace somatlas::exports
