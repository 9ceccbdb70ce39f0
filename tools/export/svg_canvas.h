// A canvas whose drawing is SVG: text stays text in a common typeface, lines stay lines, pictures
// are embedded PNGs that are not smoothed. Always holds: the result is well-formed XML whatever the
// text, refers to nothing outside itself, and holds no script.
#pragma once

#include <string>

#include "tools/export/canvas.h"

namespace somatlas::exports {

class SvgCanvas : public Canvas {
 public:
  SvgCanvas(std::uint32_t width, std::uint32_t height, Colour paper);

  void part(std::string_view name) override;
  /// Stretched or squeezed a little where the typeface is not as wide as text_width() says.
  void text(double x, double y, std::string_view text, const TextStyle& style) override;
  void fill(double x, double y, double width, double height, Colour colour) override;
  void frame(double x, double y, double width, double height, Colour colour) override;
  void disc(double x, double y, double radius, Colour colour) override;
  void lines(std::span<const Line> lines, double thickness, Colour colour) override;
  void image(double x, double y, const Picture& picture) override;

  /// The whole file, 180 mm wide: two columns of a journal's page. title and description are for
  /// those who cannot see it, and for programs that search.
  [[nodiscard]] std::string file(std::string_view title, std::string_view description) const;

 private:
  std::uint32_t width_;
  std::uint32_t height_;
  std::string body_;
  bool in_part_ = false;
};

}  // namespace somatlas::exports
