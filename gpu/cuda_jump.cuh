// From jumps to weights: what a count adds down a column is a parabola in pieces, so three running
// sums of its jumps, each times the count's factor for the lane's column, bring it back; rows
// without jumps cost three sums a cell, whatever the radius. Always holds: nothing but the jumps
// lies in memory between the counts and the weights; sums are exact modulo what Sum holds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda_axis.cuh"
#include "gpu/cuda_blur.cuh"
#include "gpu/cuda_codebook.cuh"
#include "gpu/cuda_jump_list.cuh"

namespace somatlas::gpu {

/// The jumps that reach a strip of 128 columns, one after the other. A warp reads 32 of the list at
/// a time, a lane each, and puts those in reach into shared memory.
class JumpQueue {
 public:
  static constexpr std::uint32_t columns = 128;
  static_assert(columns <= AxisTables::margin);
  static constexpr std::uint32_t no_row = UINT32_MAX;
  /// Of shared memory: 32, and one that is read ahead.
  static constexpr std::size_t bytes = 33 * sizeof(uint4);

  /// One warp, lane i with the columns from left + 4 i on.
  __device__ JumpQueue(const AxisTables& tables, JumpCode code, const std::uint32_t* list,
                       JumpPlane plane, std::uint32_t left, uint4* room)
      : tables_(tables),
        code_(code),
        list_(list),
        next_(plane.begin),
        end_(plane.end),
        room_(room) {
    const std::uint32_t side = tables.side;
    const std::uint32_t r = tables.radius;
    const std::uint32_t last = min(left + columns, side) - 1;
    x_begin_ = left > 3 * r ? left - 3 * r : 0;
    x_end_ = min(side, last + 3 * r + 1);
    // The border cuts off what a step from one of the two places reaches, or two from the other.
    const auto touched = [=](std::uint32_t away) {
      return away < r ? 2 * r : away < 2 * r ? r : 0;
    };
    x_low_ = touched(left);
    const std::uint32_t high = touched(side - 1 - last);
    x_high_ = high < side ? side - high : 0;
    factors_ = tables.factors + left + threadIdx.x * 4;
    ahead_ = next_ + threadIdx.x < end_ ? list_[next_ + threadIdx.x] : 0;
    refill();
  }

  /// The row of the next jump, no_row after the last.
  [[nodiscard]] __device__ std::uint32_t row() const { return row_; }

  /// Adds the next jump to sums of the lane's columns, and goes on to the one after it.
  template <typename Sum>
  __device__ void take(Sum (&sums)[4]) {
    const std::uint32_t factors[4] = {factors_of_next_.x, factors_of_next_.y, factors_of_next_.z,
                                      factors_of_next_.w};
    const std::int32_t by = by_;
    if (++taken_ == count_) {
      refill();
    } else {
      show(after_);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) {
      if constexpr (sizeof(Sum) == 8) {
        sums[i] += static_cast<Sum>(std::int64_t{by} * static_cast<std::int32_t>(factors[i]));
      } else {
        sums[i] += static_cast<std::uint32_t>(by) * factors[i];
      }
    }
  }

 private:
  static constexpr std::uint32_t all = 0xFFFF'FFFFU;

  __device__ void refill() {
    __syncwarp();  // all lanes have read what was there
    taken_ = 0;
    do {
      if (next_ >= end_) {
        row_ = no_row;
        return;
      }
      const std::uint32_t code = ahead_;
      const bool given = next_ + threadIdx.x < end_;
      next_ += 32;
      ahead_ = next_ + threadIdx.x < end_ ? list_[next_ + threadIdx.x] : 0;
      const std::uint32_t x = code_.column(code);
      const bool reaches = given && x >= x_begin_ && x < x_end_;
      const std::uint32_t lanes = __ballot_sync(all, reaches);
      count_ = static_cast<std::uint32_t>(__popc(lanes));
      if (reaches) {
        const Jump jump = tables_.jumps[code_.number(code)];
        room_[__popc(lanes & ((1U << threadIdx.x) - 1))] =
            make_uint4(jump.row, static_cast<std::uint32_t>(jump.by),
                       tables_.from(x, x < x_low_ || x >= x_high_), 0);
      }
    } while (count_ == 0);
    __syncwarp();
    show(room_[0]);
  }
  __device__ void show(uint4 jump) {
    row_ = jump.x;
    by_ = static_cast<std::int32_t>(jump.y);
    factors_of_next_ = *reinterpret_cast<const uint4*>(factors_ + jump.z);
    after_ = room_[taken_ + 1];
  }

