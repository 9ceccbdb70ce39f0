// Peaks of hits by a sliding window along rows, then columns; places for names by trying a few
// beside each peak. Always holds: the same map gives the same names in the same places.
#include "tools/export/map_labels.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <unordered_set>

namespace somatlas::exports {
namespace {

constexpr double line_factor = 1.75;  // line height over cap height
constexpr std::size_t line_characters = 20;

// The greatest of the values within reach along one axis, for every position.
template <typename At>
void window_maximum(std::uint32_t side, std::uint32_t reach, At at) {
  std::vector<std::uint64_t> line(side);
  for (std::uint32_t i = 0; i < side; ++i) {
    line[i] = at(i);
  }
  for (std::uint32_t i = 0; i < side; ++i) {
    const std::uint32_t first = i < reach ? 0 : i - reach;
    const std::uint32_t last = std::min(side - 1, i + reach);
    at(i) = *std::max_element(line.begin() + first, line.begin() + last + 1);
  }
}

bool overlap(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

Box grown(const Box& box, double by) {
  return {box.left - by, box.top - by, box.right + by, box.bottom + by};
}

}  // namespace

std::vector<std::uint32_t> peaks(std::uint32_t side, std::span<const std::uint32_t> hits) {
  const std::uint32_t reach = std::max(1U, side / 16);
  // (hits, lower number first) as one number, so that every window has one greatest.
  const auto rank = [&](std::size_t i) {
    return (std::uint64_t{hits[i]} << 32) | (0xFFFF'FFFFU - static_cast<std::uint32_t>(i));
  };
  std::vector<std::uint64_t> greatest(hits.size());
  for (std::size_t i = 0; i < hits.size(); ++i) {
    greatest[i] = rank(i);
  }
  for (std::size_t row = 0; row < side; ++row) {
    window_maximum(side, reach,
                   [&](std::size_t i) -> std::uint64_t& { return greatest[row * side + i]; });
  }
  for (std::size_t column = 0; column < side; ++column) {
    window_maximum(side, reach,
                   [&](std::size_t i) -> std::uint64_t& { return greatest[i * side + column]; });
  }
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (hits[i] > 0 && greatest[i] == rank(i)) {
      found.push_back(static_cast<std::uint32_t>(i));
    }
  }
  std::sort(found.begin(), found.end(),
            [&](std::uint32_t a, std::uint32_t b) { return rank(a) > rank(b); });
  return found;
}

std::vector<std::string> broken_into_lines(const std::string& text, std::size_t characters) {
  std::istringstream words(text);
  std::vector<std::string> lines;
  std::string word;
  while (words >> word) {
    if (!lines.empty() && lines.back().size() + 1 + word.size() <= characters) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::vector<PlacedLabel> place_labels(std::span<const MapLabel> labels, std::size_t count,
                                      std::uint32_t side, std::uint32_t cell, double left,
                                      double top, const TextStyle& style) {
  const double edge = static_cast<double>(side) * cell;
  const Box map{left + 2, top + 2, left + edge - 2, top + edge - 2};
  const double dot = style.cap_height * 0.35;
  const double away = dot + style.cap_height * 0.5;
  std::vector<PlacedLabel> placed;
  std::unordered_set<std::string> used;
  for (const MapLabel& label : labels) {
    if (placed.size() == count) {
      break;
    }
    if (label.name.empty() || used.contains(label.name)) {
      continue;
    }
    PlacedLabel candidate;
    candidate.lines = broken_into_lines(label.name, line_characters);
    candidate.x = left + (label.neuron % side + 0.5) * cell;
    candidate.y = top + (label.neuron / side + 0.5) * cell;
    double width = 0;
    for (const std::string& line : candidate.lines) {
      width = std::max(width, text_width(line, style));
    }
    const double height =
        style.cap_height * (1.3 + line_factor * static_cast<double>(candidate.lines.size() - 1));
    const double x = candidate.x;
    const double y = candidate.y;
    // Below, above, right, left, then the four corners.
    const std::array<std::array<double, 2>, 8> corners{{{x - width / 2, y + away},
                                                        {x - width / 2, y - away - height},
                                                        {x + away, y - height / 2},
                                                        {x - away - width, y - height / 2},
                                                        {x + dot, y + away},
                                                        {x - dot - width, y + away},
                                                        {x + dot, y - away - height},
                                                        {x - dot - width, y - away - height}}};
    for (const auto& [box_left, box_top] : corners) {
      candidate.box = {box_left, box_top, box_left + width, box_top + height};
      const Box taken = grown(candidate.box, style.cap_height * 0.4);
      const Box own_dot{x - away, y - away, x + away, y + away};
      const bool inside = candidate.box.left >= map.left && candidate.box.right <= map.right &&
                          candidate.box.top >= map.top && candidate.box.bottom <= map.bottom;
      const bool free = std::none_of(placed.begin(), placed.end(), [&](const PlacedLabel& other) {
        const Box other_dot{other.x - away, other.y - away, other.x + away, other.y + away};
        return overlap(taken, other.box) || overlap(taken, other_dot) ||
               overlap(own_dot, grown(other.box, 1));
      });
      if (inside && free) {
        used.insert(label.name);
        placed.push_back(std::move(candidate));
        break;
      }
    }
  }
  return placed;
}

}  // namespace somatlas::exports
