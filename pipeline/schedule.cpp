// Radii and the stop rule in integers. Always holds: the radii of a training are a pure function of
// its settings and its number of articles; the stop rule of the integer sums it is shown.
#include "pipeline/schedule.h"

#include <algorithm>
#include <array>

namespace somatlas::pipeline {

namespace {

__extension__ using Wide = __int128;

/// round(2^32 exp(-0.3 e)); 0 from the end on.
constexpr std::array<std::uint64_t, 77> decay{
    4294967296, 3181790030, 2357128029, 1746203392, 1293619290, 958336741, 709953319, 525946355,
    389630643,  288645479,  213833830,  158411998,  117354494,  86938348,  64405512,  47712777,
    35346494,   26185327,   19398567,   14370812,   10646160,   7886869,   5842736,   4328405,
    3206562,    2375479,    1759798,    1303691,    965798,     715481,    530041,    392664,
    290893,     215499,     159645,     118268,     87615,      64907,     48084,     35622,
    26389,      19550,      14483,      10729,      7948,       5888,      4362,      3232,
    2394,       1773,       1314,       973,        721,        534,       396,       293,
    217,        161,        119,        88,         65,         48,        36,        27,
    20,         15,         11,         8,          6,          4,         3,         2,
    2,          1,          1,          1,          1};

bool fits(std::uint64_t articles, std::uint32_t radius) {
  const Wide window = 2 * Wide{radius} + 1;
  return window * window * window * window < Wide{1} << 62 &&
         window * window * window * window * articles < Wide{1} << 62;
}

}  // namespace

std::uint32_t largest_radius(std::uint64_t articles) {
  std::uint32_t radius = 0;
  while (fits(articles, radius + 1)) {
    ++radius;
  }
  return radius;
}

std::uint32_t first_radius(const TrainingSettings& settings, std::uint64_t articles) {
  const std::uint32_t fraction = settings.side / (settings.start == Start::pca ? 8 : 2);
  const std::uint32_t wanted =
      settings.radius_start.value_or(std::max(settings.radius_end, fraction));
  return std::min(wanted, largest_radius(articles));
}

std::uint32_t radius_at(std::uint32_t epoch, std::uint32_t first, std::uint32_t end) {
  const std::uint64_t share = epoch < decay.size() ? decay[epoch] : 0;
  const Wide radius = (Wide{end} << 32) + (Wide{first} - Wide{end}) * share;
  return static_cast<std::uint32_t>((radius + (Wide{1} << 31)) >> 32);
}

StopRule::StopRule(std::uint32_t radius_end, std::uint32_t epoch_limit, StopState state)
    : radius_end_(radius_end), epoch_limit_(epoch_limit), state_(state) {}

bool StopRule::is_last(std::uint32_t epoch, std::uint32_t radius, std::uint64_t distance_sum) {
  const bool small_fall =
      state_.last_sum && (distance_sum >= *state_.last_sum ||
                          *state_.last_sum - distance_sum < *state_.last_sum / 1000);
  state_.small_falls = radius == radius_end_ && small_fall ? state_.small_falls + 1 : 0;
  state_.last_sum = distance_sum;
  return state_.small_falls >= 3 || std::uint64_t{epoch} + 1 >= epoch_limit_;
}

}  // namespace somatlas::pipeline
