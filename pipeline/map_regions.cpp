// Always holds: heights and distances are integers, costs are made of them by correctly rounded
// operations, and every choice among equals is by cell numbers; nothing depends on the order in
// which a hash table lists its entries.
#include "pipeline/map_regions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace somatlas::pipeline {
namespace {

constexpr std::uint32_t none = 0xFFFF'FFFF;

/// Calls visit with each neighbour over an edge, upper, left, right, lower.
template <typename Visit>
void for_each_neighbour(std::uint32_t side, std::uint32_t cell, Visit&& visit) {
  const std::uint32_t column = cell % side;
  if (cell >= side) {
    visit(cell - side);
  }
  if (column > 0) {
    visit(cell - 1);
  }
  if (column + 1 < side) {
    visit(cell + 1);
  }
  if (cell / side + 1 < side) {
    visit(cell + side);
  }
}

std::uint32_t distance_between(const CellBorders& borders, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t first = std::min(a, b);
  return std::max(a, b) == first + 1 ? borders.right[first] : borders.down[first];
}

/// The number of each cell's basin; numbers are in the order in which basins are met from below.
std::vector<std::uint32_t> flood(std::uint32_t side, std::span<const std::uint8_t> vacant,
                                 const CellBorders& borders, std::uint32_t& basins) {
  const std::vector<std::uint32_t>& level = borders.height;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < vacant.size(); ++i) {
    if (vacant[i] == 0) {
      order.push_back(i);
    }
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return level[a] != level[b] ? level[a] < level[b] : a < b;
  });
  std::vector<std::uint32_t> basin(vacant.size(), none);
  basins = 0;
  for (const std::uint32_t cell : order) {
    // Into the basin of the neighbour that it is nearest to.
    std::uint32_t nearest = none;
    for_each_neighbour(side, cell, [&](std::uint32_t other) {
      if (basin[other] != none) {
        const std::uint32_t distance = distance_between(borders, cell, other);
        if (basin[cell] == none || distance < nearest) {
          nearest = distance;
          basin[cell] = basin[other];
        }
      }
    });
    if (basin[cell] == none) {
      basin[cell] = basins++;
    }
  }
  if (order.empty()) {  // a map of vacant cells alone is one region
    std::fill(basin.begin(), basin.end(), basins++);
    return basin;
  }
  // Vacant cells: step by step outwards from all basins at once.
  std::sort(order.begin(), order.end());
  for (std::size_t next = 0; next < order.size(); ++next) {
    for_each_neighbour(side, order[next], [&](std::uint32_t other) {
      if (basin[other] == none) {
        basin[other] = basin[order[next]];
        order.push_back(other);
      }
    });
  }
  return basin;
}

/// Joins basins to larger and larger regions: of two, the one of fewer borders into the other. A
/// join makes the larger one's other joins dearer, never cheaper: these wait in the queue by what
/// they cost before, and their cost is looked at again when their turn comes.
class Joining {
 public:
  Joining(std::uint32_t side, const CellBorders& borders, std::span<const std::uint32_t> basin,
          std::uint32_t basins, std::span<const std::uint32_t> hits)
      : alive_(basins), nodes_(basins) {
    const auto all = std::accumulate(hits.begin(), hits.end(), std::uint64_t{1});
    for (std::uint32_t cell = 0; cell < basin.size(); ++cell) {
      nodes_[basin[cell]].mass += all + std::uint64_t{hits[cell]} * basin.size();
      for_each_neighbour(side, cell, [&](std::uint32_t other) {
        if (other > cell && basin[other] != basin[cell]) {
          Border border;
          border.first_edge = 2 * std::uint64_t{cell} + (other == cell + 1 ? 0 : 1);
          const std::uint32_t distance = distance_between(borders, cell, other);
          if (distance != CellBorders::no_distance) {
            border.distance = distance;
            border.edges = 1;
            highest_ = std::max(highest_, distance);
          }
          nodes_[basin[cell]].borders[basin[other]] += border;
          nodes_[basin[other]].borders[basin[cell]] += border;
        }
      });
    }
    for (std::uint32_t a = 0; a < basins; ++a) {
      for (const auto& [b, border] : nodes_[a].borders) {
        if (a < b) {
          joins_.push(join_of(a, b, border));
        }
      }
    }
  }

