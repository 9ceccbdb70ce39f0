// The update's kernels over whole planes: columns are blurred from the counts by a warp that takes
// up to 32 of them into shared memory, then rows by a warp that takes 32 of them and hands each
// cell on. Between the two lie the planes in work, column after column. Always holds: a lane walks
// one line, so no sum crosses lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/contract.h"
#include "gpu/cuda_box.cuh"
#include "gpu/cuda_codebook.cuh"

namespace somatlas::gpu {

/// Blurred columns: [planes][side + 1][pitch], the last of a plane all 0; also the layout of the
/// blurred hits and their scales, [side][pitch].
struct ColumnLayout {
  std::uint32_t side;
  std::uint32_t pitch;  // values from one column to the next
  [[nodiscard]] static constexpr ColumnLayout of(std::uint32_t side) {
    return {side, (side + 31) / 32 * 32};
  }
  [[nodiscard]] __host__ __device__ constexpr std::size_t plane() const {
    return (std::size_t{side} + 1) * pitch;
  }
};

inline constexpr unsigned across_warps = 8;

/// Shared memory of down_kernel: the counts of so many columns, and a tile to turn sums in.
template <typename Cell, typename Sum>
[[nodiscard]] constexpr std::size_t down_cell_bytes(std::uint32_t side, std::uint32_t columns) {
  return ((std::size_t{side} + 1) * columns * sizeof(Cell) + 15) / 16 * 16;
}
template <typename Cell, typename Sum>
[[nodiscard]] constexpr std::size_t down_bytes(std::uint32_t side, std::uint32_t columns) {
  return down_cell_bytes<Cell, Sum>(side, columns) + std::size_t{32} * 33 * sizeof(Sum);
}

/// Grid (groups of columns, planes), a warp each. planes: the descriptors, or null for the only
/// plane there is. No count passes what Cell holds and no blurred column what Sum holds.
template <typename Cell, typename Sum, typename Counts>
__global__ void __launch_bounds__(32)
    down_kernel(Counts counts, const std::uint32_t* planes, ColumnLayout layout, int radius,
                std::uint32_t columns, Sum* out) {
  extern __shared__ uint4 shared[];
  const std::uint32_t lane = threadIdx.x;
  const std::uint32_t side = layout.side;
  const std::uint32_t first = blockIdx.x * columns;
  auto* const cells = reinterpret_cast<Cell*>(shared);
  const std::size_t cell_bytes = down_cell_bytes<Cell, Sum>(side, columns);
  auto* const tile = reinterpret_cast<Sum*>(reinterpret_cast<std::byte*>(shared) + cell_bytes);
  for (std::size_t i = lane; i < cell_bytes / sizeof(uint4); i += 32) {
    shared[i] = make_uint4(0, 0, 0, 0);
  }
  __syncwarp();
  Sum* const plane = out + blockIdx.y * layout.plane();
  const std::uint32_t here = min(columns, side - first);
  const bool any =
      counts.load_columns(planes == nullptr ? 0 : planes[blockIdx.y], first, columns, cells);
  __syncwarp();
  if (blockIdx.x == 0) {
    for (std::uint32_t y = lane; y < layout.pitch; y += 32) {
      plane[std::size_t{side} * layout.pitch + y] = 0;
    }
  }
  if (!any) {
    for (std::uint32_t x = 0; x < here; ++x) {
      for (std::uint32_t y = lane; y < layout.pitch; y += 32) {
        plane[std::size_t{first + x} * layout.pitch + y] = 0;
      }
    }
    return;
  }
  const Cell* const column = cells + (lane < columns ? lane : 0);
  walk_whole_line<Sum>(
      static_cast<int>(side), radius, static_cast<int>(layout.pitch),
      [=](unsigned y) { return static_cast<Sum>(column[y * columns]); },
      [=](int at, const Sum(&sums)[4]) {
        const auto y = static_cast<std::uint32_t>(at);
#pragma unroll
        for (std::uint32_t i = 0; i < 4; ++i) {
          tile[lane * 33 + y % 32 + i] = sums[i];
        }
        if (y % 32 == 28) {
          __syncwarp();
          for (std::uint32_t x = 0; x < here; ++x) {
            plane[std::size_t{first + x} * layout.pitch + y - 28 + lane] = tile[x * 33 + lane];
          }
          __syncwarp();
        }
      });
}

/// Grid (groups of 32 rows, groups of planes): a warp a plane. Column is what down_kernel made, Sum
/// holds every cell's last sum.
template <typename Sum, typename Column, typename Sink>
__global__ void __launch_bounds__(32 * across_warps)
    across_kernel(const Column* columns, std::uint32_t planes, ColumnLayout layout, int radius,
                  Sink sink) {
  const std::uint32_t slot = blockIdx.y * across_warps + threadIdx.x / 32;
  if (slot >= planes) {
    return;
  }
  const std::uint32_t y = blockIdx.x * 32 + threadIdx.x % 32;
  const Column* const row = columns + slot * layout.plane() + y;
  const auto put = sink.row(slot, y);
  walk_whole_line<Sum>(
      static_cast<int>(layout.side), radius, static_cast<int>((layout.side + 3) / 4 * 4),
      [=](unsigned x) { return static_cast<Sum>(row[std::size_t{x} * layout.pitch]); }, put);
}

/// The blurred hits and weight_scale() of them, or 0: [side][pitch].
struct Divisors {
  std::uint64_t* hits;
  float* scales;

