// Drawing into rows of RGB pixels.
// Always holds: no write outside the rows, whatever the coordinates.
#include "tools/export/picture.h"

#include <algorithm>
#include <cmath>

namespace somatlas::exports {

Picture::Picture(std::uint32_t width, std::uint32_t height, Colour background)
    : width_(width), height_(height), bytes_(std::size_t{width} * height * 3) {
  fill(0, 0, width, height, background);
}

Colour Picture::pixel(std::uint32_t x, std::uint32_t y) const {
  const std::size_t at = (std::size_t{y} * width_ + x) * 3;
  return {bytes_[at], bytes_[at + 1], bytes_[at + 2]};
}

void Picture::set(std::int64_t x, std::int64_t y, Colour colour) {
  if (inside(x, y)) {
    const std::size_t at = (static_cast<std::size_t>(y) * width_ + static_cast<std::size_t>(x)) * 3;
    bytes_[at] = colour.red;
    bytes_[at + 1] = colour.green;
    bytes_[at + 2] = colour.blue;
  }
}

void Picture::blend(std::int64_t x, std::int64_t y, Colour colour, double cover) {
  if (!inside(x, y) || cover <= 0) {
    return;
  }
  const double part = std::min(cover, 1.0);
  const auto mix = [part](std::uint8_t below, std::uint8_t above) {
    return static_cast<std::uint8_t>(std::lround(below + (above - below) * part));
  };
  const Colour old = pixel(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
  set(x, y, {mix(old.red, colour.red), mix(old.green, colour.green), mix(old.blue, colour.blue)});
}

void Picture::fill(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height,
                   Colour colour) {
  const std::int64_t right = std::min<std::int64_t>(x + width, width_);
  const std::int64_t bottom = std::min<std::int64_t>(y + height, height_);
  for (std::int64_t row = std::max<std::int64_t>(y, 0); row < bottom; ++row) {
    for (std::int64_t column = std::max<std::int64_t>(x, 0); column < right; ++column) {
      set(column, row, colour);
    }
  }
}

void Picture::frame(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height,
                    Colour colour) {
  fill(x - 1, y - 1, width + 2, 1, colour);
  fill(x - 1, y + height, width + 2, 1, colour);
  fill(x - 1, y, 1, height, colour);
  fill(x + width, y, 1, height, colour);
}

void Picture::disc(double x, double y, double radius, Colour colour) {
  const auto reach = static_cast<std::int64_t>(std::ceil(radius + 1));
  const auto middle_x = static_cast<std::int64_t>(std::floor(x));
  const auto middle_y = static_cast<std::int64_t>(std::floor(y));
  for (std::int64_t row = middle_y - reach; row <= middle_y + reach; ++row) {
    for (std::int64_t column = middle_x - reach; column <= middle_x + reach; ++column) {
      const double dx = static_cast<double>(column) + 0.5 - x;
      const double dy = static_cast<double>(row) + 0.5 - y;
      blend(column, row, colour, radius + 0.5 - std::sqrt(dx * dx + dy * dy));
    }
  }
}

}  // namespace somatlas::exports