  void join_down_to(std::uint32_t regions) {
    while (alive_ > regions && !joins_.empty()) {
      const Join join = joins_.top();
      joins_.pop();
      if (nodes_[join.a].joined_to != none || nodes_[join.b].joined_to != none) {
        continue;  // its border was handed on, and waits under another node
      }
      const Join now = join_of(join.a, join.b, nodes_[join.a].borders.at(join.b));
      if (now < join) {
        joins_.push(now);
      } else if (nodes_[join.a].borders.size() < nodes_[join.b].borders.size()) {
        make_join(join.a, join.b);
      } else {
        make_join(join.b, join.a);
      }
    }
  }

  /// The node that a basin was joined to at last.
  [[nodiscard]] std::uint32_t present(std::uint32_t basin) {
    std::uint32_t last = basin;
    while (nodes_[last].joined_to != none) {
      last = nodes_[last].joined_to;
    }
    while (basin != last) {
      basin = std::exchange(nodes_[basin].joined_to, last);
    }
    return last;
  }

 private:
  struct Border {
    std::uint64_t distance = 0;  // over the edges between usable cells
    std::uint32_t edges = 0;
    std::uint64_t first_edge = ~std::uint64_t{0};

    Border& operator+=(const Border& other) {
      distance += other.distance;
      edges += other.edges;
      first_edge = std::min(first_edge, other.first_edge);
      return *this;
    }
  };
  struct Node {
    std::uint64_t mass = 0;  // cells by all hits, and hits by all cells
    std::uint32_t joined_to = none;
    std::unordered_map<std::uint32_t, Border> borders;
  };
  struct Join {
    double cost = 0;
    std::uint64_t first_edge = 0;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    // The queue's top is its greatest.
    friend bool operator<(const Join& x, const Join& y) {
      return std::tie(x.cost, x.first_edge) > std::tie(y.cost, y.first_edge);
    }
  };

  [[nodiscard]] Join join_of(std::uint32_t a, std::uint32_t b, const Border& border) const {
    // What has vacant cells between is as far apart as anything on the map.
    const double distance = border.edges == 0 ? static_cast<double>(highest_)
                                              : static_cast<double>(border.distance) /
                                                    static_cast<double>(border.edges);
    // Each of these operations grows with the masses, however it is rounded.
    const double harmonic =
        1 / (1 / static_cast<double>(nodes_[a].mass) + 1 / static_cast<double>(nodes_[b].mass));
    return {rounded_down(distance * distance * harmonic), border.first_edge, a, b};
  }

  // To one part in 4,096 to 8,192: what a large region costs its neighbours soon stays the same.
  static double rounded_down(double cost) {
    constexpr int kept_bits = 13;
    int exponent = 0;
    const double fraction = std::frexp(cost, &exponent);
    return std::ldexp(std::floor(std::ldexp(fraction, kept_bits)), exponent - kept_bits);
  }

  void make_join(std::uint32_t part, std::uint32_t whole) {
    nodes_[part].joined_to = whole;
    nodes_[whole].mass += nodes_[part].mass;
    nodes_[whole].borders.erase(part);
    for (const auto& [other, border] : std::exchange(nodes_[part].borders, {})) {
      if (other == whole) {
        continue;
      }
      const Border& sum = nodes_[whole].borders[other] += border;
      nodes_[other].borders.erase(part);
      nodes_[other].borders[whole] = sum;
      joins_.push(join_of(whole, other, sum));
    }
    --alive_;
  }

  std::uint32_t alive_;
  std::uint32_t highest_ = 0;
  std::vector<Node> nodes_;
  std::priority_queue<Join> joins_;
};

}  // namespace

