#include "pipeline/region_weights.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace somatlas::pipeline {
namespace {

constexpr std::size_t planes_at_once = 64;

/// A region's share of one plane.
struct PlaneSums {
  std::uint64_t of_hits = 0;     // of hits * weight
  std::uint64_t of_weights = 0;  // of the weights alone
};

void add_plane(std::span<const std::uint32_t> region, std::span<const std::uint32_t> hits,
               std::span<const std::uint16_t> plane, std::span<PlaneSums> sums) {
  constexpr std::size_t block = 16;  // most have no weight
  for (std::size_t first = 0; first < plane.size(); first += block) {
    const std::size_t last = std::min(plane.size(), first + block);
    std::uint16_t bits = 0;
    for (std::size_t cell = first; cell < last; ++cell) {
      bits |= plane[cell];
    }
    if (bits == 0) {
      continue;
    }
    for (std::size_t cell = first; cell < last; ++cell) {
      PlaneSums& sum = sums[region[cell]];
      sum.of_hits += std::uint64_t{hits[cell]} * plane[cell];
      sum.of_weights += plane[cell];
    }
  }
}

}  // namespace

RegionWeights::RegionWeights(const MapRegions& regions, std::span<const std::uint8_t> vacant,
                             std::span<const std::uint32_t> hits)
    : regions_(regions),
      vacant_(vacant),
      hits_(hits),
      mass_(regions.parent[0].size()),
      product_(mass_.size() * mass_.size()),
      weights_(mass_.size()) {
  for (std::size_t cell = 0; cell < vacant.size(); ++cell) {
    if (vacant[cell] == 0) {
      mass_[regions.region[cell]] += std::uint64_t{hits[cell]} + 1;
    }
  }
}

void RegionWeights::add_planes(std::span<const std::uint16_t> planes) {
  const std::size_t cells = vacant_.size();
  const std::size_t count = mass_.size();
  if (planes.size() % cells != 0) {
    throw std::invalid_argument("a plane has one weight a neuron");
  }
  // So many planes of a region side by side; planes that are not there have means of 0.
  std::vector<std::array<std::uint32_t, planes_at_once>> mean(count);
  std::vector<std::array<std::uint64_t, planes_at_once>> of_hits(count);
  for (std::size_t first = 0; first * cells < planes.size(); first += planes_at_once) {
    const std::size_t here = std::min(planes_at_once, planes.size() / cells - first);
    if (here < planes_at_once) {
      std::ranges::fill(mean, std::array<std::uint32_t, planes_at_once>{});
    }
    tbb::parallel_for(std::size_t{0}, here, [&](std::size_t d) {
      std::vector<PlaneSums> sums(count);
      add_plane(regions_.region, hits_, planes.subspan((first + d) * cells, cells), sums);
      for (std::size_t region = 0; region < count; ++region) {
        const std::uint64_t sum = sums[region].of_hits + sums[region].of_weights;
        mean[region][d] =
            sum == 0 ? 0
                     : static_cast<std::uint32_t>((2 * sum + mass_[region]) / (2 * mass_[region]));
        of_hits[region][d] = sums[region].of_hits;
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
      for (std::size_t d = 0; d < here; ++d) {
        if (of_hits[a][d] != 0) {
          weights_[a].push_back({of_hits[a][d], planes_ + static_cast<std::uint32_t>(d)});
        }
      }
    });
    planes_ += static_cast<std::uint32_t>(here);
  }
}

std::uint64_t RegionWeights::square_distance(std::size_t a, std::size_t b) const {
  const auto product = [&](std::size_t x, std::size_t y) {
    return product_[std::max(x, y) * mass_.size() + std::min(x, y)];
  };
  return product(a, a) + product(b, b) - 2 * product(a, b);
}

}  // namespace somatlas::pipeline
