// Every length is turned into dots once, by its ends, so that neighbours meet without a gap.
#include "tools/export/picture_canvas.h"

#include <cmath>

namespace somatlas::exports {

std::int64_t PictureCanvas::dots(double pixels) const {
  return std::llround(pixels * scale_);
}

void PictureCanvas::text(double x, double y, std::string_view text, const TextStyle& style) {
  TextStyle larger = style;
  larger.cap_height *= scale_;
  larger.pen *= scale_;
  larger.halo *= scale_;
  draw_text(picture_, x * scale_, y * scale_, text, larger);
}

void PictureCanvas::fill(double x, double y, double width, double height, Colour colour) {
  picture_.fill(dots(x), dots(y), dots(x + width) - dots(x), dots(y + height) - dots(y), colour);
}

void PictureCanvas::frame(double x, double y, double width, double height, Colour colour) {
  fill(x - 1, y - 1, width + 2, 1, colour);
  fill(x - 1, y + height, width + 2, 1, colour);
  fill(x - 1, y, 1, height, colour);
  fill(x + width, y, 1, height, colour);
}

void PictureCanvas::disc(double x, double y, double radius, Colour colour) {
  picture_.disc(x * scale_, y * scale_, radius * scale_, colour);
}

void PictureCanvas::lines(std::span<const Line> lines, double thickness, Colour colour) {
  // A line of one pixel lies wholly beyond the edge between two cells, a thicker one on both sides.
  const double before = std::floor(thickness / 2);
  for (const Line& line : lines) {
    fill(line.from_x - before, line.from_y - before, line.to_x - line.from_x + thickness,
         line.to_y - line.from_y + thickness, colour);
  }
}

void PictureCanvas::image(double x, double y, const Picture& picture) {
  for (std::uint32_t row = 0; row < picture.height(); ++row) {
    for (std::uint32_t column = 0; column < picture.width(); ++column) {
      fill(x + column, y + row, 1, 1, picture.pixel(column, row));
    }
  }
}

}  // namespace somatlas::exports
