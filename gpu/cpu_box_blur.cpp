// Rows and columns are taken some at a time, side by side, and blurred in vectors; what holds
// nothing is passed over.
#include "gpu/cpu_box_blur.h"

#include <algorithm>

#include "gpu/contract.h"

namespace somatlas::gpu {

BoxBlur::BoxBlur(std::size_t side) : side_(side), lines_(side), blurred_(side) {}

void BoxBlur::run(std::span<std::uint64_t> plane, std::size_t radius) {
  along_rows(plane, radius);
  down_columns(plane, radius);
}

void BoxBlur::along_rows(std::span<std::uint64_t> plane, std::size_t radius) {
  for (std::size_t first = 0; first < side_; first += blur_lines) {
    const std::size_t count = std::min(blur_lines, side_ - first);
    const std::span<std::uint64_t> rows = plane.subspan(first * side_, count * side_);
    if (std::all_of(rows.begin(), rows.end(), [](std::uint64_t value) { return value == 0; })) {
      continue;
    }
    for (std::size_t y = 0; y < count; ++y) {
      for (std::size_t x = 0; x < side_; ++x) {
        lines_[x].number[y] = rows[y * side_ + x];
      }
    }
    blur(radius);
    for (std::size_t y = 0; y < count; ++y) {
      for (std::size_t x = 0; x < side_; ++x) {
        rows[y * side_ + x] = blurred_[x].number[y];
      }
    }
  }
}

void BoxBlur::down_columns(std::span<std::uint64_t> plane, std::size_t radius) {
  for (std::size_t first = 0; first < side_; first += blur_lines) {
    const std::size_t count = std::min(blur_lines, side_ - first);
    std::uint64_t any = 0;
    for (std::size_t y = 0; y < side_; ++y) {
      const std::uint64_t* const row = plane.data() + y * side_ + first;
      for (std::size_t x = 0; x < count; ++x) {
        lines_[y].number[x] = row[x];
        any |= row[x];
      }
    }
    if (any == 0) {
      continue;
    }
    blur(radius);
    for (std::size_t y = 0; y < side_; ++y) {
      std::copy_n(blurred_[y].number.begin(), count, plane.data() + y * side_ + first);
    }
  }
}

void BoxBlur::blur(std::size_t radius) {
  kernels().blur(lines_.data()->number.data(), blurred_.data()->number.data(), side_, radius);
}

BlurredHits blur_hits(std::span<const std::uint32_t> hits, MapShape shape, std::size_t radius) {
  BlurredHits blurred;
  blurred.hits.assign(hits.begin(), hits.end());
  BoxBlur(shape.side).run(blurred.hits, radius);
  const PatchGrid grid(shape.side);
  blurred.scale.resize(grid.patches() * patch_places);
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const std::size_t row = i / shape.side;
    const std::size_t column = i % shape.side;
    const std::size_t patch = row / patch_rows * grid.across() + column / patch_columns;
    if (blurred.hits[i] != 0) {
      blurred
          .scale[patch * patch_places + row % patch_rows * patch_columns + column % patch_columns] =
          weight_scale(blurred.hits[i]);
    }
  }
  return blurred;
}

}  // namespace somatlas::gpu
