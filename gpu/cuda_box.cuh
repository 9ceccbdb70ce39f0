// Three box passes along a line in one walk, with nothing kept but sums: each pass adds what enters
// its window and takes off what leaves it, and what leaves is made a second time by a chain that
// runs a window behind. Always holds: integers only, exact where the last pass's sums fit Sum; a
// step reads four values of the line, so lanes that walk neighbouring lines read side by side.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace somatlas::gpu {

/// The sums of a walk that has arrived at `at`: the first pass at three places, the second at two,
/// the third at `at`. Windows are of half-width radius.
template <typename Sum>
class BoxChain {
 public:
  /// From at - 1 to at, given the line at at + 3 radius, at + radius - 1, at - radius - 2 and
  /// at - 3 radius - 3 (0 beyond the border). Returns the third pass's sum. Where each pass's
  /// places lie inside the border.
  __device__ Sum step(Sum far_ahead, Sum ahead, Sum behind, Sum far_behind) {
    first_[0] += far_ahead - ahead;
    first_[1] += ahead - behind;
    first_[2] += behind - far_behind;
    second_[0] += first_[0] - first_[1];
    second_[1] += first_[1] - first_[2];
    return third_ += second_[0] - second_[1];
  }

  /// As step(), near the border: a pass's sums beyond it count as 0.
  __device__ Sum step_clipped(int at, int side, int radius, Sum far_ahead, Sum ahead, Sum behind,
                              Sum far_behind) {
    first_[0] += far_ahead - ahead;
    first_[1] += ahead - behind;
    first_[2] += behind - far_behind;
    const Sum first[3] = {inside(at + 2 * radius, side) ? first_[0] : 0,
                          inside(at - 1, side) ? first_[1] : 0,
                          inside(at - 2 * radius - 2, side) ? first_[2] : 0};
    second_[0] += first[0] - first[1];
    second_[1] += first[1] - first[2];
    return third_ += (inside(at + radius, side) ? second_[0] : 0) -
                     (inside(at - radius - 1, side) ? second_[1] : 0);
  }

 private:
  [[nodiscard]] __device__ static bool inside(int at, int side) {
    return static_cast<unsigned>(at) < static_cast<unsigned>(side);
  }

  Sum first_[3] = {};
  Sum second_[2] = {};
  Sum third_ = 0;
};

/// What a walk makes of a line of side values: the blurred ones from first on (a multiple of four).
struct LineSpan {
  int side;
  int radius;
  int first;
  int length;  // a multiple of four; blurred values past side mean nothing

  /// The values that it needs are [begin, begin + count).
  [[nodiscard]] __device__ int begin() const { return max(0, first - 3 * radius); }
  [[nodiscard]] __device__ int count() const {
    return min(side, first + length + 3 * radius) - begin();
  }
};

/// Walks along: load(i) gives value begin() + i, and 0 for i == count(); put(at, sums) takes the
/// blurred values from at on, four at a time. Before that skip(at) may say that it has dealt with
/// them: all values in [at - 3 radius - 3, at + 3 radius + 3] are 0. start: no value before
/// start + 3 radius is other than 0, nor does a walk that begins there miss one.
template <typename Sum, typename Load, typename Skip, typename Put>
__device__ void walk_line(LineSpan span, int start, Load load, Skip skip, Put put) {
  const int radius = span.radius;
  const int side = span.side;
  const int begin = span.begin();
  const auto count = static_cast<unsigned>(span.count());
  const auto value = [&](int at) {
    const auto place = static_cast<unsigned>(at - begin);
    return load(place < count ? place : count);
  };
  BoxChain<Sum> chain;
#pragma unroll 4
  for (int at = start; at < span.first; ++at) {
    chain.step_clipped(at, side, radius, value(at + 3 * radius), value(at + radius - 1),
                       value(at - radius - 2), value(at - 3 * radius - 3));
  }
  for (int first = span.first; first < span.first + span.length; first += 4) {
    if (skip(first)) {
      continue;
    }
    Sum entering[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int at = first + i;
      entering[i][0] = value(at + 3 * radius);
      entering[i][1] = value(at + radius - 1);
      entering[i][2] = value(at - radius - 2);
      entering[i][3] = value(at - 3 * radius - 3);
    }
    Sum sums[4];
    if (first >= 2 * radius + 2 && first + 3 + 2 * radius < side) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums[i] = chain.step(entering[i][0], entering[i][1], entering[i][2], entering[i][3]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums[i] = chain.step_clipped(first + i, side, radius, entering[i][0], entering[i][1],
                                     entering[i][2], entering[i][3]);
      }
    }
    put(first, sums);
  }
}

/// Walks a whole line: load(i) gives value i, and 0 for i == side.
template <typename Sum, typename Load, typename Put>
__device__ void walk_whole_line(int side, int radius, int length, Load load, Put put) {
  const LineSpan span{side, radius, 0, length};
  walk_line<Sum>(
      span, -3 * radius, load, [](int /*at*/) { return false; }, put);
}

}  // namespace somatlas::gpu
