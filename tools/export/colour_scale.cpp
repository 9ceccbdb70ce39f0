// The scale is a smooth curve through a few chosen colours in OKLab, walked at even speed.
// Always holds: it depends on the anchors alone.
#include "tools/export/colour_scale.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace somatlas::exports {
namespace {

double linear_of(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

std::uint8_t channel_of(double linear) {
  const double c = linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(std::clamp(c, 0.0, 1.0) * 255));
}

double distance(const OkLab& a, const OkLab& b) {
  return std::hypot(a.lightness - b.lightness, a.green_red - b.green_red,
                    a.blue_yellow - b.blue_yellow);
}

OkLab between(const OkLab& a, const OkLab& b, double t) {
  return {a.lightness + (b.lightness - a.lightness) * t,
          a.green_red + (b.green_red - a.green_red) * t,
          a.blue_yellow + (b.blue_yellow - a.blue_yellow) * t};
}

// A smooth curve through the anchors (Catmull-Rom), in many short steps.
std::vector<OkLab> curve(const std::vector<OkLab>& anchors) {
  constexpr int steps = 200;
  const auto spline = [](double a, double b, double c, double d, double t) {
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t +
                  (3 * b - a - 3 * c + d) * t * t * t);
  };
  std::vector<OkLab> points;
  for (std::size_t i = 0; i + 1 < anchors.size(); ++i) {
    const OkLab& b = anchors[i];
    const OkLab& c = anchors[i + 1];
    const OkLab a = i > 0 ? anchors[i - 1] : between(b, c, -1);
    const OkLab d = i + 2 < anchors.size() ? anchors[i + 2] : between(b, c, 2);
    for (int step = 0; step < steps; ++step) {
      const double t = static_cast<double>(step) / steps;
      points.push_back({spline(a.lightness, b.lightness, c.lightness, d.lightness, t),
                        spline(a.green_red, b.green_red, c.green_red, d.green_red, t),
                        spline(a.blue_yellow, b.blue_yellow, c.blue_yellow, d.blue_yellow, t)});
    }
  }
  points.push_back(anchors.back());
  return points;
}

std::array<Colour, scale_steps> make_scale() {
  // Chosen by eye for this program: night blue, blue, teal, green, lime, pale yellow.
  const std::vector<OkLab> points =
      curve({oklab_of({20, 20, 70}), oklab_of({38, 66, 132}), oklab_of({22, 116, 148}),
             oklab_of({38, 160, 136}), oklab_of({134, 200, 100}), oklab_of({250, 236, 140})});
  std::vector<double> length{0};
  for (std::size_t i = 1; i < points.size(); ++i) {
    length.push_back(length.back() + distance(points[i - 1], points[i]));
  }
  std::array<Colour, scale_steps> scale;
  std::size_t at = 0;
  for (std::size_t i = 0; i < scale_steps; ++i) {
    const double target = length.back() * static_cast<double>(i) / (scale_steps - 1);
    while (at + 2 < points.size() && length[at + 1] < target) {
      ++at;
    }
    const double t = (target - length[at]) / (length[at + 1] - length[at]);
    scale[i] = colour_of(between(points[at], points[at + 1], std::clamp(t, 0.0, 1.0)));
  }
  return scale;
}

}  // namespace

OkLab oklab_of(Colour colour) {
  const double r = linear_of(colour.red);
  const double g = linear_of(colour.green);
  const double b = linear_of(colour.blue);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Colour colour_of(const OkLab& lab) {
  const auto cube = [](double x) { return x * x * x; };
  const double l =
      cube(lab.lightness + 0.3963377774 * lab.green_red + 0.2158037573 * lab.blue_yellow);
  const double m =
      cube(lab.lightness - 0.1055613458 * lab.green_red - 0.0638541728 * lab.blue_yellow);
  const double s =
      cube(lab.lightness - 0.0894841775 * lab.green_red - 1.2914855480 * lab.blue_yellow);
  return {channel_of(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          channel_of(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          channel_of(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

const std::array<Colour, scale_steps>& colour_scale() {
  static const std::array<Colour, scale_steps> scale = make_scale();
  return scale;
}

Colour colour_at(double t) {
  const double step = std::clamp(t, 0.0, 1.0) * (scale_steps - 1);
  return colour_scale()[static_cast<std::size_t>(std::lround(step))];
}

}  // namespace somatlas::exports
