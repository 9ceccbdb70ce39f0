// Which cells of a map get a name in its picture, and where the names stand.
// Always holds: names never overlap one another nor leave the map; each name is given once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/export/stroke_font.h"

namespace somatlas::exports {

/// Cells that have more hits than every other within side / 16 cells (at least 1) of them, the
/// lower number at equal hits; most hits first. hits: side * side values, row-major.
[[nodiscard]] std::vector<std::uint32_t> peaks(std::uint32_t side,
                                               std::span<const std::uint32_t> hits);

struct MapLabel {
  std::uint32_t neuron = 0;
  std::string name;
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
};

/// Broken at blanks into lines of about that many characters; a longer word stays whole.
[[nodiscard]] std::vector<std::string> broken_into_lines(const std::string& text,
                                                         std::size_t characters);

/// Places at most count labels, in their order, in the square from (left, top) with side * cell
/// pixels an edge; one that fits nowhere beside its cell is passed over.
[[nodiscard]] std::vector<PlacedLabel> place_labels(std::span<const MapLabel> labels,
                                                    std::size_t count, std::uint32_t side,
                                                    std::uint32_t cell, double left, double top,
                                                    const TextStyle& style);

}  // namespace somatlas::exports
