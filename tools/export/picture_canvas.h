// A canvas of pixels. Always holds: an edge of the layout's pixels is a whole number of dots, so
// cells and lines are sharp.
#pragma once

#include "tools/export/canvas.h"

namespace somatlas::exports {

class PictureCanvas : public Canvas {
 public:
  /// scale: dots an edge of one of the layout's pixels.
  PictureCanvas(std::uint32_t width, std::uint32_t height, std::uint32_t scale, Colour paper)
      : picture_(width * scale, height * scale, paper), scale_(scale) {}

  void part(std::string_view /*name*/) override {}
  void text(double x, double y, std::string_view text, const TextStyle& style) override;
  void fill(double x, double y, double width, double height, Colour colour) override;
  void frame(double x, double y, double width, double height, Colour colour) override;
  void disc(double x, double y, double radius, Colour colour) override;
  void lines(std::span<const Line> lines, double thickness, Colour colour) override;
  void image(double x, double y, const Picture& picture) override;

  [[nodiscard]] const Picture& picture() const { return picture_; }

 private:
  [[nodiscard]] std::int64_t dots(double pixels) const;
  Picture picture_;
  std::uint32_t scale_;
};

}  // namespace somatlas::exports
