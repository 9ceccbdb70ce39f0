// What one count adds along an axis, for the update's kernels that spread counts one by one: at
// every place, and as the few rows where its third difference is not 0, its jumps. Always holds:
// the same along either axis and in either direction; integers, exact.
#pragma once

#include <cstddef>
#include <cstdint>

namespace somatlas::gpu {

/// A jump of the third difference at a row, or past every row where there is no more.
struct Jump {
  std::uint32_t row;
  std::int32_t by;
};
/// Four where the border is far; near it, what the passes lose beyond it makes more. Never more
/// than nine: tried for every place and radius at sides up to 80, and at some up to 1024.
inline constexpr std::uint32_t most_jumps = 9;

/// Tables of an axis. Factors are followed by those of a count that the border does not touch, four
/// times, each shifted by one place more, so that for any count four factors can be read at once.
struct AxisTables {
  std::uint32_t side;
  std::uint32_t radius;
  std::uint32_t* factors;  // of a count at place i for place j, at [i * pitch() + j]
  Jump* jumps;             // [side][most_jumps], ascending

  /// Places that may be read past the farthest that a count reaches, on either side.
  static constexpr std::uint32_t margin = 128;

  [[nodiscard]] __host__ __device__ constexpr std::uint32_t pitch() const {
    return (side + 3) / 4 * 4;
  }
  /// Of a shifted table, the middle before it is shifted and the length.
  [[nodiscard]] __host__ __device__ constexpr std::uint32_t middle() const {
    return (3 * radius + margin + 3) / 4 * 4;
  }
  [[nodiscard]] __host__ __device__ constexpr std::uint32_t shifted_length() const {
    return 2 * middle() + 8;
  }
  [[nodiscard]] __host__ __device__ constexpr std::size_t shifted_begin() const {
    return std::size_t{side} * pitch();
  }
  [[nodiscard]] __host__ __device__ constexpr std::size_t factor_count() const {
    return shifted_begin() + std::size_t{4} * shifted_length();
  }
  /// Where factors of a count at a place begin, as if its row were the first, given that the border
  /// touches it or does not: a multiple of four.
  [[nodiscard]] __device__ std::uint32_t from(std::uint32_t place, bool touched) const {
    const std::uint32_t shift = place % 4;
    return touched ? place * pitch()
                   : static_cast<std::uint32_t>(shifted_begin()) + shift * shifted_length() +
                         middle() - (place - shift);
  }
};

/// What the largest factor cannot pass: three boxes of width w, one over the other, peak at
/// 3 r (r + 1) + 1, and no pass multiplies by more than the map has places.
[[nodiscard]] constexpr std::uint64_t most_factor(std::uint32_t side, std::uint32_t radius) {
  const std::uint64_t r = radius;
  const std::uint64_t peak = 3 * r * (r + 1) + 1;
  const std::uint64_t all = std::uint64_t{side} * side;
  return peak < all ? peak : all;
}

/// A plane and its jumps, [begin, end) of a list ordered by row. list_jumps_kernel sets the end.
struct JumpPlane {
  std::uint32_t descriptor;
  std::uint32_t begin;
  std::uint32_t end;
};

}  // namespace somatlas::gpu
