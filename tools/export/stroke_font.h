// Text in pictures, from a small font of the project's own: each character is a few pen strokes, so
// text is smooth at any size and can have a halo. It has ASCII, Latin-1, the accented letters of
// European languages and Greek. Always holds: a character that it lacks is drawn as one visible
// box, never left out.
#pragma once

#include <string_view>

#include "tools/export/colour_scale.h"
#include "tools/export/picture.h"

namespace somatlas::exports {

struct TextStyle {
  double cap_height = 10;  // pixels
  double pen = 1.3;        // width of a stroke, pixels
  Colour colour{30, 30, 36};
  double halo = 0;  // pixels around the strokes
  Colour halo_colour{255, 255, 255};
  bool bold = false;  // where a typeface is chosen by name; here the pen makes it bold
};

/// Width in pixels of a line of UTF-8 text.
[[nodiscard]] double text_width(std::string_view text, const TextStyle& style);
/// Draws a line of UTF-8 text from x on, its baseline at y, in pixels.
void draw_text(Picture& picture, double x, double y, std::string_view text, const TextStyle& style);

}  // namespace somatlas::exports
