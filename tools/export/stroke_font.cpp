// Strokes become short segments once; a pixel's ink is how far it lies inside the pen's reach.
// Always holds: only +, -, *, / and sqrt are used, so text looks the same on every machine.
#include "tools/export/stroke_font.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/export/stroke_glyphs.h"
#include "tools/export/stroke_letters.h"

namespace somatlas::exports {
namespace {

constexpr double units_per_cap = 10;
constexpr double gap = 2.6;  // between two glyphs, in font units

struct Point {
  double x = 0;
  double y = 0;
};
struct Segment {
  Point from;
  Point to;
};
struct Glyph {
  double width = 0;
  std::vector<Segment> segments;  // font units, y upwards
};

Point middle(Point a, Point b) {
  return {(a.x + b.x) / 2, (a.y + b.y) / 2};
}

void add_line(std::vector<Segment>& segments, const std::vector<Point>& points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    segments.push_back({points[i - 1], points[i]});
  }
}

void add_arc(std::vector<Segment>& segments, Point from, Point pull, Point to) {
  constexpr int pieces = 8;
  Point last = from;
  for (int i = 1; i <= pieces; ++i) {
    const double t = static_cast<double>(i) / pieces;
    const double a = (1 - t) * (1 - t);
    const double b = 2 * t * (1 - t);
    const double c = t * t;
    const Point next{a * from.x + b * pull.x + c * to.x, a * from.y + b * pull.y + c * to.y};
    segments.push_back({last, next});
    last = next;
  }
}

void add_curve(std::vector<Segment>& segments, const std::vector<Point>& points) {
  Point from = points.front();
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const Point to = i + 2 == points.size() ? points.back() : middle(points[i], points[i + 1]);
    add_arc(segments, from, points[i], to);
    from = to;
  }
}

void add_ring(std::vector<Segment>& segments, const std::vector<Point>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point pull = points[(i + 1) % points.size()];
    add_arc(segments, middle(points[i], pull), pull, middle(pull, points[(i + 2) % points.size()]));
  }
}

Glyph glyph_of(const GlyphShape& shape) {
  Glyph glyph{shape.width, {}};
  char kind = 0;
  std::vector<Point> points;
  const auto end_stroke = [&] {
    if (kind == 'L') {
      add_line(glyph.segments, points);
    } else if (kind == 'S') {
      add_curve(glyph.segments, points);
    } else if (kind == 'O') {
      add_ring(glyph.segments, points);
    }
    points.clear();
  };
  std::istringstream words(shape.strokes);
  words.imbue(std::locale::classic());
  while (words >> std::ws && !words.eof()) {
    if (const int next = words.peek(); next == 'L' || next == 'S' || next == 'O') {
      end_stroke();
      kind = static_cast<char>(words.get());
      continue;
    }
    Point point;
    char comma = 0;
    words >> point.x >> comma >> point.y;
    points.push_back(point);
  }
  end_stroke();
  return glyph;
}

/// A base with a mark in its middle; one taller than x-height is pressed to make room for a mark
/// above it, so that lines keep their height.
Glyph with_mark(const Glyph& base, const AccentMark& mark) {
  constexpr double tall = 7.5;
  constexpr double pressed_top = 7.7;
  constexpr double lift = 0.4;  // of a mark above a pressed base
  double top = 0;
  for (const Segment& segment : base.segments) {
    top = std::max({top, segment.from.y, segment.to.y});
  }
  const bool pressed = mark.above && top > tall;
  Glyph glyph{std::max(base.width, mark.width), {}};
  const double shift = (glyph.width - base.width) / 2;
  for (const Segment& segment : base.segments) {
    const auto place = [&](Point p) {
      return Point{p.x + shift, pressed && p.y > 0 ? p.y * pressed_top / top : p.y};
    };
    glyph.segments.push_back({place(segment.from), place(segment.to)});
  }
  for (const Segment& segment : glyph_of({mark.width, mark.strokes}).segments) {
    const auto place = [&](Point p) {
      return Point{p.x + glyph.width / 2, p.y + (pressed ? lift : 0)};
    };
    glyph.segments.push_back({place(segment.from), place(segment.to)});
  }
  return glyph;
}

struct Font {
  std::unordered_map<char32_t, Glyph> glyphs;
  Glyph missing;
};