  const AxisTables& tables_;
  JumpCode code_;
  const std::uint32_t* list_;
  std::uint32_t next_;  // of the list, past those in shared memory
  std::uint32_t end_;
  uint4* room_;            // row, by and where the factors are
  std::uint32_t x_begin_;  // columns of counts that reach the strip
  std::uint32_t x_end_;
  std::uint32_t x_low_;  // of counts before or from there on the border touches
  std::uint32_t x_high_;
  const std::uint32_t* factors_;
  std::uint32_t ahead_;  // the 32 of the list that follow
  std::uint32_t count_ = 0;
  std::uint32_t taken_ = 0;
  uint4 after_ = {};  // the one after the next
  std::uint32_t row_ = no_row;
  std::int32_t by_ = 0;
  uint4 factors_of_next_ = {};
};

/// Blocks of jump_kernel that a multiprocessor should hold; some hold no more than 16 of any kind.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 750 || __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870)
inline constexpr int jump_blocks = 16;
#else
inline constexpr int jump_blocks = 24;
#endif

/// A warp a strip of 128 columns of a plane, a lane four of them, four rows at a time. scales:
/// [side][tables.pitch()] and as much of 0 as fills up four rows and a strip. bounded: whether it
/// is marked which lines hold weights; afterwards it is for those of the planes.
template <typename Sum>
__global__ void __launch_bounds__(32, jump_blocks)
    jump_kernel(AxisTables tables, JumpCode code, const JumpPlane* planes,
                const std::uint32_t* list, const float* scales, Divisors divisors,
                LineLayout layout, CodebookView book, bool bounded) {
  extern __shared__ uint4 shared[];
  constexpr std::uint32_t all = 0xFFFF'FFFFU;
  const std::uint32_t side = tables.side;
  const std::uint32_t strips = (side + JumpQueue::columns - 1) / JumpQueue::columns;
  const JumpPlane plane = planes[blockIdx.x / strips];
  const std::uint32_t left = blockIdx.x % strips * JumpQueue::columns;
  const std::uint32_t x = left + threadIdx.x * 4;
  JumpQueue queue(tables, code, list, plane, left, shared);
  const std::uint32_t quads = tables.pitch() / 4;
  const float4* scale = reinterpret_cast<const float4*>(scales + x);
  const std::uint32_t supers_across = (side + 15) / 16;
  Sum first[4] = {};
  Sum second[4] = {};
  Sum third[4] = {};
  bool quiet = true;  // no weight came of the four rows before
  for (std::uint32_t top = 0; top < side; top += 16) {
    const std::uint32_t super = top / 16 * supers_across + x / 16;
    std::uint8_t* const mark =
        book.held +
        (std::size_t{super / line_weights} * book.descriptors + plane.descriptor) * line_weights +
        super % line_weights;
    auto* weights = reinterpret_cast<uint4*>(
        book.neurons.weights +
        (std::size_t{super} * book.descriptors + plane.descriptor) * line_weights + x / 8 % 2 * 64 +
        x / 4 % 2 * 16);
    // Whether the line holds weights of before, which zeros must replace.
    const bool held = x < side && (!bounded || *mark != 0);
    std::uint32_t filled = 0;
    const std::uint32_t end = min(top + 16, side);
#pragma unroll 1
    for (std::uint32_t y = top; y < end; y += 4) {
      uint2 words[4] = {};
      bool walked = true;
      if (quiet && queue.row() >= y + 4) {
        Sum any = 0;
#pragma unroll
        for (std::uint32_t i = 0; i < 4; ++i) {
          any |= first[i] | second[i] | third[i];
        }
        walked = __any_sync(all, any != 0);
      }
      if (walked) {
        float4 fours[4];
#pragma unroll
        for (std::uint32_t i = 0; i < 4; ++i) {
          fours[i] = scale[std::size_t{i * quads}];
        }
#pragma unroll
        for (std::uint32_t i = 0; i < 4; ++i) {
          while (queue.row() == y + i) {
            queue.take(first);
          }
#pragma unroll
          for (std::uint32_t k = 0; k < 4; ++k) {
            second[k] += first[k];
            third[k] += second[k];
          }
          const float row_scales[4] = {fours[i].x, fours[i].y, fours[i].z, fours[i].w};
          std::uint32_t four[4];
          weigh(
              third, row_scales,
              // Past the edge, where nothing is kept, the next row's scale stands and no hits do.
              [&](std::uint32_t k) {
                return x < side ? divisors.hits[layout.at(y + i, x + k)] : 1;
              },
              four);
          words[i] = make_uint2(four[0] | four[1] << 16, four[2] | four[3] << 16);
        }
      }
      const uint4 upper = make_uint4(words[0].x, words[0].y, words[1].x, words[1].y);
      const uint4 lower = make_uint4(words[2].x, words[2].y, words[3].x, words[3].y);
      std::uint32_t some = upper.x | upper.y | upper.z | upper.w;
      some |= lower.x | lower.y | lower.z | lower.w;
      some = x < side ? some : 0;
      quiet = !__any_sync(all, some != 0);
      filled |= some;
      if (held || some != 0) {
        weights[0] = upper;
        weights[1] = lower;
      }
      scale += 4 * quads;
      // The next four rows' block: to the lower two of a chunk, or to the lower chunks.
      weights += (y % 8 == 0 ? 32 : 96) / 8;
    }
    filled |= __shfl_xor_sync(all, filled, 1);
    filled |= __shfl_xor_sync(all, filled, 2);
    if (x < side && threadIdx.x % 4 == 0) {
      *mark = filled != 0 ? line_holds::weights : 0;
    }
  }
}

}  // namespace somatlas::gpu
