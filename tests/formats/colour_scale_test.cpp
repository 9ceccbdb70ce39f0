// The colour scale: lightness rises at an even pace, for people with colour vision deficiencies
// too.
#include "tools/export/colour_scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace somatlas::exports {
namespace {

double linear(double c) {
  c /= 255;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

std::uint8_t encoded(double linear_value) {
  const double v = std::clamp(linear_value, 0.0, 1.0);
  const double c = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * c));
}

using Matrix = std::array<std::array<double, 3>, 3>;

// How a dichromat sees a colour; matrices for linear RGB after Vienot, Brettel and Mollon, "Digital
// video colourmaps for checking the legibility of displays by dichromats", 1999.
Colour seen(Colour colour, const Matrix& matrix) {
  const std::array<double, 3> rgb{linear(colour.red), linear(colour.green), linear(colour.blue)};
  std::array<std::uint8_t, 3> out{};
  for (std::size_t i = 0; i < 3; ++i) {
    out[i] = encoded(matrix[i][0] * rgb[0] + matrix[i][1] * rgb[1] + matrix[i][2] * rgb[2]);
  }
  return {out[0], out[1], out[2]};
}

constexpr Matrix protanope{
    {{0.11238, 0.88762, 0.0}, {0.11238, 0.88762, 0.0}, {0.00401, -0.00401, 1.0}}};
constexpr Matrix deuteranope{
    {{0.29275, 0.70725, 0.0}, {0.29275, 0.70725, 0.0}, {-0.02234, 0.02234, 1.0}}};
constexpr Matrix grey{
    {{0.2126, 0.7152, 0.0722}, {0.2126, 0.7152, 0.0722}, {0.2126, 0.7152, 0.0722}}};

double step(const OkLab& a, const OkLab& b) {
  return std::hypot(a.lightness - b.lightness, a.green_red - b.green_red,
                    a.blue_yellow - b.blue_yellow);
}

TEST(ColourScale, LightnessRisesWithEveryStep) {
  const auto& scale = colour_scale();
  for (std::size_t i = 1; i < scale.size(); ++i) {
    EXPECT_GT(oklab_of(scale[i]).lightness, oklab_of(scale[i - 1]).lightness) << i;
  }
  EXPECT_LT(oklab_of(scale.front()).lightness, 0.25);
  EXPECT_GT(oklab_of(scale.back()).lightness, 0.90);
}

TEST(ColourScale, EqualStepsLookEqual) {
  // Over eight entries rounding to 8 bits is small beside the step.
  const auto& scale = colour_scale();
  double least = 1;
  double greatest = 0;
  for (std::size_t i = 8; i < scale.size(); ++i) {
    const double length = step(oklab_of(scale[i]), oklab_of(scale[i - 8]));
    least = std::min(least, length);
    greatest = std::max(greatest, length);
  }
  EXPECT_LT(greatest / least, 1.25);
}

TEST(ColourScale, KeepsItsOrderForDichromatsAndInGrey) {
  for (const Matrix& matrix : {protanope, deuteranope, grey}) {
    const auto& scale = colour_scale();
    for (std::size_t i = 4; i < scale.size(); ++i) {
      EXPECT_GT(oklab_of(seen(scale[i], matrix)).lightness,
                oklab_of(seen(scale[i - 4], matrix)).lightness)
          << i;
    }
  }
}

TEST(ColourScale, ClampsAndReachesBothEnds) {
  EXPECT_EQ(colour_at(0), colour_scale().front());
  EXPECT_EQ(colour_at(1), colour_scale().back());
  EXPECT_EQ(colour_at(-3), colour_scale().front());
  EXPECT_EQ(colour_at(7), colour_scale().back());
}

TEST(OkLabSpace, GivesEveryScreenColourBack) {
  for (int red = 0; red < 256; red += 15) {
    for (int green = 0; green < 256; green += 15) {
      for (int blue = 0; blue < 256; blue += 15) {
        const Colour colour{static_cast<std::uint8_t>(red), static_cast<std::uint8_t>(green),
                            static_cast<std::uint8_t>(blue)};
        EXPECT_EQ(colour_of(oklab_of(colour)), colour);
      }
    }
  }
  EXPECT_NEAR(oklab_of({255, 255, 255}).lightness, 1, 1e-6);
}

}  // namespace
}  // namespace somatlas::exports