  /// Those so many places on.
  [[nodiscard]] Divisors next(std::size_t places) const { return {hits + places, scales + places}; }
  __device__ void put(std::size_t at, std::uint64_t sum) const {
    hits[at] = sum;
    scales[at] = sum == 0 ? 0.0F : weight_scale(sum);
  }
};

/// Takes the blurred hits: the denominators.
struct HitsSink {
  ColumnLayout layout;
  Divisors by_column;
  Divisors by_row;
  std::uint8_t* usable;  // [side y][side x]

  [[nodiscard]] __device__ auto row(std::uint32_t /*slot*/, std::uint32_t y) const {
    return [*this, y](int first, const std::uint64_t(&sums)[4]) {
#pragma unroll
      for (std::uint32_t i = 0; i < 4; ++i) {
        const std::uint32_t x = static_cast<std::uint32_t>(first) + i;
        if (x < layout.side && y < layout.side) {
          by_column.put(std::size_t{x} * layout.pitch + y, sums[i]);
          by_row.put(std::size_t{y} * layout.pitch + x, sums[i]);
          usable[std::size_t{y} * layout.side + x] = sums[i] == 0 ? 0 : 1;
        }
      }
    };
  }
};

/// The weight of a blurred count, given weight_scale() of the hits, or 0 where there are none.
/// hits() gives the hits themselves; they are needed where the float alone leaves doubt: it is off
/// by at most five roundings of 2^-24, a sixth of the margin.
template <typename Sum, typename Hits>
[[nodiscard]] __device__ std::uint16_t weigh(Sum sum, float scale, Hits hits) {
  const float rounded = static_cast<float>(sum) * scale + 0.5F;
  const auto estimate = static_cast<std::uint32_t>(rounded);
  const float above = rounded - static_cast<float>(estimate);
  const float doubt = (rounded + 1.0F) * 0x1p-20F;
  if (above < doubt || above > 1.0F - doubt) {
    return settle_weight(sum, hits(), estimate);
  }
  return static_cast<std::uint16_t>(estimate);
}

/// Takes the blurred counts: divides, and stores the weights where the tree has them.
struct WeightSink {
  CodebookView book;
  const std::uint32_t* planes;
  ColumnLayout layout;
  Divisors by_column;

  [[nodiscard]] __device__ auto row(std::uint32_t slot, std::uint32_t y) const {
    const std::uint32_t side = layout.side;
    const bool stored = y < side;
    std::uint16_t* const weights =
        book.neurons.weights + book.position(planes[slot], stored ? y * side : 0);
    const float* const scales = by_column.scales + y;
    const std::uint64_t* const hits = by_column.hits + y;
    const std::uint32_t pitch = layout.pitch;
    const std::size_t super = std::size_t{book.descriptors} * line_weights;
    return [=](int first, const auto(&sums)[4]) {
      const auto x = static_cast<std::uint32_t>(first);
      std::uint32_t four[4];
#pragma unroll
      for (std::uint32_t i = 0; i < 4; ++i) {
        four[i] = 0;
        if (x + i < side) {
          const std::size_t at = std::size_t{x + i} * pitch;
          four[i] = weigh(sums[i], scales[at], [&] { return hits[at]; });
        }
      }
      if (stored) {
        std::uint16_t* const to = weights + x / 16 * super + x / 8 % 2 * 64 + x / 4 % 2 * 16;
        __stcs(reinterpret_cast<uint2*>(to),
               make_uint2(four[0] | four[1] << 16, four[2] | four[3] << 16));
      }
    };
  }
};

}  // namespace somatlas::gpu
