// The shapes of letters and signs beyond ASCII, drawn as those of stroke_glyphs.h are: Latin-1, the
// accented Latin letters of European languages, Greek, dashes, quotation marks. A letter with an
// accent is its base and a mark.
#pragma once

#include <span>

#include "tools/export/stroke_glyphs.h"

namespace somatlas::exports {

struct CodedGlyph {
  char32_t code;
  GlyphShape shape;
};

struct AccentMark {
  double width;         // its strokes lie from -width / 2 to width / 2 around the base's middle
  const char* strokes;  // above a base of x-height, or below the baseline
  bool above;
  const char32_t* letters;  // two by two: the letter with the mark, and its base
};

/// Shapes of their own.
[[nodiscard]] std::span<const CodedGlyph> coded_glyphs();
/// Two by two: a character, and one that looks the same.
[[nodiscard]] const char32_t* like_glyphs();
/// Bases are ASCII letters, or have a shape or a likeness above.
[[nodiscard]] std::span<const AccentMark> accent_marks();

}  // namespace somatlas::exports
