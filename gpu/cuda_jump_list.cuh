// From counts to jumps: the kernels that make the tables of an axis for a radius, and those that
// list the jumps of a plane's counts row by row. Always holds: a row's jumps come in no particular
// order, which sums of integers do not see.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda_axis.cuh"
#include "gpu/cuda_box.cuh"
#include "gpu/cuda_statistics.cuh"

namespace somatlas::gpu {

/// Factors and jumps of one place: a thread a place.
__global__ void axis_kernel(AxisTables tables) {
  const std::uint32_t side = tables.side;
  const std::uint32_t place = blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= side) {
    return;
  }
  Jump* const jumps = tables.jumps + std::size_t{place} * most_jumps;
  std::uint32_t found = 0;
  std::uint32_t before[3] = {};
  // The same either way, so that threads write side by side.
  walk_line<std::uint32_t>(
      static_cast<int>(side), static_cast<int>(tables.radius), static_cast<int>((side + 3) / 4 * 4),
      [=](unsigned i) { return i == place ? 1U : 0U; },
      [&](int first, const std::uint32_t(&sums)[4]) {
#pragma unroll
        for (std::uint32_t i = 0; i < 4; ++i) {
          const std::uint32_t at = static_cast<std::uint32_t>(first) + i;
          if (at < side) {
            tables.factors[std::size_t{at} * tables.pitch() + place] = sums[i];
            const std::uint32_t by = sums[i] - 3 * before[0] + 3 * before[1] - before[2];
            if (by != 0 && found < most_jumps) {
              jumps[found++] = {at, static_cast<std::int32_t>(by)};
            }
          }
          before[2] = before[1];
          before[1] = before[0];
          before[0] = sums[i];
        }
      });
  for (; found < most_jumps; ++found) {
    jumps[found] = {UINT32_MAX, 0};
  }
}

/// The shifted tables: a thread a place of one of them.
__global__ void shifted_kernel(AxisTables tables) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 4 * tables.shifted_length()) {
    return;
  }
  const std::uint32_t shift = i / tables.shifted_length();
  const std::uint32_t at = i % tables.shifted_length();
  const std::uint32_t zero = tables.middle() + shift;
  const std::uint32_t away = at < zero ? zero - at : at - zero;
  const std::uint32_t r = tables.radius;
  std::uint32_t factor = 0;
  if (away <= r) {
    factor = 3 * r * (r + 1) + 1 - away * away;
  } else if (away <= 3 * r) {
    const std::uint32_t left = 3 * r + 1 - away;
    factor = left * (left + 1) / 2;
  }
  tables.factors[tables.shifted_begin() + i] = factor;
}

/// A jump in a plane's list: its number in AxisTables::jumps, and the column of the count.
struct JumpCode {
  std::uint32_t column_bits;

  [[nodiscard]] static constexpr JumpCode of(std::uint32_t side) {
    std::uint32_t bits = 0;
    while ((std::uint64_t{1} << bits) < side) {
      ++bits;
    }
    return {bits};
  }
  /// Whether 32 bits hold every jump of a map.
  [[nodiscard]] static constexpr bool holds(std::uint32_t side) {
    return std::uint64_t{side} * most_jumps << of(side).column_bits <= std::uint64_t{1} << 32;
  }
  [[nodiscard]] __device__ std::uint32_t of_jump(std::uint32_t number, std::uint32_t column) const {
    return number << column_bits | column;
  }
  [[nodiscard]] __device__ std::uint32_t number(std::uint32_t code) const {
    return code >> column_bits;
  }
  [[nodiscard]] __device__ std::uint32_t column(std::uint32_t code) const {
    return code & ((1U << column_bits) - 1);
  }
};

inline constexpr std::uint32_t list_threads = 128;

/// Shared memory of list_jumps_kernel: a number a row, and one a warp.
[[nodiscard]] constexpr std::size_t list_bytes(std::uint32_t side) {
  return (std::size_t{side} + list_threads / 32) * sizeof(std::uint32_t);
}

/// A block a plane: its counts' jumps, ordered by row.
__global__ void __launch_bounds__(list_threads)
    list_jumps_kernel(PairCounts counts, const Jump* axis_jumps, JumpCode code, JumpPlane* planes,
                      std::uint32_t* list) {
  extern __shared__ uint4 shared[];
  constexpr std::uint32_t all = 0xFFFF'FFFFU;
  auto* const rows = reinterpret_cast<std::uint32_t*>(shared);
  const StripOrder order = counts.order;
  const std::uint32_t side = order.side;
  std::uint32_t* const warp_sums = rows + side;
  const std::uint32_t thread = threadIdx.x;
  const std::uint32_t descriptor = planes[blockIdx.x].descriptor;
  const std::uint32_t begin = planes[blockIdx.x].begin;
  const std::uint64_t* const starts = counts.starts + std::size_t{descriptor} * order.strips();
  const std::uint64_t first = starts[0];
  const std::uint64_t last = starts[order.strips()];
  const std::uint64_t first_key = std::uint64_t{descriptor} * order.places();
  for (std::uint32_t row = thread; row < side; row += list_threads) {
    rows[row] = 0;
  }
  __syncthreads();
  const auto each = [&](auto take) {
    for (std::uint64_t i = first + thread; i < last; i += list_threads) {
      const auto place = static_cast<std::uint32_t>(counts.keys[i] - first_key);
      const std::uint32_t strip = place / order.strip_places();
      const std::uint32_t in_strip = place - strip * order.strip_places();
      const std::uint32_t column = strip * StripOrder::width + in_strip % StripOrder::width;
      const std::uint32_t number = in_strip / StripOrder::width * most_jumps;
      for (std::uint32_t k = 0; k < most_jumps; ++k) {
        const std::uint32_t row = axis_jumps[number + k].row;
        if (row >= side) {
          break;
        }
        take(row, number + k, column);
      }
    }
  };
  each([&](std::uint32_t row, std::uint32_t, std::uint32_t) { atomicAdd(&rows[row], 1U); });
  __syncthreads();

  // Numbers become starts: a thread's rows follow one another.
  const std::uint32_t share = (side + list_threads - 1) / list_threads;
  const std::uint32_t from = min(side, thread * share);
  const std::uint32_t to = min(side, from + share);
  std::uint32_t mine = 0;
  for (std::uint32_t row = from; row < to; ++row) {
    mine += rows[row];
  }
  std::uint32_t sum = mine;
#pragma unroll
  for (std::uint32_t step = 1; step < 32; step *= 2) {
    const std::uint32_t below = __shfl_up_sync(all, sum, step);
    sum += thread % 32 >= step ? below : 0;
  }
  if (thread % 32 == 31) {
    warp_sums[thread / 32] = sum;
  }
  __syncthreads();
  std::uint32_t start = begin + sum - mine;
  for (std::uint32_t warp = 0; warp < thread / 32; ++warp) {
    start += warp_sums[warp];
  }
  for (std::uint32_t row = from; row < to; ++row) {
    const std::uint32_t number = rows[row];
    rows[row] = start;
    start += number;
  }
  if (thread == list_threads - 1) {
    planes[blockIdx.x].end = start;
  }
  __syncthreads();
  each([&](std::uint32_t row, std::uint32_t number, std::uint32_t column) {
    list[atomicAdd(&rows[row], 1U)] = code.of_jump(number, column);
  });
}

}  // namespace somatlas::gpu
