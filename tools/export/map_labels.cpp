// Places for names by trying a few at each cell.
// Always holds: the same map gives the same names in the same places.
#include "tools/export/map_labels.h"

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "pipeline/region_names.h"
#include "tools/lookup/descriptor_names.h"

namespace somatlas::exports {
namespace {

constexpr double line_ems = 15;  // a line's width over cap height: some 20 letters

bool overlap(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

Box grown(const Box& box, double by) {
  return {box.left - by, box.top - by, box.right + by, box.bottom + by};
}

struct Corner {
  double left = 0;
  double top = 0;
};

// Where a box of that size may stand at (x, y), the best first.
std::vector<Corner> corners_at(LabelKind kind, double x, double y, double width, double height,
                               double dot, double away) {
  if (kind != LabelKind::place) {
    // Over it, then moved by half its size.
    const double left = x - width / 2;
    const double top = y - height / 2;
    return {{left, top},
            {left, top - height / 2},
            {left, top + height / 2},
            {left - width / 4, top},
            {left + width / 4, top},
            {left, top - height},
            {left, top + height}};
  }
  // Below, above, right, left, then the four corners.
  return {{x - width / 2, y + away},    {x - width / 2, y - away - height},
          {x + away, y - height / 2},   {x - away - width, y - height / 2},
          {x + dot, y + away},          {x - dot - width, y + away},
          {x + dot, y - away - height}, {x - dot - width, y - away - height}};
}

// In as few lines as a name of that style takes, none much longer than the others.
std::vector<std::string> balanced_lines(const std::string& name, const TextStyle& style) {
  double width = line_ems * style.cap_height;
  std::vector<std::string> lines = broken_into_lines(name, width, style);
  while (width > style.cap_height) {
    width -= style.cap_height / 2;
    std::vector<std::string> narrower = broken_into_lines(name, width, style);
    if (narrower.size() != lines.size()) {
      break;
    }
    lines = std::move(narrower);
  }
  return lines;
}

// In three lines at most where the name is of several headings: the last of them make way.
std::vector<std::string> short_lines(std::string name, const TextStyle& style) {
  constexpr std::size_t most_lines = 3;
  std::vector<std::string> lines = balanced_lines(name, style);
  for (std::size_t end = name.rfind(pipeline::between_headings);
       lines.size() > most_lines && end != std::string::npos;
       end = name.rfind(pipeline::between_headings)) {
    name.resize(end);
    lines = balanced_lines(name, style);
    lines.back() += std::string(pipeline::between_headings) + "…";
  }
  return lines;
}

}  // namespace

TextStyle label_style(LabelKind kind) {
  constexpr Colour ink{28, 30, 38};
  constexpr Colour paper{255, 255, 255};
  switch (kind) {
    case LabelKind::continent:
      return {12, 2, ink, 2.8, paper, true};
    case LabelKind::area:
      return {10.5, 1.8, ink, 2.4, paper, true};
    case LabelKind::region:
      return {8.5, 1.2, ink, 2, paper, false};
    case LabelKind::place:
      break;
  }
  return {10.5, 1.5, ink, 2.4, paper, false};
}

double line_height(const TextStyle& style) {
  return 1.75 * style.cap_height;
}

std::vector<std::string> broken_into_lines(const std::string& text, double width,
                                           const TextStyle& style) {
  std::istringstream words(text);
  std::vector<std::string> lines;
  std::string word;
  while (words >> word) {
    if (!lines.empty() && text_width(lines.back() + " " + word, style) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::vector<PlacedLabel> place_labels(std::span<const MapLabel> labels, std::size_t count,
                                      std::uint32_t side, std::uint32_t cell, double left,
                                      double top) {
  const double edge = static_cast<double>(side) * cell;
  const Box map{left + 3, top + 3, left + edge - 3, top + edge - 3};
  const double place_height = label_style(LabelKind::place).cap_height;
  const double dot = place_height * 0.35;
  const double away = dot + place_height * 0.5;
  const auto dot_of = [&](const PlacedLabel& label) {
    return label.kind == LabelKind::place
               ? Box{label.x - away, label.y - away, label.x + away, label.y + away}
               : Box{};
  };
  std::vector<PlacedLabel> placed;
  std::unordered_set<std::string> used;
  for (const MapLabel& label : labels) {
    if (placed.size() == count) {
      break;
    }
    const std::string folded = lookup::folded(label.name);
    if (folded.empty() || used.contains(folded)) {
      continue;
    }
    const TextStyle style = label_style(label.kind);
    PlacedLabel candidate;
    candidate.kind = label.kind;
    candidate.lines = short_lines(label.name, style);
    candidate.x = left + (label.neuron % side + 0.5) * cell;
    candidate.y = top + (label.neuron / side + 0.5) * cell;
    double width = 0;
    for (const std::string& line : candidate.lines) {
      width = std::max(width, text_width(line, style));
    }
    const double height = style.cap_height * 1.3 +
                          line_height(style) * static_cast<double>(candidate.lines.size() - 1);
    const Box own_dot = dot_of(candidate);
    for (const Corner& corner :
         corners_at(label.kind, candidate.x, candidate.y, width, height, dot, away)) {
      candidate.box = {corner.left, corner.top, corner.left + width, corner.top + height};
      const Box taken = grown(candidate.box, style.cap_height * 0.4);
      const bool inside = candidate.box.left >= map.left && candidate.box.right <= map.right &&
                          candidate.box.top >= map.top && candidate.box.bottom <= map.bottom;
      const bool free = std::none_of(placed.begin(), placed.end(), [&](const PlacedLabel& other) {
        return overlap(taken, other.box) || overlap(taken, dot_of(other)) ||
               overlap(own_dot, grown(other.box, 1));
      });
      if (inside && free) {
        used.insert(folded);
        placed.push_back(std::move(candidate));
        break;
      }
    }
  }
  return placed;
}

}  // namespace somatlas::exports
