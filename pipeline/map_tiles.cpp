// A tile is drawn pixel by pixel, the cell of each found by shifting: edges are powers of two.
#include "pipeline/map_tiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <set>

namespace somatlas::pipeline {
namespace {

constexpr int tile_bits = 8;
constexpr int widest_cell_bits = 7;

int side_bits(std::uint32_t side) {
  return std::countr_zero(std::bit_ceil(std::max(side, 1U)));
}

// The shade of a pixel that holds the cells of a square of that edge.
Shade mixed(const TileSource& source, std::uint32_t top, std::uint32_t left, std::uint32_t edge) {
  std::uint64_t sum = 0;
  std::uint64_t count = 0;
  bool usable = false;
  for (std::uint32_t row = top; row < std::min(top + edge, source.side); ++row) {
    for (std::uint32_t column = left; column < std::min(left + edge, source.side); ++column) {
      const Shade shade = source.shade[std::size_t{row} * source.side + column];
      usable = usable || shade < shade_vacant;
      if (shade <= most_shade) {
        if (!source.part.empty()) {
          return shade;
        }
        sum += shade;
        ++count;
      }
    }
  }
  return count > 0 ? static_cast<Shade>((2 * sum + count) / (2 * count))
         : usable  ? shade_no_value
                   : shade_vacant;
}

}  // namespace

Shade shade_of(double value, const ShadeRange& range) {
  const auto scaled = [&range](double v) { return range.logarithmic ? std::log1p(v) : v; };
  const double low = scaled(range.low);
  const double high = scaled(range.high);
  if (!(high > low)) {
    return 0;
  }
  const double place = std::clamp((scaled(value) - low) / (high - low), 0.0, 1.0);
  return static_cast<Shade>(std::lround(place * most_shade));
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) {
    return 0;
  }
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

std::vector<Shade> part_colours(std::uint32_t side, std::span<const std::uint32_t> part,
                                std::size_t count, std::size_t colours) {
  std::vector<std::set<std::uint32_t>> neighbours(count);
  const auto meet = [&](std::size_t a, std::size_t b) {
    if (part[a] != part[b]) {
      neighbours[part[a]].insert(part[b]);
      neighbours[part[b]].insert(part[a]);
    }
  };
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (i % side + 1 < side) {
      meet(i, i + 1);
    }
    if (i + side < part.size()) {
      meet(i, i + side);
    }
  }
  std::vector<Shade> colour(count);
  std::vector<std::size_t> used(colours);
  for (std::size_t number = 0; number < count; ++number) {
    std::vector<bool> taken(colours);
    for (const std::uint32_t other : neighbours[number]) {
      if (other < number) {
        taken[colour[other]] = true;
      }
    }
    const bool all = std::ranges::find(taken, false) == taken.end();
    std::size_t best = colours;
    for (std::size_t c = 0; c < colours; ++c) {
      if ((all || !taken[c]) && (best == colours || used[c] < used[best])) {
        best = c;
      }
    }
    colour[number] = static_cast<Shade>(best);
    ++used[best];
  }
  return colour;
}

std::uint32_t most_zoom(std::uint32_t side) {
  return static_cast<std::uint32_t>(std::max(0, widest_cell_bits + side_bits(side) - tile_bits));
}

std::vector<Shade> render_tile(const TileSource& source, std::uint32_t zoom, std::uint32_t x,
                               std::uint32_t y) {
  std::vector<Shade> tile(std::size_t{tile_edge} * tile_edge, shade_outside);
  const int cell_bits = tile_bits + static_cast<int>(zoom) - side_bits(source.side);
  const auto cell_of = [cell_bits](std::uint32_t pixel) {
    return cell_bits >= 0 ? pixel >> cell_bits : pixel << -cell_bits;
  };
  const bool detailed = cell_bits >= 2;
  const std::uint32_t inside = cell_bits >= 0 ? (1U << cell_bits) - 1 : 0;
  const std::uint32_t line = std::max(1U, (inside + 1) / 32);
  for (std::uint32_t down = 0; down < tile_edge; ++down) {
    const std::uint32_t pixel_row = y * tile_edge + down;
    const std::uint32_t row = cell_of(pixel_row);
    if (row >= source.side) {
      break;
    }
    for (std::uint32_t right = 0; right < tile_edge; ++right) {
      const std::uint32_t pixel_column = x * tile_edge + right;
      const std::uint32_t column = cell_of(pixel_column);
      if (column >= source.side) {
        break;
      }
      const std::size_t cell = std::size_t{row} * source.side + column;
      Shade shade =
          cell_bits >= 0 ? source.shade[cell] : mixed(source, row, column, 1U << -cell_bits);
      if (detailed && shade == shade_vacant && (pixel_row + pixel_column) % 4 == 0) {
        shade = shade_vacant_line;
      }
      if (detailed && !source.part.empty()) {
        const bool above = (pixel_row & inside) < line && row > 0 &&
                           source.part[cell] != source.part[cell - source.side];
        const bool before = (pixel_column & inside) < line && column > 0 &&
                            source.part[cell] != source.part[cell - 1];
        shade = above || before ? shade_border : shade;
      }
      tile[std::size_t{down} * tile_edge + right] = shade;
    }
  }
  return tile;
}

}  // namespace somatlas::pipeline
