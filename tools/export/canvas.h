// What a figure is drawn on, so that one layout serves every form a figure is written in. Lengths
// are in the layout's pixels, from the top left corner; a canvas may give a pixel more dots than
// one, or none at all. Always holds: what is drawn later covers what was drawn before.
#pragma once

#include <span>
#include <string_view>

#include "tools/export/colour_scale.h"
#include "tools/export/picture.h"
#include "tools/export/stroke_font.h"

namespace somatlas::exports {

/// A straight line along one axis, from the smaller coordinates to the larger.
struct Line {
  double from_x = 0;
  double from_y = 0;
  double to_x = 0;
  double to_y = 0;
};

class Canvas {
 public:
  virtual ~Canvas() = default;

  /// What follows belongs to a part of that name: a word of ASCII letters.
  virtual void part(std::string_view name) = 0;
  /// A line of UTF-8 text from x on, its baseline at y; it takes text_width() of its style.
  virtual void text(double x, double y, std::string_view text, const TextStyle& style) = 0;
  virtual void fill(double x, double y, double width, double height, Colour colour) = 0;
  /// The outline of a rectangle, one pixel wide, just outside it.
  virtual void frame(double x, double y, double width, double height, Colour colour) = 0;
  virtual void disc(double x, double y, double radius, Colour colour) = 0;
  /// Lines with square ends that reach half their thickness beyond.
  virtual void lines(std::span<const Line> lines, double thickness, Colour colour) = 0;
  /// A picture, a pixel of it a pixel of the layout.
  virtual void image(double x, double y, const Picture& picture) = 0;
};

}  // namespace somatlas::exports
