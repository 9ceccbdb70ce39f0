// The inner loops of search and update on the CPU, in the widest vectors that the processor has;
// which one runs is decided when the program starts. Always holds: integers only, so all of them
// agree.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gpu/plane_tree.h"
#include "gpu/tile.h"

namespace somatlas::gpu {

/// Norms or scores of sixteen places; of place i at score_lane(i).
inline constexpr std::size_t lanes = 16;
struct alignas(64) Lanes {
  std::array<std::int32_t, lanes> value{};
};
/// Even places first, then odd ones: the order in which sums of packed weights come out.
[[nodiscard]] constexpr std::size_t score_lane(std::size_t place) {
  return place % lanes / 2 + place % 2 * (lanes / 2);
}

/// A row of descriptors and a table of weights for them: that of descriptor v begins at
/// first + v * stride.
struct TableRow {
  const std::uint16_t* first;
  std::size_t stride;
  const DescriptorId* descriptors;
  std::size_t length;
};

/// Lines that blur takes at once.
inline constexpr std::size_t blur_lines = 8;
/// What the update makes weights of at once: 8 rows of 16 places.
inline constexpr std::size_t patch_rows = 8;
inline constexpr std::size_t patch_columns = 16;
inline constexpr std::size_t patch_places = patch_rows * patch_columns;
/// Flag of a weight that is to be settled.
inline constexpr std::uint16_t doubtful_weight = 0x8000;

struct Kernels {
  const char* name;
  /// Scores of 64 places, norms and scores four Lanes each; returns the lowest.
  std::int32_t (*score_64)(const TableRow& row, const Lanes* norms, Lanes* scores);
  /// The same of 16 places.
  std::int32_t (*score_16)(const TableRow& row, const Lanes* norms, Lanes* scores);
  /// Largest of each of the four sixteens of a chunk's weights.
  void (*block_maxima)(const std::uint16_t* weights, std::uint16_t* maxima);
  /// Adds the squares of a chunk's weights to sums of as many.
  void (*add_squares)(const std::uint16_t* weights, std::uint64_t* sums);
  /// Three box passes along blur_lines lines at once: line i's number x at
  /// numbers[x * blur_lines + i], 0 <= x < length. The result is left in scratch, of the same size.
  void (*blur)(std::uint64_t* numbers, std::uint64_t* scratch, std::size_t length,
               std::size_t radius);
  /// Adds times as much as each of count numbers, a multiple of 16, to as many sums.
  void (*add_multiple_32)(const std::uint32_t* from, std::uint32_t times, std::uint32_t* to,
                          std::size_t count);
  void (*add_multiple_64)(const std::uint64_t* from, std::uint64_t times, std::uint64_t* to,
                          std::size_t count);
  void (*add_multiple_32_64)(const std::uint32_t* from, std::uint64_t times, std::uint64_t* to,
                             std::size_t count);
  /// Down the columns of a patch: third differences, whose rows are pitch apart, become sums, given
  /// the three running sums of the row above, patch_columns each; those of the last row are left
  /// there, and zeros for differences. Returns whether any running sum is not 0 then.
  bool (*sum_down_32)(std::uint32_t* differences, std::size_t pitch, std::uint32_t* running,
                      std::uint32_t* sums);
  bool (*sum_down_64)(std::uint64_t* differences, std::size_t pitch, std::uint64_t* running,
                      std::uint64_t* sums);
  /// estimate_weight() of count sums, a multiple of 16: joined with doubtful_weight where it is
  /// doubtful.
  void (*weigh_32)(const std::uint32_t* sums, const float* scales, std::size_t count,
                   std::uint16_t* weights);
  void (*weigh_64)(const std::uint64_t* sums, const float* scales, std::size_t count,
                   std::uint16_t* weights);
  /// Copies those of up to eight chunks, one behind the other, whose bit is set in which, to the
  /// same places from `to` on; writes their block maxima, chunk i's at maxima + i * stride, and
  /// adds their squares to 64 sums. Returns the bits of those that hold any weight.
  unsigned (*store_chunks)(const std::uint16_t* from, unsigned which, std::uint16_t* to,
                           std::uint16_t* maxima, std::size_t stride, std::uint64_t* squares);
  /// The sum, modulo 2^16 a lane, of count weights, a multiple of 512: nothing but loads and adds,
  /// to measure what the nearest cache gives.
  std::uint64_t (*add_up)(const std::uint16_t* weights, std::size_t count);
};

/// The best of this processor.
[[nodiscard]] const Kernels& kernels();
/// All that this processor can run, the plain ones among them; for tests and benchmarks.
[[nodiscard]] std::size_t kernel_count();
[[nodiscard]] const Kernels& kernel(std::size_t number);

}  // namespace somatlas::gpu
