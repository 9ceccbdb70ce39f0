// A line with a single count, passed over three times, a line a place.
#include "gpu/cpu_axis.h"

#include <algorithm>

namespace somatlas::gpu {
namespace {

constexpr std::size_t passes = 3;

}  // namespace

AxisSpread::AxisSpread(std::size_t side, std::size_t radius)
    : pitch_((side + patch_columns - 1) / patch_columns * patch_columns),
      reach_(std::min(passes * std::min(radius, side), side)),
      factors_(side * pitch_) {
  radius = std::min(radius, side);
  std::vector<std::int64_t> line(side);
  std::vector<std::int64_t> next(side);
  first_jump_.push_back(0);
  for (std::size_t place = 0; place < side; ++place) {
    const std::size_t first = place - std::min(place, reach_);
    const std::size_t last = std::min(side, place + reach_ + 1);
    std::fill(line.begin() + static_cast<std::ptrdiff_t>(first),
              line.begin() + static_cast<std::ptrdiff_t>(last), 0);
    line[place] = 1;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      std::int64_t sum = 0;
      for (std::size_t at = first; at < std::min(last, first + radius); ++at) {
        sum += line[at];
      }
      for (std::size_t at = first; at < last; ++at) {
        sum += at + radius < last ? line[at + radius] : 0;
        sum -= at > first + radius ? line[at - radius - 1] : 0;
        next[at] = sum;
      }
      line.swap(next);
    }
    std::int64_t before[passes] = {};
    for (std::size_t at = first; at < std::min(side, last + passes); ++at) {
      const std::int64_t factor = at < last ? line[at] : 0;
      const std::int64_t by = factor - 3 * before[0] + 3 * before[1] - before[2];
      if (by != 0) {
        jumps_.push_back({static_cast<std::uint32_t>(at), by});
      }
      before[2] = before[1];
      before[1] = before[0];
      before[0] = factor;
      if (at < last) {
        factors_[place * pitch_ + at] = static_cast<std::uint32_t>(factor);
        most_factor_ = std::max(most_factor_, static_cast<std::uint32_t>(factor));
      }
    }
    first_jump_.push_back(jumps_.size());
  }
}

}  // namespace somatlas::gpu
