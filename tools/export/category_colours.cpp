// Hues are spread over the circle in steps that put categories which often meet far apart;
// lightness takes turns, so that neighbours in hue differ in it too.
#include "tools/export/category_colours.h"

#include <array>
#include <cmath>
#include <numbers>

namespace somatlas::exports {
namespace {

constexpr std::array<std::string_view, category_letters.size()> names{"Anatomy",
                                                                      "Organisms",
                                                                      "Diseases",
                                                                      "Chemicals and Drugs",
                                                                      "Techniques and Equipment",
                                                                      "Psychiatry and Psychology",
                                                                      "Phenomena and Processes",
                                                                      "Disciplines and Occupations",
                                                                      "Social Phenomena, Education",
                                                                      "Technology, Industry, Food",
                                                                      "Humanities",
                                                                      "Information Science",
                                                                      "Named Groups",
                                                                      "Health Care",
                                                                      "Publication Characteristics",
                                                                      "Geographicals",
                                                                      "no category"};

std::size_t place_of(char letter) {
  const std::size_t place = category_letters.find(letter);
  return place == std::string_view::npos ? category_letters.size() - 1 : place;
}

}  // namespace

Colour category_colour(char letter) {
  const std::size_t place = place_of(letter);
  if (place + 1 == category_letters.size()) {
    return colour_of({0.86, 0, 0});
  }
  constexpr std::size_t hues = category_letters.size() - 1;
  constexpr std::size_t step = 7;  // has no factor in common with hues
  const std::size_t hue = place * step % hues;
  const double angle = 2 * std::numbers::pi * static_cast<double>(hue) / static_cast<double>(hues);
  constexpr std::array lightness{0.70, 0.80, 0.88, 0.75};
  constexpr double chroma = 0.09;
  return colour_of(
      {lightness[hue % lightness.size()], chroma * std::cos(angle), chroma * std::sin(angle)});
}

std::string_view category_name(char letter) {
  return names[place_of(letter)];
}

}  // namespace somatlas::exports
