// A picture in memory: rows of RGB pixels, from the top left corner, with the few ways to draw that
// a figure needs. Always holds: what lies outside the picture is not drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/export/colour_scale.h"

namespace somatlas::exports {

class Picture {
 public:
  Picture(std::uint32_t width, std::uint32_t height, Colour background);

  [[nodiscard]] std::uint32_t width() const { return width_; }
  [[nodiscard]] std::uint32_t height() const { return height_; }
  /// Three bytes a pixel, red, green, blue; row by row.
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }

  [[nodiscard]] Colour pixel(std::uint32_t x, std::uint32_t y) const;
  void set(std::int64_t x, std::int64_t y, Colour colour);
  /// Lays colour over the pixel; cover in [0, 1].
  void blend(std::int64_t x, std::int64_t y, Colour colour, double cover);
  void fill(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height, Colour colour);
  /// The outline of a rectangle, one pixel wide, just outside it.
  void frame(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height,
             Colour colour);
  /// A disc with smooth edges; the centre in pixels, pixel centres at .5.
  void disc(double x, double y, double radius, Colour colour);

 private:
  [[nodiscard]] bool inside(std::int64_t x, std::int64_t y) const {
    return x >= 0 && y >= 0 && x < width_ && y < height_;
  }
  std::uint32_t width_;
  std::uint32_t height_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace somatlas::exports
