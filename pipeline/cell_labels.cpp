// Leading descriptors and U-matrix, plane by plane. Always holds: neither depends on the order of
// planes and rows; what a plane could not change in a cell is passed over, never guessed.
#include "pipeline/cell_labels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "gpu/contract.h"
#include "pipeline/lift.h"
#include "pipeline/quality.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint32_t rank_of_topics = 1U << 31;  // no gain is as large
constexpr double evidence_one = 16;

/// The four neighbours that come after a neuron in row-major order; the other four have it as one
/// of theirs.
struct Step {
  std::ptrdiff_t row;
  std::ptrdiff_t column;
};
constexpr std::array<Step, 4> steps{{{0, 1}, {1, -1}, {1, 0}, {1, 1}}};
constexpr std::size_t right_step = 0;
constexpr std::size_t down_step = 2;

/// One box pass along a line of values, `stride` apart.
void box(std::vector<std::uint64_t>& line, std::uint64_t* values, std::size_t stride,
         std::size_t radius) {
  std::uint64_t sum = 0;
  const std::size_t side = line.size();
  for (std::size_t i = 0; i < side; ++i) {
    line[i] = values[i * stride];
  }
  for (std::size_t i = 0; i < std::min(radius, side); ++i) {
    sum += line[i];
  }
  for (std::size_t i = 0; i < side; ++i) {
    sum += i + radius < side ? line[i + radius] : 0;
    sum -= i > radius ? line[i - radius - 1] : 0;
    values[i * stride] = sum;
  }
}

}  // namespace

