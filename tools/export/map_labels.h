// Where the names on the picture of a map stand.
// Always holds: names never overlap one another nor leave the map; each is given once, whatever
// its case.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/export/stroke_font.h"

namespace somatlas::exports {

/// A place has a dot and its name beside it; a part of the map has its name over its middle.
enum class LabelKind : std::uint8_t { place, region, area, continent };
[[nodiscard]] TextStyle label_style(LabelKind kind);

struct MapLabel {
  std::uint32_t neuron = 0;
  std::string name;
  LabelKind kind = LabelKind::place;
};

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

struct PlacedLabel {
  double x = 0;  // the cell's centre, pixels
  double y = 0;
  Box box;                         // around the text
  std::vector<std::string> lines;  // centred in the box
  LabelKind kind = LabelKind::place;
};

/// Broken at blanks into lines of at most that width in pixels; a longer word stays whole.
[[nodiscard]] std::vector<std::string> broken_into_lines(const std::string& text, double width,
                                                         const TextStyle& style);
/// From one line's baseline to the next, in pixels.
[[nodiscard]] double line_height(const TextStyle& style);

/// Places at most count labels, in their order, in the square from (left, top) with side * cell
/// pixels an edge; one that fits nowhere at its cell is passed over.
[[nodiscard]] std::vector<PlacedLabel> place_labels(std::span<const MapLabel> labels,
                                                    std::size_t count, std::uint32_t side,
                                                    std::uint32_t cell, double left, double top);

}  // namespace somatlas::exports
