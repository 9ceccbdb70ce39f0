// The update's kernel for patches of a plane, 32 columns wide: at a small radius the few counts in
// reach of a patch are spread along rows by factors, then a lane walks each column and divides.
// Always holds: what lies farther than three radii from every count is 0 and costs no walk, and
// where it was 0 already, no write; nothing but counts is read and nothing but weights is written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda_axis.cuh"
#include "gpu/cuda_blur.cuh"
#include "gpu/cuda_box.cuh"
#include "gpu/cuda_codebook.cuh"
#include "gpu/cuda_statistics.cuh"

namespace somatlas::gpu {

/// How a plane is cut into patches of 32 columns.
struct PatchPlan {
  std::uint32_t side;
  std::uint32_t radius;
  std::uint32_t rows;  // of a patch; a multiple of 16

  /// Rows of about the reach either way, so that few are made twice.
  [[nodiscard]] static constexpr PatchPlan of(std::uint32_t side, std::uint32_t radius) {
    const std::uint32_t rows = (6 * radius + 15) / 16 * 16;
    return {side, radius, rows < 64 ? 64 : rows};
  }
  [[nodiscard]] __host__ __device__ constexpr std::uint32_t across() const {
    return (side + 31) / 32;
  }
  [[nodiscard]] __host__ __device__ constexpr std::uint32_t patches() const {
    return across() * ((side + rows - 1) / rows);
  }
  /// Shared memory: a patch's rows with those in reach, and one of 0.
  [[nodiscard]] constexpr std::size_t bytes() const {
    const std::uint32_t needed = rows + 6 * radius;
    return (std::size_t{needed < side ? needed : side} + 1) * 32 * sizeof(std::uint32_t);
  }
};

/// A lane looks after one strip in reach of a patch.
inline constexpr std::uint32_t most_patch_radius = 75;
static_assert((32 + 6 * most_patch_radius) / StripOrder::width + 2 <= 32);

/// One warp, lane c of every four with the weights of column c in four rows: hands lane c those of
/// row c in four columns.
[[nodiscard]] __device__ inline uint2 turn_four(const std::uint32_t (&rows)[4]) {
  constexpr std::uint32_t all = 0xFFFF'FFFFU;
  const std::uint32_t even = rows[0] | rows[2] << 16;
  const std::uint32_t odd = rows[1] | rows[3] << 16;
  const bool right = threadIdx.x % 2 != 0;
  const std::uint32_t kept = right ? odd : even;
  const std::uint32_t came = __shfl_xor_sync(all, right ? even : odd, 1);
  const std::uint32_t first = right ? came : kept;
  const std::uint32_t second = right ? kept : came;
  // Two columns side by side: of row 0 or 1, and of row 2 or 3.
  const std::uint32_t upper = (first & 0xFFFFU) | second << 16;
  const std::uint32_t lower = first >> 16 | (second & 0xFFFF'0000U);
  const bool last = threadIdx.x / 2 % 2 != 0;
  const std::uint32_t other = __shfl_xor_sync(all, last ? upper : lower, 2);
  return last ? make_uint2(other, lower) : make_uint2(upper, other);
}

/// The keys that may be in reach of a patch, one after the other: runs of the list of pairs, a lane
/// a strip.
struct PatchRuns {
  std::uint32_t first_strip;
  std::uint32_t end;    // keys up to the lane's strip and with it
  std::uint64_t shift;  // from a number among all keys in reach to its place in the list
  std::uint32_t count;  // of all

  /// One warp.
  __device__ PatchRuns(const PairCounts& counts, std::uint32_t descriptor, std::uint32_t x_begin,
                       std::uint32_t x_end, std::uint32_t y_begin, std::uint32_t y_end)
      : first_strip(x_begin / StripOrder::width), end(0), shift(0) {
    const StripOrder order = counts.order;
    const std::uint32_t strip = first_strip + threadIdx.x;
    std::uint64_t from = 0;
    if (strip <= (x_end - 1) / StripOrder::width) {
      const std::uint64_t* const starts =
          counts.starts + std::size_t{descriptor} * order.strips() + strip;
      from = starts[0];
      std::uint64_t to = starts[1];
      constexpr std::uint32_t few = 32;  // rather read than searched
      if (to - from > few) {
        const std::uint64_t key = first_key(order, descriptor, strip);
        from = lower_bound(counts.keys, from, to, key + std::uint64_t{y_begin} * StripOrder::width);
        to = lower_bound(counts.keys, from, to, key + std::uint64_t{y_end} * StripOrder::width);
      }
      end = static_cast<std::uint32_t>(to - from);
    }
    const std::uint32_t mine = end;
#pragma unroll
    for (std::uint32_t step = 1; step < 32; step *= 2) {
      const std::uint32_t below = __shfl_up_sync(0xFFFF'FFFFU, end, step);
      end += threadIdx.x >= step ? below : 0;
    }
    shift = from - (end - mine);
    count = __shfl_sync(0xFFFF'FFFFU, end, 31);
  }

  [[nodiscard]] __device__ static std::uint64_t first_key(StripOrder order,
                                                          std::uint32_t descriptor,
                                                          std::uint32_t strip) {
    return std::uint64_t{descriptor} * order.places() + std::uint64_t{strip} * order.strip_places();
  }

  /// Row and column of a count.
  struct Place {
    std::uint32_t x;
    std::uint32_t y;
  };
  /// One warp, a number below count a lane, or any other for no place in particular.
  [[nodiscard]] __device__ Place place(const PairCounts& counts, std::uint32_t descriptor,
                                       std::uint32_t number) const {
    std::uint32_t lane = 0;
#pragma unroll
    for (std::uint32_t step = 16; step > 0; step /= 2) {
      const std::uint32_t before = __shfl_sync(0xFFFF'FFFFU, end, lane + step - 1);
      lane += before <= number ? step : 0;
    }
    const std::uint64_t at = __shfl_sync(0xFFFF'FFFFU, shift, lane) + number;
    if (number >= count) {
      return {0, 0};
    }
    const std::uint32_t strip = first_strip + lane;
    const auto in_strip =
        static_cast<std::uint32_t>(counts.keys[at] - first_key(counts.order, descriptor, strip));
    return {strip * StripOrder::width + in_strip % StripOrder::width, in_strip / StripOrder::width};
  }
};

/// Planes whose patches are taken together, so that their counts stay in the cache while
/// neighbouring blocks share the divisors of a patch.
inline constexpr std::uint32_t patch_planes = 1024;

/// A warp a patch. The sums of a row's counts fit 32 bits, those of both axes fit Sum. bounded:
/// whether the bounds of supers tell which lines hold weights; afterwards those of the patch do.
template <typename Sum>
__global__ void __launch_bounds__(32)
    patch_kernel(PairCounts counts, const std::uint32_t* list, std::uint32_t planes, PatchPlan plan,
                 AxisTables tables, Divisors by_column, LineLayout layout, CodebookView book,
                 bool bounded) {
  extern __shared__ uint4 shared[];
  constexpr std::uint32_t all = 0xFFFF'FFFFU;
  const std::uint32_t lane = threadIdx.x;
  const std::uint32_t group = blockIdx.x / (patch_planes * plan.patches());
  const std::uint32_t in_group = blockIdx.x - group * patch_planes * plan.patches();
  const std::uint32_t group_planes = min(patch_planes, planes - group * patch_planes);
  const std::uint32_t patch = in_group / group_planes;
  const std::uint32_t descriptor = list[group * patch_planes + in_group % group_planes];
  const std::uint32_t side = plan.side;
  const std::uint32_t left = patch % plan.across() * 32;
  const std::uint32_t top = patch / plan.across() * plan.rows;
  const std::uint32_t reach = 3 * plan.radius;
  const LineSpan span{static_cast<int>(side), static_cast<int>(plan.radius), static_cast<int>(top),
                      static_cast<int>(min(plan.rows, (side - top + 3) / 4 * 4))};
  const auto y_begin = static_cast<std::uint32_t>(span.begin());
  const auto y_count = static_cast<std::uint32_t>(span.count());
  const std::uint32_t x_begin = left > reach ? left - reach : 0;
  const std::uint32_t x_end = min(side, left + 32 + reach);
  const PatchRuns runs(counts, descriptor, x_begin, x_end, y_begin, y_begin + y_count);

  // A row's blurred counts, and whether it has any: 32 rows a lane.
  auto* const sums = reinterpret_cast<std::uint32_t*>(shared);
  std::uint32_t filled = 0;
  if (runs.count != 0) {
    for (std::uint32_t i = lane; i < (y_count + 1) * 8; i += 32) {
      shared[i] = make_uint4(0, 0, 0, 0);
    }
    __syncwarp();
  }
  const std::uint32_t* const my_factors = tables.factors + min(left + lane, side - 1);
  for (std::uint32_t first = 0; first < runs.count; first += 32) {
    const auto [x, y] = runs.place(counts, descriptor, first + lane);
    std::uint32_t met = __ballot_sync(all, first + lane < runs.count && x >= x_begin && x < x_end &&
                                               y >= y_begin && y < y_begin + y_count);
    const std::uint32_t at = (y - y_begin) << 16 | x;
    for (; met != 0; met &= met - 1) {
      const std::uint32_t one = __shfl_sync(all, at, __ffs(static_cast<int>(met)) - 1);
      sums[(one >> 16) * 32 + lane] += my_factors[std::size_t{one & 0xFFFFU} * tables.pitch()];
      filled |= one >> 21 == lane ? 1U << (one >> 16) % 32 : 0;
    }
  }

  // The lane's column, and where it stores once four lanes have turned four rows.
  const std::uint32_t x = left + lane;
  const std::uint32_t row = lane % 4;
  const std::uint32_t block_x = x - row;
  const std::uint32_t supers_across = (side + 15) / 16;
  std::uint16_t* const weights = book.neurons.weights + std::size_t{descriptor} * line_weights +
                                 block_x / 8 % 2 * 64 + block_x / 4 % 2 * 16 + row * 4;
  const auto store = [&](std::uint32_t y, uint2 four) {
    if (block_x < side && y + row < side) {
      const std::size_t super = std::size_t{y / 16} * supers_across + block_x / 16;
      *reinterpret_cast<uint2*>(weights + super * book.descriptors * line_weights +
                                y / 8 % 2 * 128 + y / 4 % 2 * 32) = four;
    }
  };
  const auto bound = [&](std::uint32_t y, std::uint32_t column) -> std::uint16_t& {
    const std::size_t super = std::size_t{y / 16} * supers_across + column / 16;
    return book.supers
        .weights[(super / line_weights * book.descriptors + descriptor) * line_weights +
                 super % line_weights];
  };
  const auto clear = [&](std::uint32_t y) {
    if (block_x < side && (!bounded || bound(y, block_x) != 0)) {
      store(y, make_uint2(0, 0));
    }
  };
  std::uint32_t weighted[2] = {};  // supers of the left and the right half that have weights

  // Nothing before the first row that has counts.
  const std::uint32_t lanes = __ballot_sync(all, filled != 0);
  int start = span.first;
  if (lanes != 0) {
    const int at = __ffs(static_cast<int>(lanes)) - 1;
    const std::uint32_t bits = __shfl_sync(all, filled, at);
    const int first_row = static_cast<int>(y_begin) + at * 32 + __ffs(static_cast<int>(bits)) - 1;
    start = min(span.first, first_row - static_cast<int>(reach));
  }
  walk_line<Sum>(
      span, start, [&](unsigned y) { return static_cast<Sum>(sums[y * 32 + lane]); },
      [&](int at) {
        // Rows in reach, as places of the lane's 32.
        const int low = at - static_cast<int>(reach + 3 + y_begin + lane * 32);
        const int high = at + static_cast<int>(reach + 3) - static_cast<int>(y_begin + lane * 32);
        std::uint32_t mine = filled;
        mine = high < 31 ? (high < 0 ? 0 : mine << (31 - high)) : mine;
        mine = high < 31 && high >= 0 ? mine >> (31 - high) : mine;
        mine = low > 0 ? (low > 31 ? 0 : mine >> low) : mine;
        if (__any_sync(all, mine != 0)) {
          return false;
        }
        clear(static_cast<std::uint32_t>(at));
        return true;
      },
      [&](int at) {
        return reinterpret_cast<const Quad<float>*>(
            by_column.scales)[layout.quad(x, static_cast<std::uint32_t>(at))];
      },
      [&](int at, const Sum(&blurred)[4], const Quad<float>& scales) {
        const auto y = static_cast<std::uint32_t>(at);
        std::uint32_t rows[4];
        weigh(
            blurred, scales.value,
            [&](std::uint32_t i) { return by_column.hits[layout.at(x, y + i)]; }, rows);
#pragma unroll
        for (std::uint32_t i = 0; i < 4; ++i) {
          rows[i] = x < side ? rows[i] : 0;
        }
        const uint2 four = turn_four(rows);
        store(y, four);
        const std::uint32_t lanes_with_weights = __ballot_sync(all, (four.x | four.y) != 0);
        const std::uint32_t bit = 1U << (y - top) / 16;
        weighted[0] |= (lanes_with_weights & 0xFFFFU) != 0 ? bit : 0;
        weighted[1] |= lanes_with_weights >> 16 != 0 ? bit : 0;
      });
  __syncwarp();  // all lanes have read the old bounds
  const std::uint32_t bounds = (static_cast<std::uint32_t>(span.length) + 15) / 16 * 2;
  for (std::uint32_t i = lane; i < bounds; i += 32) {
    if (left + i % 2 * 16 < side) {
      bound(top + i / 2 * 16, left + i % 2 * 16) =
          static_cast<std::uint16_t>(weighted[i % 2] >> (i / 2) & 1);
    }
  }
}

}  // namespace somatlas::gpu
