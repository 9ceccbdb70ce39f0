// Rows and columns are taken some at a time, side by side, and blurred in vectors; what holds
// nothing is passed over.
#include "gpu/cpu_box_blur.h"

#include <algorithm>
#include <type_traits>

namespace somatlas::gpu {

template <class Sum>
BoxBlur<Sum>::BoxBlur(std::size_t side) : side_(side), lines_(side), blurred_(side) {}

template <class Sum>
void BoxBlur<Sum>::run(std::span<Sum> plane, std::size_t radius) {
  along_rows(plane, radius);
  down_columns(plane, radius);
}

template <class Sum>
void BoxBlur<Sum>::along_rows(std::span<Sum> plane, std::size_t radius) {
  for (std::size_t first = 0; first < side_; first += blur_lines<Sum>) {
    const std::size_t count = std::min(blur_lines<Sum>, side_ - first);
    const std::span<Sum> rows = plane.subspan(first * side_, count * side_);
    if (std::all_of(rows.begin(), rows.end(), [](Sum value) { return value == 0; })) {
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

template <class Sum>
void BoxBlur<Sum>::down_columns(std::span<Sum> plane, std::size_t radius) {
  for (std::size_t first = 0; first < side_; first += blur_lines<Sum>) {
    const std::size_t count = std::min(blur_lines<Sum>, side_ - first);
    Sum any = 0;
    for (std::size_t y = 0; y < side_; ++y) {
      const Sum* const row = plane.data() + y * side_ + first;
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

template <class Sum>
void BoxBlur<Sum>::blur(std::size_t radius) {
  Sum* const numbers = lines_.data()->number.data();
  Sum* const scratch = blurred_.data()->number.data();
  if constexpr (std::is_same_v<Sum, std::uint32_t>) {
    kernels().blur_32(numbers, scratch, side_, radius);
  } else {
    kernels().blur_64(numbers, scratch, side_, radius);
  }
}

template class BoxBlur<std::uint32_t>;
template class BoxBlur<std::uint64_t>;

BlurredHits blur_hits(std::span<const std::uint32_t> hits, MapShape shape, std::size_t radius) {
  BlurredHits blurred;
  blurred.hits.assign(hits.begin(), hits.end());
  BoxBlur<std::uint64_t>(shape.side).run(blurred.hits, radius);
  blurred.scale.resize(whole_runs(hits.size()));
  for (std::size_t i = 0; i < hits.size(); ++i) {
    blurred.scale[i] = blurred.hits[i] == 0 ? 0.0F : weight_scale(blurred.hits[i]);
  }
  return blurred;
}

}  // namespace somatlas::gpu
