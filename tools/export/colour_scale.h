// The colours of values: a sequential scale, dark blue over green to pale yellow, that people with
// and without colour vision deficiencies read the same way. Always holds: lightness rises with the
// value, and equal steps of the value are equal steps in the OKLab space.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace somatlas::exports {

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  friend bool operator==(const Colour&, const Colour&) = default;
};

/// A colour in OKLab, whose distances are about as large as they look.
/// Source: B. Ottosson, "A perceptual color space for image processing", 2020.
struct OkLab {
  double lightness = 0;  // 0 black to 1 white
  double green_red = 0;
  double blue_yellow = 0;
};
[[nodiscard]] OkLab oklab_of(Colour colour);
/// The nearest colour of the screen; what lies outside it is clipped.
[[nodiscard]] Colour colour_of(const OkLab& lab);

inline constexpr std::size_t scale_steps = 256;
[[nodiscard]] const std::array<Colour, scale_steps>& colour_scale();
/// The colour at t in [0, 1]; what lies outside takes the nearest end.
[[nodiscard]] Colour colour_at(double t);

}  // namespace somatlas::exports
