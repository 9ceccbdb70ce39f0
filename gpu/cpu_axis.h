// What one count adds along an axis after three box passes clipped at the border: at every place,
// and as the few places where its third difference is not 0, its jumps. Always holds: the same for
// rows and columns; integers, exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/cpu_kernels.h"

namespace somatlas::gpu {

/// The tables of one axis for one radius.
class AxisSpread {
 public:
  AxisSpread(std::size_t side, std::size_t radius);

  /// Places of a line, filled up with 0 to whole patches.
  [[nodiscard]] std::size_t pitch() const { return pitch_; }
  /// Places on either side that a count reaches at most.
  [[nodiscard]] std::size_t reach() const { return reach_; }
  /// What a count at a place adds at each of pitch() places. Below 2^32 for every side: no more
  /// than side^2.
  [[nodiscard]] const std::uint32_t* factors(std::size_t place) const {
    return factors_.data() + place * pitch_;
  }
  [[nodiscard]] std::uint32_t most_factor() const { return most_factor_; }

  /// A change of the third difference at a place.
  struct Jump {
    std::uint32_t place;
    std::int64_t by;
  };
  /// Of a count at a place, ascending: four where the border is far, up to nine near it.
  [[nodiscard]] std::span<const Jump> jumps(std::size_t place) const {
    return std::span(jumps_).subspan(first_jump_[place],
                                     first_jump_[place + 1] - first_jump_[place]);
  }

 private:
  std::size_t pitch_;
  std::size_t reach_;
  std::vector<std::uint32_t> factors_;  // [side][pitch]
  std::uint32_t most_factor_ = 0;
  std::vector<Jump> jumps_;
  std::vector<std::size_t> first_jump_;  // [side + 1]
};

}  // namespace somatlas::gpu