std::vector<std::uint32_t> cell_evidence(std::span<const std::uint32_t> hits, std::uint32_t side,
                                         std::uint32_t radius) {
  std::vector<std::uint64_t> around(hits.begin(), hits.end());
  std::vector<std::uint64_t> line(side);
  for (int pass = 0; pass < 3; ++pass) {
    for (std::size_t i = 0; i < side; ++i) {
      box(line, around.data() + i * side, 1, radius);
    }
    for (std::size_t i = 0; i < side; ++i) {
      box(line, around.data() + i, side, radius);
    }
  }
  // Three boxes of width w on each other have w^2 - r(r + 1) in the middle.
  const std::uint64_t width = 2 * std::uint64_t{radius} + 1;
  const Wide middle = width * width - std::uint64_t{radius} * (radius + 1);
  std::vector<std::uint32_t> evidence(hits.size());
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    evidence[i] = static_cast<std::uint32_t>(
        std::min<Wide>(0xFFFF'FFFFU, Wide{16} * around[i] / (middle * middle)));
  }
  return evidence;
}

CellCollector::CellCollector(std::uint32_t side, std::span<const std::uint8_t> vacant,
                             std::vector<std::uint32_t> evidence, std::uint64_t articles)
    : side_(side),
      articles_(articles),
      vacant_(vacant.begin(), vacant.end()),
      evidence_(std::move(evidence)),
      leading_(std::size_t{side} * side * store::leading_per_cell,
               Candidate{0, store::no_descriptor, 0}),
      last_(std::size_t{side} * side),
      square_difference_(std::size_t{side} * side * steps.size()) {
  if (vacant_.size() != std::size_t{side} * side || evidence_.size() != vacant_.size()) {
    throw std::invalid_argument(
        "a cell collector needs one vacancy flag and one number of articles a neuron");
  }
}

void CellCollector::offer(std::size_t neuron, const Candidate& candidate) {
  const auto better = [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : store::ui_less(a.code, b.code);
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
  last_[neuron] = first[store::leading_per_cell - 1].rank;
}

void CellCollector::offer_row(const LabelDescriptor& descriptor,
                              std::span<const std::uint16_t> plane, std::size_t begin,
                              std::size_t end) {
  if (descriptor.articles == 0) {
    return;
  }
  const LiftScale scale(descriptor.articles, articles_);
  const std::uint32_t tier = descriptor.topic ? rank_of_topics : 0;
  const std::uint32_t most = scale.most_per_weight();
  // Most weights cannot gain enough, which one product tells; blocks of them are passed over.
  constexpr std::size_t block = 64;
  const auto may_lead = [&](std::size_t i) {
    return plane[i] != 0 && plane[i] * most + tier >= last_[i];
  };
  for (std::size_t first = begin; first < end; first += block) {
    const std::size_t last = std::min(end, first + block);
    unsigned any = 0;
    for (std::size_t i = first; i < last; ++i) {
      any |= static_cast<unsigned>(plane[i] != 0) &
             static_cast<unsigned>(plane[i] * most + tier >= last_[i]);
    }
    if (any == 0) {
      continue;
    }
    for (std::size_t i = first; i < last; ++i) {
      if (may_lead(i) && vacant_[i] == 0) {
        const std::uint32_t gain =
            scale.gain(plane[i] / double{gpu::weight_one}, evidence_[i] / evidence_one);
        if (gain != 0) {
          offer(i, {gain + tier, descriptor.code, plane[i]});
        }
      }
    }
  }
}

void CellCollector::add_rows(const LabelDescriptor& descriptor,
                             std::span<const std::uint16_t> plane, std::size_t begin,
                             std::size_t end) {
  if (plane.size() != vacant_.size() || begin > end || end > side_) {
    throw std::invalid_argument("a plane has one weight a neuron, and side rows");
  }
  offer_row(descriptor, plane, begin * side_, end * side_);
  add_differences(plane, begin, end);
}

void CellCollector::add_differences(std::span<const std::uint16_t> plane, std::size_t begin,
                                    std::size_t end) {
  // Planes are empty for the most part: what has weights is told block by block of a row, and a
  // block is looked at where one of those around it has some.
  constexpr std::size_t block = 32;
  const std::size_t blocks = (side_ + block - 1) / block;
  const auto weights_in = [&](std::size_t row) {
    std::vector<std::uint8_t> any(blocks + 2);  // one more on each side
    for (std::size_t b = 0; row < side_ && b < blocks; ++b) {
      const auto first = plane.begin() + static_cast<std::ptrdiff_t>(row * side_ + b * block);
      const auto last =
          plane.begin() +
          static_cast<std::ptrdiff_t>(row * side_ + std::min<std::size_t>(side_, (b + 1) * block));
      std::uint16_t bits = 0;
      std::for_each(first, last, [&](std::uint16_t weight) { bits |= weight; });
      any[b + 1] = bits != 0 ? 1 : 0;
    }
    return any;
  };
  const auto side = static_cast<std::ptrdiff_t>(side_);
  std::vector<std::uint8_t> own_row = weights_in(begin);
  for (std::size_t row = begin; row < end; ++row) {
    std::vector<std::uint8_t> row_below = weights_in(row + 1);
    for (std::size_t b = 0; b < blocks; ++b) {
      if ((own_row[b + 1] | own_row[b + 2] | row_below[b] | row_below[b + 1] | row_below[b + 2]) ==
          0) {
        continue;
      }
      for (std::size_t s = 0; s < steps.size(); ++s) {
        const auto [down, right] = steps[s];
        if (static_cast<std::ptrdiff_t>(row) + down >= side) {
          continue;
        }
        const std::size_t first = b == 0 && right < 0 ? 1 : b * block;
        const std::size_t last =
            std::min<std::size_t>(right > 0 ? side_ - 1 : side_, (b + 1) * block);
        const std::uint16_t* const own = plane.data() + row * side_;
        const std::uint16_t* const other = own + down * side + right;
        std::uint64_t* const sums = square_difference_.data() + s * plane.size() + row * side_;
        for (std::size_t column = first; column < last; ++column) {
          const std::int32_t difference = own[column] - other[column];
          sums[column] += static_cast<std::uint32_t>(difference * difference);
        }
      }
    }
    own_row.swap(row_below);
  }
}

CellLabels CellCollector::labels() const {
  CellLabels labels;
  labels.leading.reserve(leading_.size());
  labels.weight.reserve(leading_.size());
  for (const Candidate& candidate : leading_) {
    labels.leading.push_back(candidate.code);
    labels.weight.push_back(candidate.weight);
  }
  return labels;
}

CellBorders CellCollector::borders() const {
  constexpr std::uint64_t unit = std::uint64_t{gpu::weight_one} * gpu::weight_one;
  const auto side = static_cast<std::ptrdiff_t>(side_);
  CellBorders borders;
  borders.right.assign(vacant_.size(), CellBorders::no_distance);
  borders.down.assign(vacant_.size(), CellBorders::no_distance);
  std::vector<std::uint64_t> sum(vacant_.size());
  std::vector<std::uint8_t> neighbours(vacant_.size());
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
        if (s == right_step || s == down_step) {
          (s == right_step ? borders.right : borders.down)[own] = distance;
        }
        for (const std::size_t i : {own, other}) {
          sum[i] += distance;
          ++neighbours[i];
        }
      }
    }
  }
  borders.height.resize(vacant_.size());
  for (std::size_t i = 0; i < vacant_.size(); ++i) {
    if (neighbours[i] != 0) {
      borders.height[i] = static_cast<std::uint32_t>((2 * sum[i] + neighbours[i]) /
                                                     (2 * std::uint64_t{neighbours[i]}));
    }
  }
  return borders;
}

}  // namespace somatlas::pipeline
