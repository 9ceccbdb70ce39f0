// Always holds: the squared distances that joining starts from are exact integers; what follows is
// made of correctly rounded operations in a fixed order.
#include "pipeline/region_levels.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace somatlas::pipeline {
namespace {

constexpr std::size_t planes_at_once = 64;

/// The regions of a level as they are joined. A join lives on under the lower of the two numbers.
class Ward {
 public:
  Ward(const RegionLikeness& likeness, std::vector<std::vector<std::uint8_t>> touching)
      : count_(likeness.regions()),
        alive_(count_),
        into_(count_),
        mass_(count_),
        cost_(count_ * count_),
        touching_(std::move(touching)) {
    std::iota(into_.begin(), into_.end(), 0U);
    for (std::size_t a = 0; a < count_; ++a) {
      mass_[a] = static_cast<double>(likeness.mass(a));
    }
    for (std::size_t a = 0; a < count_; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const auto square = static_cast<double>(likeness.square_distance(a, b));
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
    for (std::size_t b = 0; b < count_; ++b) {
      if (b != a && into_[b] == b && touching_[a][b] != 0 &&
          (nearest_[a] == count_ || cost(a, b) < cost(a, nearest_[a]))) {
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
        touching_[a][c] |= touching_[b][c];
        touching_[c][a] = touching_[a][c];
      }
    }
    mass_[a] += mass_[b];
    for (std::uint32_t& into : into_) {
      into = into == b ? static_cast<std::uint32_t>(a) : into;
    }
    --alive_;
    find_nearest(a);
    for (std::size_t c = 0; c < count_; ++c) {
      if (into_[c] != c || c == a || touching_[c][a] == 0) {
        continue;
      }
      if (nearest_[c] == a || nearest_[c] == b) {
        find_nearest(c);
      } else if (cost(c, a) < cost(c, nearest_[c]) ||
                 (cost(c, a) == cost(c, nearest_[c]) && a < nearest_[c])) {
        nearest_[c] = a;
      }
    }
  }

  std::size_t count_;
  std::size_t alive_;
  std::vector<std::uint32_t> into_;
  std::vector<double> mass_;
  std::vector<double> cost_;  // of joining any two, whether they touch or not
  std::vector<std::vector<std::uint8_t>> touching_;
  std::vector<std::size_t> nearest_;
};

std::vector<std::vector<std::uint8_t>> touching(std::uint32_t side,
                                                std::span<const std::uint32_t> region,
                                                std::size_t count) {
  std::vector<std::vector<std::uint8_t>> result(count, std::vector<std::uint8_t>(count));
  const auto meet = [&](std::size_t a, std::size_t b) {
    if (region[a] != region[b]) {
      result[region[a]][region[b]] = 1;
      result[region[b]][region[a]] = 1;
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
  return result;
}

}  // namespace

RegionLikeness::RegionLikeness(const MapRegions& regions, std::span<const std::uint8_t> vacant,
                               std::span<const std::uint32_t> hits)
    : regions_(regions),
      vacant_(vacant),
      hits_(hits),
      mass_(regions.parent[0].size()),
      product_(mass_.size() * mass_.size()) {
  for (std::size_t cell = 0; cell < vacant.size(); ++cell) {
    if (vacant[cell] == 0) {
      mass_[regions.region[cell]] += std::uint64_t{hits[cell]} + 1;
    }
  }
}

void RegionLikeness::add_planes(std::span<const std::uint16_t> planes) {
  const std::size_t cells = vacant_.size();
  const std::size_t count = mass_.size();
  if (planes.size() % cells != 0) {
    throw std::invalid_argument("a plane has one weight a neuron");
  }
  // A region's means of so many planes, side by side; planes that are not there have means of 0.
  std::vector<std::array<std::uint32_t, planes_at_once>> mean(count);
  for (std::size_t first = 0; first * cells < planes.size(); first += planes_at_once) {
    std::fill(mean.begin(), mean.end(), std::array<std::uint32_t, planes_at_once>{});
    const std::size_t here = std::min(planes_at_once, planes.size() / cells - first);
    tbb::parallel_for(std::size_t{0}, here, [&](std::size_t d) {
      const auto plane = planes.subspan((first + d) * cells, cells);
      std::vector<std::uint64_t> sum(count);
      add_weighted(regions_.region, hits_, 1, plane, sum);
      for (std::size_t region = 0; region < count; ++region) {
        if (sum[region] != 0) {
          mean[region][d] =
              static_cast<std::uint32_t>((2 * sum[region] + mass_[region]) / (2 * mass_[region]));
        }
      }
    });
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t a) {
      for (std::size_t b = 0; b <= a; ++b) {
        std::uint64_t sum = 0;
        for (std::size_t d = 0; d < planes_at_once; ++d) {
          sum += std::uint64_t{mean[a][d] * mean[b][d]};  // 28 bits
        }
        product_[a * count + b] += sum;
      }
    });
  }
}

std::uint64_t RegionLikeness::square_distance(std::size_t a, std::size_t b) const {
  const auto product = [&](std::size_t x, std::size_t y) {
    return product_[std::max(x, y) * mass_.size() + std::min(x, y)];
  };
  return product(a, a) + product(b, b) - 2 * product(a, b);
}

void join_regions(MapRegions& regions, std::uint32_t side, const RegionLikeness& likeness,
                  std::span<const std::uint32_t> hits) {
  const auto targets = region_targets(side);
  Ward ward(likeness, touching(side, regions.region, likeness.regions()));
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
