// Always holds: the squared distances that joining starts from are exact integers; what follows is
// made of correctly rounded operations in a fixed order. Regions lie in a plane, so they have fewer
// than six neighbours each on average: of n regions a join takes O(n), also where one meets all.
#include "pipeline/region_levels.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

namespace somatlas::pipeline {
namespace {

/// By region those that touch it, ascending.
using Neighbours = std::vector<std::vector<std::uint32_t>>;

/// The regions of a level as they are joined. A join lives on under the lower of the two numbers.
class Ward {
 public:
  Ward(const RegionWeights& weights, Neighbours touching)
      : count_(weights.regions()),
        alive_(count_),
        into_(count_),
        mass_(count_),
        cost_(count_ * count_),
        touching_(std::move(touching)) {
    std::iota(into_.begin(), into_.end(), 0U);
    for (std::size_t a = 0; a < count_; ++a) {
      mass_[a] = static_cast<double>(weights.mass(a));
    }
    for (std::size_t a = 0; a < count_; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const auto square = static_cast<double>(weights.square_distance(a, b));
        set_cost(a, b, square * (mass_[a] * mass_[b] / (mass_[a] + mass_[b])));
      }
    }
    nearest_.resize(count_, count_);
    for (std::size_t a = 0; a < count_; ++a) {
      find_nearest(a);
    }
  }

  void join_down_to(std::size_t regions) {
    while (alive_ > regions) {
      std::size_t best = count_;
      for (std::size_t a = 0; a < count_; ++a) {
        if (into_[a] == a && nearest_[a] != count_ &&
            (best == count_ || cost(a, nearest_[a]) < cost(best, nearest_[best]))) {
          best = a;
        }
      }
      if (best == count_) {
        return;
      }
      join(std::min(best, nearest_[best]), std::max(best, nearest_[best]));
    }
  }

  /// What each region has become part of.
  [[nodiscard]] const std::vector<std::uint32_t>& present() const { return into_; }

 private:
  [[nodiscard]] double cost(std::size_t a, std::size_t b) const { return cost_[a * count_ + b]; }
  void set_cost(std::size_t a, std::size_t b, double value) {
    cost_[a * count_ + b] = value;
    cost_[b * count_ + a] = value;
  }

  /// The region among those that touch that costs least to join, the lower number at a tie.
  void find_nearest(std::size_t a) {
    nearest_[a] = count_;
    for (const std::uint32_t b : touching_[a]) {
      if (nearest_[a] == count_ || cost(a, b) < cost(a, nearest_[a])) {
        nearest_[a] = b;
      }
    }
  }

  void join(std::size_t a, std::size_t b) {
    const double between = cost(a, b);
    for (std::size_t c = 0; c < count_; ++c) {
      if (into_[c] == c && c != a && c != b) {
        set_cost(a, c,
                 ((mass_[a] + mass_[c]) * cost(a, c) + (mass_[b] + mass_[c]) * cost(b, c) -
                  mass_[c] * between) /
                     (mass_[a] + mass_[b] + mass_[c]));
      }
    }
    put_together(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
    mass_[a] += mass_[b];
    for (std::uint32_t& into : into_) {
      into = into == b ? static_cast<std::uint32_t>(a) : into;
    }
    --alive_;
    find_nearest(a);
    for (const std::uint32_t c : touching_[a]) {
      if (nearest_[c] == a || nearest_[c] == b) {
        find_nearest(c);
      } else if (cost(c, a) < cost(c, nearest_[c]) ||
                 (cost(c, a) == cost(c, nearest_[c]) && a < nearest_[c])) {
        nearest_[c] = a;
      }
    }
  }

  /// What touched b touches a.
  void put_together(std::uint32_t a, std::uint32_t b) {
    std::vector<std::uint32_t> both;
    std::ranges::set_union(touching_[a], touching_[b], std::back_inserter(both));
    std::erase_if(both, [&](std::uint32_t c) { return c == a || c == b; });
    for (const std::uint32_t c : touching_[b]) {
      std::vector<std::uint32_t>& others = touching_[c];
      std::erase(others, b);
      const auto at = std::ranges::lower_bound(others, a);
      if (c != a && (at == others.end() || *at != a)) {
        others.insert(at, a);
      }
    }
    touching_[a] = std::move(both);
    touching_[b].clear();
  }

  std::size_t count_;
  std::size_t alive_;
  std::vector<std::uint32_t> into_;
  std::vector<double> mass_;
  std::vector<double> cost_;  // of joining any two, whether they touch or not
  Neighbours touching_;
  std::vector<std::size_t> nearest_;
};

Neighbours touching(std::uint32_t side, std::span<const std::uint32_t> region, std::size_t count) {
  Neighbours result(count);
  const auto meet = [&](std::size_t a, std::size_t b) {
    if (region[a] != region[b]) {
      result[region[a]].push_back(region[b]);
      result[region[b]].push_back(region[a]);
    }
  };
  for (std::size_t cell = 0; cell < region.size(); ++cell) {
    if (cell % side + 1 < side) {
      meet(cell, cell + 1);
    }
    if (cell + side < region.size()) {
      meet(cell, cell + side);
    }
  }
  for (std::vector<std::uint32_t>& others : result) {
    std::ranges::sort(others);
    const auto rest = std::ranges::unique(others);
    others.erase(rest.begin(), rest.end());
  }
  return result;
}

}  // namespace

void join_regions(MapRegions& regions, std::uint32_t side, const RegionWeights& weights,
                  std::span<const std::uint32_t> hits) {
  const auto targets = region_targets(side);
  Ward ward(weights, touching(side, regions.region, weights.regions()));
  std::vector<std::uint32_t> below = regions.region;
  for (std::size_t level = 1; level < targets.size(); ++level) {
    ward.join_down_to(targets[level]);
    std::vector<std::uint32_t> of_cell = regions.region;
    for (std::uint32_t& region : of_cell) {
      region = ward.present()[region];
    }
    const std::size_t count = number_regions(of_cell, hits);
    for (std::size_t cell = 0; cell < of_cell.size(); ++cell) {
      regions.parent[level - 1][below[cell]] = of_cell[cell];
    }
    regions.parent[level].assign(count, 0);
    below = std::move(of_cell);
  }
}

}  // namespace somatlas::pipeline