const Font& font() {
  static const Font made = [] {
    Font result;
    result.missing = glyph_of(missing_glyph());
    char32_t code = U' ';
    for (const GlyphShape& shape : ascii_glyphs()) {
      result.glyphs.emplace(code++, glyph_of(shape));
    }
    for (const auto& [own, shape] : coded_glyphs()) {
      result.glyphs.emplace(own, glyph_of(shape));
    }
    for (const char32_t* pair = like_glyphs(); *pair != 0; pair += 2) {
      result.glyphs.emplace(pair[0], result.glyphs.at(pair[1]));
    }
    for (const AccentMark& mark : accent_marks()) {
      for (const char32_t* pair = mark.letters; *pair != 0; pair += 2) {
        result.glyphs.emplace(pair[0], with_mark(result.glyphs.at(pair[1]), mark));
      }
    }
    return result;
  }();
  return made;
}

// The glyphs of UTF-8 text, one a character; a byte that begins none is a character of its own.
std::vector<const Glyph*> glyphs_of(std::string_view text) {
  std::vector<const Glyph*> glyphs;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte_at = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned first = byte_at(i++);
    const bool begins = first < 0x80 || first >= 0xC0;
    unsigned more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC0 ? 1 : 0;
    char32_t code = more == 0 ? first : first & (0x3FU >> more);
    for (; more > 0 && i < text.size() && (byte_at(i) & 0xC0U) == 0x80; --more) {
      code = code << 6U | (byte_at(i++) & 0x3FU);
    }
    if (!begins || more > 0) {
      code = 0;  // which has no glyph
    }
    const auto found = font().glyphs.find(code);
    glyphs.push_back(found == font().glyphs.end() ? &font().missing : &found->second);
  }
  return glyphs;
}

double distance_to(const Segment& segment, Point p) {
  const double dx = segment.to.x - segment.from.x;
  const double dy = segment.to.y - segment.from.y;
  const double px = p.x - segment.from.x;
  const double py = p.y - segment.from.y;
  const double square = dx * dx + dy * dy;
  const double t = square > 0 ? std::clamp((px * dx + py * dy) / square, 0.0, 1.0) : 0.0;
  const double ex = px - t * dx;
  const double ey = py - t * dy;
  return std::sqrt(ex * ex + ey * ey);
}

void draw_glyph(Picture& picture, const Glyph& glyph, Point origin, double scale, double reach,
                Colour colour) {
  if (glyph.segments.empty()) {
    return;
  }
  const double margin = reach + 1;
  std::vector<Segment> placed;
  double left = origin.x;
  double right = origin.x;
  double top = origin.y;
  double bottom = origin.y;
  for (const Segment& segment : glyph.segments) {
    const auto place = [&](Point p) {
      const Point at{origin.x + p.x * scale, origin.y - p.y * scale};
      left = std::min(left, at.x);
      right = std::max(right, at.x);
      top = std::min(top, at.y);
      bottom = std::max(bottom, at.y);
      return at;
    };
    placed.push_back({place(segment.from), place(segment.to)});
  }
  const auto first_row = static_cast<std::int64_t>(std::floor(top - margin));
  const auto last_row = static_cast<std::int64_t>(std::ceil(bottom + margin));
  const auto first_column = static_cast<std::int64_t>(std::floor(left - margin));
  const auto last_column = static_cast<std::int64_t>(std::ceil(right + margin));
  for (std::int64_t row = first_row; row < last_row; ++row) {
    for (std::int64_t column = first_column; column < last_column; ++column) {
      const Point centre{static_cast<double>(column) + 0.5, static_cast<double>(row) + 0.5};
      double nearest = margin;
      for (const Segment& segment : placed) {
        nearest = std::min(nearest, distance_to(segment, centre));
      }
      picture.blend(column, row, colour, reach + 0.5 - nearest);
    }
  }
}

}  // namespace

double text_width(std::string_view text, const TextStyle& style) {
  double units = 0;
  for (const Glyph* glyph : glyphs_of(text)) {
    units += glyph->width + gap;
  }
  return std::max(0.0, units - gap) * style.cap_height / units_per_cap + style.pen;
}

void draw_text(Picture& picture, double x, double y, std::string_view text,
               const TextStyle& style) {
  const double scale = style.cap_height / units_per_cap;
  const auto draw = [&](double reach, Colour colour) {
    Point origin{x + style.pen / 2, y};
    for (const Glyph* glyph : glyphs_of(text)) {
      draw_glyph(picture, *glyph, origin, scale, reach, colour);
      origin.x += (glyph->width + gap) * scale;
    }
  };
  if (style.halo > 0) {
    draw(style.pen / 2 + style.halo, style.halo_colour);
  }
  draw(style.pen / 2, style.colour);
}

}  // namespace somatlas::exports
