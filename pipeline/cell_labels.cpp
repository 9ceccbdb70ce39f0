// Leading descriptors and U-matrix, plane by plane. Always holds: both are exact integers and do
// not depend on the order of planes and rows.
#include "pipeline/cell_labels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include "gpu/contract.h"
#include "pipeline/quality.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

namespace {

constexpr std::uint32_t no_code = 0xFFFF'FFFFU;

/// The four neighbours that come after a neuron in row-major order; the other four have it as one
/// of theirs.
struct Step {
  std::ptrdiff_t row;
  std::ptrdiff_t column;
};
constexpr std::array<Step, 4> steps{{{0, 1}, {1, -1}, {1, 0}, {1, 1}}};

}  // namespace

CellCollector::CellCollector(std::uint32_t side, std::span<const std::uint8_t> vacant)
    : side_(side),
      vacant_(vacant.begin(), vacant.end()),
      leading_(std::size_t{side} * side * store::leading_per_cell, Candidate{0, no_code}),
      square_difference_(std::size_t{side} * side * steps.size()) {
  if (vacant_.size() != std::size_t{side} * side) {
    throw std::invalid_argument("a cell collector needs one vacancy flag a neuron");
  }
}

void CellCollector::offer(std::size_t neuron, Candidate candidate) {
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.excess != b.excess ? a.excess > b.excess : store::ui_less(a.code, b.code);
  };
  Candidate* const first = leading_.data() + neuron * store::leading_per_cell;
  Candidate* place = first + store::leading_per_cell;
  if (!better(candidate, place[-1])) {
    return;
  }
  for (--place; place != first && better(candidate, place[-1]); --place) {
    *place = place[-1];
  }
  *place = candidate;
}

void CellCollector::add_rows(store::DescriptorCode code, std::uint32_t share,
                             std::span<const std::uint16_t> plane, std::size_t begin,
                             std::size_t end) {
  if (plane.size() != vacant_.size() || begin > end || end > side_) {
    throw std::invalid_argument("a plane has one weight a neuron, and side rows");
  }
  for (std::size_t i = begin * side_; i < end * side_; ++i) {
    const std::int32_t excess =
        static_cast<std::int32_t>(plane[i]) - static_cast<std::int32_t>(share);
    if (excess > 0 && vacant_[i] == 0) {
      offer(i, {excess, code});
    }
  }
  const auto side = static_cast<std::ptrdiff_t>(side_);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto [down, right] = steps[s];
    const std::ptrdiff_t first = right < 0 ? 1 : 0;
    const std::ptrdiff_t last = right > 0 ? side - 1 : side;
    const auto end_row = std::min(static_cast<std::ptrdiff_t>(end), side - down);
    for (auto row = static_cast<std::ptrdiff_t>(begin); row < end_row; ++row) {
      const std::uint16_t* const own = plane.data() + row * side;
      const std::uint16_t* const other = own + down * side + right;
      std::uint64_t* const sums =
          square_difference_.data() + s * plane.size() + static_cast<std::size_t>(row * side);
      for (std::ptrdiff_t column = first; column < last; ++column) {
        const std::int32_t difference = own[column] - other[column];
        sums[column] += static_cast<std::uint32_t>(difference * difference);
      }
    }
  }
}

std::vector<std::uint32_t> CellCollector::leading() const {
  std::vector<std::uint32_t> codes;
  codes.reserve(leading_.size());
  for (const Candidate& candidate : leading_) {
    codes.push_back(candidate.code);
  }
  return codes;
}

std::vector<std::uint32_t> CellCollector::heights() const {
  constexpr std::uint64_t unit = std::uint64_t{gpu::weight_one} * gpu::weight_one;
  const auto side = static_cast<std::ptrdiff_t>(side_);
  std::vector<std::uint64_t> sum(vacant_.size());
  std::vector<std::uint32_t> neighbours(vacant_.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto [down, right] = steps[s];
    for (std::ptrdiff_t row = 0; row < side - down; ++row) {
      for (std::ptrdiff_t column = right < 0 ? 1 : 0; column < (right > 0 ? side - 1 : side);
           ++column) {
        const auto own = static_cast<std::size_t>(row * side + column);
        const auto other = static_cast<std::size_t>((row + down) * side + column + right);
        if (vacant_[own] != 0 || vacant_[other] != 0) {
          continue;
        }
        const Distance distance = nearest_root(square_difference_[s * vacant_.size() + own], unit);
        for (const std::size_t i : {own, other}) {
          sum[i] += distance;
          ++neighbours[i];
        }
      }
    }
  }
  std::vector<std::uint32_t> heights(vacant_.size());
  for (std::size_t i = 0; i < heights.size(); ++i) {
    if (neighbours[i] != 0) {
      heights[i] = static_cast<std::uint32_t>((2 * sum[i] + neighbours[i]) /
                                              (2 * std::uint64_t{neighbours[i]}));
    }
  }
  return heights;
}

}  // namespace somatlas::pipeline
