// Radii and the stop rule of section 2, "Schedule", in integers.
#pragma once

#include <cstdint>
#include <optional>

#include "pipeline/atlas_meta.h"

namespace somatlas::pipeline {

/// The largest r for which articles * (2r + 1)^4 stays below 2^62.
[[nodiscard]] std::uint32_t largest_radius(std::uint64_t articles);

/// r_0: the given radius or the start's default, at least radius_end where it is the default,
/// capped at largest_radius().
[[nodiscard]] std::uint32_t first_radius(const TrainingSettings& settings, std::uint64_t articles);

/// r(e) = r_end + (r_0 - r_end) exp(-0.3 e), rounded half up; exp from an integer table. r_0 may be
/// below r_end.
[[nodiscard]] std::uint32_t radius_at(std::uint32_t epoch, std::uint32_t first, std::uint32_t end);

/// What a checkpoint keeps of the stop rule.
struct StopState {
  std::optional<std::uint64_t> last_sum;  // S of the epoch before
  std::uint32_t small_falls = 0;          // consecutive, at r_end
  friend bool operator==(const StopState&, const StopState&) = default;
};

/// Says after each epoch whether it was the last. An epoch counts where its codebook was made at
/// r_end and its S fell by less than S_prev / 1000 (integer division; a rise counts). S_prev is the
/// sum of the epoch before, whatever radius that had; the first epoch has none and does not count.
/// Three epochs that count, one after another, end the training, as does the epoch limit.
class StopRule {
 public:
  StopRule(std::uint32_t radius_end, std::uint32_t epoch_limit, StopState state = {});

  /// epoch was searched with a codebook made at radius; distance_sum is its S over training
  /// articles.
  [[nodiscard]] bool is_last(std::uint32_t epoch, std::uint32_t radius, std::uint64_t distance_sum);
  [[nodiscard]] const StopState& state() const { return state_; }

 private:
  std::uint32_t radius_end_;
  std::uint32_t epoch_limit_;
  StopState state_;
};

}  // namespace somatlas::pipeline
