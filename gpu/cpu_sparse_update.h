// The update of planes with few counts: each count is spread over its neighbours by the weights
// that three box passes give them, and only the chunks reached are divided and written. Always
// holds: the same planes as by box passes over all of the map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/cpu_box_blur.h"
#include "gpu/cpu_codebook.h"
#include "gpu/cpu_statistics.h"

namespace somatlas::gpu {

/// What a count at one place of an axis adds at the places around it after three box passes clipped
/// at the border; the same for rows and columns.
class AxisSpread {
 public:
  AxisSpread(std::size_t side, std::size_t radius);

  /// Places on either side that a count reaches at most.
  [[nodiscard]] std::size_t reach() const { return reach_; }
  /// 2 reach + 1 factors, for places from - reach on; 0 beyond the border.
  [[nodiscard]] const std::uint32_t* from(std::size_t place) const {
    return factor_.data() + place * (2 * reach_ + 1);
  }

 private:
  std::size_t reach_;
  std::vector<std::uint32_t> factor_;
};

/// One thread's sparse updates.
class SparseUpdate {
 public:
  /// spread is of the codebook's side. What is referred to must outlive it.
  SparseUpdate(CpuCodebook& codebook, const BlurredHits& blurred, const AxisSpread& spread);

  /// Whether spreading so many cells is less work than passes over the whole map.
  [[nodiscard]] bool pays(std::size_t cells) const;
  /// Makes a plane from its counts, whose blurred sums fit 32 bits, and adds its squares.
  void make_plane(DescriptorId descriptor, std::span<const CountedCell> cells,
                  std::span<ChunkSquares> squares);

 private:
  void spread(const CountedCell& cell);
  void divide(DescriptorId descriptor, std::size_t slot, ChunkSquares& squares);

  CpuCodebook& codebook_;
  const BlurredHits& blurred_;
  const AxisSpread& spread_;
  std::vector<std::uint32_t> sums_;    // [M], row-major; zero between planes
  std::vector<std::uint8_t> reached_;  // [slot]; zero between planes
  std::vector<std::uint32_t> slots_;   // that are reached
};

}  // namespace somatlas::gpu
