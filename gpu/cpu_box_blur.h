// Three box passes along each axis of a plane, and the exact division that makes weights of blurred
// counts. Always holds: integers only, and the cost does not depend on the radius.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "gpu/backend.h"
#include "gpu/contract.h"
#include "gpu/cpu_kernels.h"

namespace somatlas::gpu {

/// One thread's box passes over planes of one side. Sum is std::uint32_t or std::uint64_t and holds
/// the largest result.
template <class Sum>
class BoxBlur {
 public:
  explicit BoxBlur(std::size_t side);

  /// Replaces a side x side plane by its sums over windows of half-width radius, clipped at the
  /// border, three times along each axis (section 2, "Neighbourhood").
  void run(std::span<Sum> plane, std::size_t radius);

 private:
  struct alignas(64) Line {
    std::array<Sum, blur_lines<Sum>> number{};
  };

  void along_rows(std::span<Sum> plane, std::size_t radius);
  void down_columns(std::span<Sum> plane, std::size_t radius);
  void blur(std::size_t radius);

  std::size_t side_;
  std::vector<Line> lines_;  // [side], a few rows or columns side by side
  std::vector<Line> blurred_;
};

/// Weights are made in runs of sixteen, the last one filled up.
[[nodiscard]] constexpr std::size_t whole_runs(std::size_t neurons) {
  return (neurons + 15) / 16 * 16;
}

/// hits~ and what the division needs of it, M values each.
struct BlurredHits {
  std::vector<std::uint64_t> hits;
  std::vector<float> scale;  // weight_scale(hits); 0 where hits is 0, and up to whole_runs(M)
};
[[nodiscard]] BlurredHits blur_hits(std::span<const std::uint32_t> hits, MapShape shape,
                                    std::size_t radius);

/// Replaces the doubtful ones of weights, a multiple of four, by settle(place, estimate).
template <class Settle>
void settle_doubtful(std::span<std::uint16_t> weights, const Settle& settle) {
  constexpr std::uint64_t four_doubtful = 0x8000'8000'8000'8000;
  for (std::size_t first = 0; first < weights.size(); first += 4) {
    std::uint64_t four = 0;
    std::memcpy(&four, weights.data() + first, sizeof four);
    for (std::size_t i = first; (four & four_doubtful) != 0 && i < first + 4; ++i) {
      if ((weights[i] & doubtful_weight) != 0) {
        weights[i] = settle(i, static_cast<std::uint32_t>(weights[i] ^ doubtful_weight));
      }
    }
  }
}

}  // namespace somatlas::gpu