std::array<std::uint32_t, store::region_levels> region_targets(std::uint32_t side) {
  constexpr std::uint32_t most_regions = 4096;
  constexpr std::uint32_t most_continents = 10;
  const auto cells = std::uint64_t{side} * side;
  const auto regions = static_cast<std::uint32_t>(std::max<std::uint64_t>(
      1, std::min<std::uint64_t>({2 * std::uint64_t{side}, cells / 8, most_regions})));
  const std::uint32_t continents = std::clamp(regions / 4, 1U, most_continents);
  const auto areas =
      static_cast<std::uint32_t>(std::sqrt(static_cast<double>(regions * continents)));
  return {regions, areas, continents};
}

std::vector<std::uint32_t> MapRegions::of_cells(std::size_t level) const {
  std::vector<std::uint32_t> result = region;
  for (std::size_t below = 0; below < level; ++below) {
    for (std::uint32_t& number : result) {
      number = parent[below][number];
    }
  }
  return result;
}

std::size_t number_regions(std::vector<std::uint32_t>& region,
                           std::span<const std::uint32_t> hits) {
  struct Region {
    std::uint64_t hits = 0;
    std::uint32_t first_cell = 0;
  };
  std::unordered_map<std::uint32_t, std::uint32_t> place;
  std::vector<Region> regions;
  for (std::uint32_t cell = 0; cell < region.size(); ++cell) {
    const auto [found, is_new] =
        place.emplace(region[cell], static_cast<std::uint32_t>(regions.size()));
    if (is_new) {
      regions.push_back({0, cell});
    }
    region[cell] = found->second;
    regions[region[cell]].hits += hits[cell];
  }
  std::vector<std::uint32_t> order(regions.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return regions[a].hits != regions[b].hits ? regions[a].hits > regions[b].hits
                                              : regions[a].first_cell < regions[b].first_cell;
  });
  std::vector<std::uint32_t> number(regions.size());
  for (std::uint32_t n = 0; n < order.size(); ++n) {
    number[order[n]] = n;
  }
  for (std::uint32_t& value : region) {
    value = number[value];
  }
  return regions.size();
}

MapRegions tile_map(std::uint32_t side, std::span<const std::uint8_t> vacant,
                    const CellBorders& borders, std::span<const std::uint32_t> hits) {
  const std::size_t cells = std::size_t{side} * side;
  if (vacant.size() != cells || hits.size() != cells || borders.height.size() != cells ||
      borders.right.size() != cells || borders.down.size() != cells) {
    throw std::invalid_argument("a map is tiled by one value a cell");
  }
  std::uint32_t basins = 0;
  const std::vector<std::uint32_t> basin = flood(side, vacant, borders, basins);
  Joining joining(side, borders, basin, basins, hits);
  joining.join_down_to(region_targets(side)[0]);
  MapRegions result;
  for (const std::uint32_t number : basin) {
    result.region.push_back(joining.present(number));
  }
  result.parent[0].assign(number_regions(result.region, hits), 0);
  return result;
}

std::vector<std::uint32_t> region_centres(std::uint32_t side, std::span<const std::uint32_t> region,
                                          std::size_t count, std::span<const std::uint32_t> hits) {
  // Steps from the nearest cell at a border, by a search from all of these at once.
  std::vector<std::uint32_t> steps(region.size(), none);
  std::vector<std::uint32_t> queue;
  for (std::uint32_t cell = 0; cell < region.size(); ++cell) {
    unsigned inside = 0;
    for_each_neighbour(
        side, cell, [&](std::uint32_t other) { inside += region[other] == region[cell] ? 1 : 0; });
    if (inside < 4) {
      steps[cell] = 0;
      queue.push_back(cell);
    }
  }
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::uint32_t cell = queue[next];
    for_each_neighbour(side, cell, [&](std::uint32_t other) {
      if (steps[other] == none) {
        steps[other] = steps[cell] + 1;
        queue.push_back(other);
      }
    });
  }
  std::vector<std::uint32_t> centres(count, none);
  for (std::uint32_t cell = 0; cell < region.size(); ++cell) {
    std::uint32_t& centre = centres[region[cell]];
    if (centre == none || steps[cell] > steps[centre] ||
        (steps[cell] == steps[centre] && hits[cell] > hits[centre])) {
      centre = cell;
    }
  }
  return centres;
}

}  // namespace somatlas::pipeline
