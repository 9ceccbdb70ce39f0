// Box passes by prefix sums along rows and by sliding sums down columns.
#include "gpu/cpu_box_blur.h"

#include <algorithm>

namespace somatlas::gpu {
namespace {

constexpr int passes = 3;

/// One pass along a row: differences of prefix sums, which may wrap, since the windows' sums do
/// not.
template <class Sum>
void blur_row(std::span<Sum> row, std::span<Sum> prefix, std::size_t radius) {
  const std::size_t side = row.size();
  Sum sum = 0;
  prefix[0] = 0;
  for (std::size_t x = 0; x < side; ++x) {
    sum += row[x];
    prefix[x + 1] = sum;
  }
  for (std::size_t x = 0; x < side; ++x) {
    row[x] = prefix[std::min(side, x + radius + 1)] - prefix[x - std::min(x, radius)];
  }
}

/// One pass down all columns: a row of running sums gains the row that enters the window and loses
/// the one that leaves it.
template <class Sum>
void blur_columns(std::span<const Sum> in, std::span<Sum> out, std::span<Sum> running,
                  std::size_t radius) {
  const std::size_t side = running.size();
  std::fill(running.begin(), running.end(), Sum{0});
  const auto add_row = [&](std::size_t y) {
    const Sum* row = in.data() + y * side;
    for (std::size_t x = 0; x < side; ++x) {
      running[x] += row[x];
    }
  };
  for (std::size_t y = 0; y < std::min(radius, side); ++y) {
    add_row(y);
  }
  for (std::size_t y = 0; y < side; ++y) {
    if (y + radius < side) {
      add_row(y + radius);
    }
    if (y > radius) {
      const Sum* row = in.data() + (y - radius - 1) * side;
      for (std::size_t x = 0; x < side; ++x) {
        running[x] -= row[x];
      }
    }
    std::copy(running.begin(), running.end(), out.data() + y * side);
  }
}

}  // namespace

template <class Sum>
void box_blur(std::span<Sum> plane, std::span<Sum> scratch, std::size_t side, std::size_t radius) {
  const std::size_t reach = std::min(radius, side);
  std::vector<Sum> line(side + 1);
  for (std::size_t y = 0; y < side; ++y) {
    const std::span<Sum> row = plane.subspan(y * side, side);
    if (std::all_of(row.begin(), row.end(), [](Sum value) { return value == 0; })) {
      continue;
    }
    for (int pass = 0; pass < passes; ++pass) {
      blur_row<Sum>(row, line, reach);
    }
  }
  const std::span<Sum> running(line.data(), side);
  blur_columns<Sum>(plane, scratch, running, reach);
  blur_columns<Sum>(scratch, plane, running, reach);
  blur_columns<Sum>(plane, scratch, running, reach);
  std::copy(scratch.begin(), scratch.end(), plane.begin());
}

template void box_blur(std::span<std::uint32_t> plane, std::span<std::uint32_t> scratch,
                       std::size_t side, std::size_t radius);
template void box_blur(std::span<std::uint64_t> plane, std::span<std::uint64_t> scratch,
                       std::size_t side, std::size_t radius);

BlurredHits blur_hits(std::span<const std::uint32_t> hits, MapShape shape, std::size_t radius) {
  BlurredHits blurred;
  blurred.hits.assign(hits.begin(), hits.end());
  std::vector<std::uint64_t> scratch(hits.size());
  box_blur<std::uint64_t>(blurred.hits, scratch, shape.side, radius);
  blurred.scale.resize(hits.size());
  for (std::size_t i = 0; i < hits.size(); ++i) {
    blurred.scale[i] = blurred.hits[i] == 0 ? 0.0F : weight_scale(blurred.hits[i]);
  }
  return blurred;
}

}  // namespace somatlas::gpu
