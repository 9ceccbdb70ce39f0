// The update of one plane from its counts. What a count adds down a column is a parabola in pieces:
// each row of counts is spread along the row, and enters, times a jump, only the few rows at which
// the third difference of what it adds is not 0; three running sums down the map bring the rest
// back, whatever the radius. Always holds: sums are exact modulo what Sum holds; the same planes as
// by box passes; patches of the map that no count reaches cost next to nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/cpu_axis.h"
#include "gpu/cpu_box_blur.h"
#include "gpu/cpu_plane_batch.h"
#include "gpu/cpu_statistics.h"

namespace somatlas::gpu {

/// One thread's updates of planes whose blurred counts Sum, std::uint32_t or std::uint64_t, holds.
template <class Sum>
class PlaneUpdate {
 public:
  /// What is referred to must outlive it.
  PlaneUpdate(MapShape shape, const AxisSpread& axis, const BlurredHits& blurred);

  /// Puts the weights of a plane into a batch under that number. cells: its counts, ascending by
  /// neuron.
  void make(std::span<const CountedCell> cells, PlaneBatch& batch, std::size_t plane);

 private:
  void spread_along_row(std::span<const CountedCell> cells);
  void run_along_row(std::span<const CountedCell> cells, std::size_t last);
  void enter_row(std::size_t row);
  void weigh(std::size_t patch, PlaneBatch& batch, std::size_t plane);

  std::size_t side_;
  const AxisSpread& axis_;
  const BlurredHits& blurred_;
  PatchGrid grid_;
  std::vector<Sum> third_differences_;  // [rows of the grid][pitch]; zero between planes
  std::vector<std::uint8_t> entered_;   // [patch]: whether a jump is in it; zero between planes
  std::vector<Sum> row_;                // [pitch]: a row's counts, spread
  std::size_t row_begin_ = 0;           // of what is reached in row_, whole strips
  std::size_t row_end_ = 0;
  std::vector<Sum> running_;         // [strip][3][patch_columns]; zero between planes
  std::vector<std::uint8_t> going_;  // [strip]: whether any running sum is not 0
  alignas(64) std::array<Sum, patch_places> sums_{};
  alignas(64) std::array<std::uint16_t, patch_places> weights_{};
};

}  // namespace somatlas::gpu
