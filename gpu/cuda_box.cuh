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

/// Walks a line of side values: load(i) gives value i, and 0 for i == side; put(at, sums) takes the
/// blurred values from at on, four at a time up to length, a multiple of four. Those past side mean
/// nothing.
template <typename Sum, typename Load, typename Put>
__device__ void walk_line(int side, int radius, int length, Load load, Put put) {
  const auto count = static_cast<unsigned>(side);
  const auto value = [&](int at) {
    const auto place = static_cast<unsigned>(at);
    return load(place < count ? place : count);
  };
  // Four at once: their places are one number and constants.
  const auto four = [&](int at, Sum(&values)[4]) {
    const auto place = static_cast<unsigned>(at);
    if (place < count && count - place > 3) {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        values[i] = load(place + i);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        values[i] = value(at + i);
      }
    }
  };
  BoxChain<Sum> chain;
#pragma unroll 4
  for (int at = -3 * radius; at < 0; ++at) {
    chain.step_clipped(at, side, radius, value(at + 3 * radius), value(at + radius - 1),
                       value(at - radius - 2), value(at - 3 * radius - 3));
  }
  for (int first = 0; first < length; first += 4) {
    Sum entering[4][4];
    four(first + 3 * radius, entering[0]);
    four(first + radius - 1, entering[1]);
    four(first - radius - 2, entering[2]);
    four(first - 3 * radius - 3, entering[3]);
    Sum sums[4];
    if (first >= 2 * radius + 2 && first + 3 + 2 * radius < side) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums[i] = chain.step(entering[0][i], entering[1][i], entering[2][i], entering[3][i]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums[i] = chain.step_clipped(first + i, side, radius, entering[0][i], entering[1][i],
                                     entering[2][i], entering[3][i]);
      }
    }
    put(first, sums);
  }
}

/// Four values of a line that lie side by side in memory.
template <typename Value>
struct alignas(16) Quad {
  Value value[4];
};

/// Values of a line from places that are phase past a multiple of four, read as quads.
template <int phase, typename Value>
class QuadStream {
 public:
  /// Moves on by four: fresh is the quad that they end in.
  __device__ void take(const Quad<Value>& fresh) {
    held_ = fresh_;
    fresh_ = fresh;
  }
  [[nodiscard]] __device__ Value operator[](int i) const {
    if constexpr (phase == 0) {
      return fresh_.value[i];
    } else {
      return phase + i < 4 ? held_.value[(phase + i) % 4] : fresh_.value[(phase + i) % 4];
    }
  }

 private:
  Quad<Value> held_ = {};
  Quad<Value> fresh_ = {};
};

/// Walks a line held as quads, the last one filled up with 0: load(q) gives quad q, and zeros for
/// q == ceil(side / 4); put(at, sums, fetch(at)) also gets what fetch() read early. radius % 4 is
/// residue. Else as walk_line.
template <typename Sum, int residue, typename Value, typename Load, typename Fetch, typename Put>
__device__ void walk_quads(int side, int radius, Load load, Fetch fetch, Put put) {
  constexpr int phases[4] = {3 * residue % 4, (residue + 3) % 4, (6 - residue) % 4,
                             (residue + 1) % 4};
  const auto quads = static_cast<unsigned>(side + 3) / 4;
  const auto entering = [&](int at, int phase) {
    // Rounds down, also below 0: what lies before the line is past its end as an unsigned number.
    const auto quad = static_cast<unsigned>((at >> 2) + (phase != 0 ? 1 : 0));
    return load(quad < quads ? quad : quads);
  };
  QuadStream<phases[0], Value> far_ahead;
  QuadStream<phases[1], Value> ahead;
  QuadStream<phases[2], Value> behind;
  QuadStream<phases[3], Value> far_behind;
  const auto take = [&](int first) {
    far_ahead.take(entering(first + 3 * radius, phases[0]));
    ahead.take(entering(first + radius - 1, phases[1]));
    behind.take(entering(first - radius - 2, phases[2]));
    far_behind.take(entering(first - 3 * radius - 3, phases[3]));
  };
  BoxChain<Sum> chain;
  const auto clipped = [&](int at, int i) {
    return chain.step_clipped(at + i, side, radius, far_ahead[i], ahead[i], behind[i],
                              far_behind[i]);
  };
  // A multiple of four from where nothing has come in yet.
  for (int first = -(3 * radius + 3) / 4 * 4; first < 0; first += 4) {
    take(first);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      clipped(first, i);
    }
  }
  for (int first = 0; first < side; first += 4) {
    const auto fetched = fetch(first);
    take(first);
    Sum sums[4];
    if (first >= 2 * radius + 2 && first + 3 + 2 * radius < side) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums[i] = chain.step(far_ahead[i], ahead[i], behind[i], far_behind[i]);
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums[i] = clipped(first, i);
      }
    }
    put(first, sums, fetched);
  }
}

}  // namespace somatlas::gpu
