// Three box passes along each axis of a plane, and the blurred hits that weights are divided by.
// Always holds: integers only, and the cost does not depend on the radius.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/backend.h"
#include "gpu/cpu_kernels.h"

namespace somatlas::gpu {

/// One thread's box passes over planes of one side.
class BoxBlur {
 public:
  explicit BoxBlur(std::size_t side);

  /// Replaces a side x side plane by its sums over windows of half-width radius, clipped at the
  /// border, three times along each axis (section 2, "Neighbourhood").
  void run(std::span<std::uint64_t> plane, std::size_t radius);

 private:
  struct alignas(64) Line {
    std::array<std::uint64_t, blur_lines> number{};
  };

  void along_rows(std::span<std::uint64_t> plane, std::size_t radius);
  void down_columns(std::span<std::uint64_t> plane, std::size_t radius);
  void blur(std::size_t radius);

  std::size_t side_;
  std::vector<Line> lines_;  // [side], a few rows or columns side by side
  std::vector<Line> blurred_;
};

/// A map cut into patches of patch_rows x patch_columns neurons, row by row: two chunks side by
/// side each.
class PatchGrid {
 public:
  explicit PatchGrid(std::size_t side)
      : across_((side + patch_columns - 1) / patch_columns),
        down_((side + patch_rows - 1) / patch_rows) {}

  [[nodiscard]] std::size_t across() const { return across_; }
  [[nodiscard]] std::size_t down() const { return down_; }
  [[nodiscard]] std::size_t patches() const { return across_ * down_; }
  /// Columns, those that fill up the last patches included.
  [[nodiscard]] std::size_t pitch() const { return across_ * patch_columns; }

 private:
  std::size_t across_;
  std::size_t down_;
};

/// hits~, M values row-major, and what the division needs of it.
struct BlurredHits {
  std::vector<std::uint64_t> hits;
  std::vector<float> scale;  // [patch][place]: weight_scale(hits); 0 where it is 0 and off the map
};
[[nodiscard]] BlurredHits blur_hits(std::span<const std::uint32_t> hits, MapShape shape,
                                    std::size_t radius);

}  // namespace somatlas::gpu
