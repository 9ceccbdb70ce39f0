// Rows of counts become jumps of third differences, and those, from the map's top to its bottom,
// weights.
#include "gpu/cpu_plane_update.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <type_traits>

#include "gpu/contract.h"

namespace somatlas::gpu {
namespace {

void add_multiple(const std::uint32_t* from, std::uint32_t times, std::span<std::uint32_t> to) {
  kernels().add_multiple_32(from, times, to.data(), to.size());
}
void add_multiple(const std::uint64_t* from, std::uint64_t times, std::span<std::uint64_t> to) {
  kernels().add_multiple_64(from, times, to.data(), to.size());
}
void add_multiple(const std::uint32_t* from, std::uint64_t times, std::span<std::uint64_t> to) {
  kernels().add_multiple_32_64(from, times, to.data(), to.size());
}

}  // namespace

template <class Sum>
PlaneUpdate<Sum>::PlaneUpdate(MapShape shape, const AxisSpread& axis, const BlurredHits& blurred)
    : side_(shape.side),
      axis_(axis),
      blurred_(blurred),
      grid_(shape.side),
      third_differences_(grid_.down() * patch_rows * grid_.pitch()),
      entered_(grid_.patches()),
      row_(grid_.pitch()),
      running_(grid_.across() * 3 * patch_columns),
      going_(grid_.across()) {}

template <class Sum>
void PlaneUpdate<Sum>::make(std::span<const CountedCell> cells, PlaneBatch& batch,
                            std::size_t plane) {
  while (!cells.empty()) {
    const std::size_t row = cells.front().neuron / side_;
    const auto next = std::find_if(cells.begin(), cells.end(), [&](const CountedCell& cell) {
      return cell.neuron >= (row + 1) * side_;
    });
    spread_along_row(cells.first(static_cast<std::size_t>(next - cells.begin())));
    enter_row(row);
    cells = {next, cells.end()};
  }
  for (std::size_t patch = 0; patch < grid_.patches(); ++patch) {
    if ((entered_[patch] | going_[patch % grid_.across()]) != 0) {
      weigh(patch, batch, plane);
    }
  }
  // At the bottom edge sums are still going.
  std::fill(running_.begin(), running_.end(), Sum{0});
  std::fill(going_.begin(), going_.end(), std::uint8_t{0});
}

/// Every count times its factors; where they are many, running sums of jumps are less work.
template <class Sum>
void PlaneUpdate<Sum>::spread_along_row(std::span<const CountedCell> cells) {
  const std::size_t reach = axis_.reach();
  const std::size_t left = cells.front().neuron % side_;
  const std::size_t right = cells.back().neuron % side_;
  const auto begin_of = [&](std::size_t column) {
    return (column - std::min(column, reach)) / patch_columns * patch_columns;
  };
  const auto end_of = [&](std::size_t column) {
    return (std::min(side_, column + reach + 1) + patch_columns - 1) / patch_columns *
           patch_columns;
  };
  row_begin_ = begin_of(left);
  row_end_ = end_of(right);
  std::fill(row_.begin() + static_cast<std::ptrdiff_t>(row_begin_),
            row_.begin() + static_cast<std::ptrdiff_t>(row_end_), Sum{0});
  if (cells.size() * (2 * reach / patch_columns + 1) > side_) {
    run_along_row(cells, std::min(side_, right + reach + 1));
    return;
  }
  for (const CountedCell& cell : cells) {
    const std::size_t column = cell.neuron % side_;
    const std::size_t begin = begin_of(column);
    add_multiple(axis_.factors(column) + begin, Sum{cell.count},
                 std::span(row_).subspan(begin, end_of(column) - begin));
  }
}

template <class Sum>
void PlaneUpdate<Sum>::run_along_row(std::span<const CountedCell> cells, std::size_t last) {
  for (const CountedCell& cell : cells) {
    for (const AxisSpread::Jump& jump : axis_.jumps(cell.neuron % side_)) {
      row_[jump.place] += cell.count * static_cast<Sum>(jump.by);
    }
  }
  Sum first = 0;
  Sum second = 0;
  Sum third = 0;
  for (std::size_t x = row_begin_; x < last; ++x) {
    first += row_[x];
    second += first;
    third += second;
    row_[x] = third;
  }
  // Jumps that end a sum, behind the last place it reaches.
  std::fill(row_.begin() + static_cast<std::ptrdiff_t>(last),
            row_.begin() + static_cast<std::ptrdiff_t>(row_end_), Sum{0});
}

template <class Sum>
void PlaneUpdate<Sum>::enter_row(std::size_t row) {
  const std::size_t first = row_begin_ / patch_columns;
  const std::size_t count = row_end_ / patch_columns - first;
  for (const AxisSpread::Jump& jump : axis_.jumps(row)) {
    add_multiple(row_.data() + row_begin_, static_cast<Sum>(jump.by),
                 std::span(third_differences_)
                     .subspan(jump.place * grid_.pitch() + row_begin_, row_end_ - row_begin_));
    std::fill_n(entered_.data() + jump.place / patch_rows * grid_.across() + first, count,
                std::uint8_t{1});
  }
}

template <class Sum>
void PlaneUpdate<Sum>::weigh(std::size_t patch, PlaneBatch& batch, std::size_t plane) {
  const std::size_t strip = patch % grid_.across();
  const std::size_t top = patch / grid_.across() * patch_rows;
  const std::size_t left = strip * patch_columns;
  Sum* const differences = third_differences_.data() + top * grid_.pitch() + left;
  Sum* const running = running_.data() + strip * 3 * patch_columns;
  const float* const scales = blurred_.scale.data() + patch * patch_places;
  bool going = false;
  if constexpr (std::is_same_v<Sum, std::uint32_t>) {
    going = kernels().sum_down_32(differences, grid_.pitch(), running, sums_.data());
    kernels().weigh_32(sums_.data(), scales, patch_places, weights_.data());
  } else {
    going = kernels().sum_down_64(differences, grid_.pitch(), running, sums_.data());
    kernels().weigh_64(sums_.data(), scales, patch_places, weights_.data());
  }
  entered_[patch] = 0;
  going_[strip] = going ? 1 : 0;
  const unsigned all = std::accumulate(weights_.begin(), weights_.end(), 0U, std::bit_or<>());
  for (std::size_t i = 0; (all & doubtful_weight) != 0 && i < patch_places; ++i) {
    if ((weights_[i] & doubtful_weight) != 0) {
      const std::size_t neuron = (top + i / patch_columns) * side_ + left + i % patch_columns;
      weights_[i] = settle_weight(sums_[i], blurred_.hits[neuron],
                                  static_cast<std::uint32_t>(weights_[i] ^ doubtful_weight));
    }
  }
  batch.put(patch, plane, weights_.data());
}

template class PlaneUpdate<std::uint32_t>;
template class PlaneUpdate<std::uint64_t>;

}  // namespace somatlas::gpu
