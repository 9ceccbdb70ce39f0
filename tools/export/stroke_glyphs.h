// The shapes of the project's own font, drawn for it. Cap height 10, x-height 7, baseline 0,
// descenders to -3. A glyph is a list of strokes: L a line through its points, S a curve from the
// first point to the last that the others pull (a quadratic B-spline), O a closed curve so pulled.
#pragma once

#include <array>

namespace somatlas::exports {

struct GlyphShape {
  double width;  // without the space beside it
  const char* strokes;
};

/// The box that stands for a character the font lacks.
[[nodiscard]] const GlyphShape& missing_glyph();
/// ' ' to '~'.
[[nodiscard]] const std::array<GlyphShape, 95>& ascii_glyphs();

}  // namespace somatlas::exports
