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

/// Where what belongs to neurons lies for lanes that walk lines side by side: [place / 4][line]
/// [place % 4]. Blurred columns are [planes] of that, a line a row y and a place a column x, with
/// four columns of 0 at the end.
struct LineLayout {
  std::uint32_t side;
  std::uint32_t pitch;  // lines, with some to fill up a warp
  [[nodiscard]] static constexpr LineLayout of(std::uint32_t side) {
    return {side, (side + 31) / 32 * 32};
  }
  [[nodiscard]] __host__ __device__ constexpr std::uint32_t quads() const { return (side + 3) / 4; }
  /// Of four places from a multiple of four on, among quads.
  [[nodiscard]] __host__ __device__ constexpr std::size_t quad(std::uint32_t line,
                                                               std::uint32_t place) const {
    return std::size_t{place / 4} * pitch + line;
  }
  [[nodiscard]] __host__ __device__ constexpr std::size_t at(std::uint32_t line,
                                                             std::uint32_t place) const {
    return quad(line, place) * 4 + place % 4;
  }
  [[nodiscard]] __host__ __device__ constexpr std::size_t places() const {
    return std::size_t{quads()} * 4 * pitch;
  }
  [[nodiscard]] __host__ __device__ constexpr std::size_t plane() const {
    return places() + std::size_t{4} * pitch;
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
/// plane there is. No count passes what Cell holds and no blurred column what Sum holds. A group
/// has fixed_columns columns, which saves multiplications, or some_columns where that is 0.
template <typename Cell, typename Sum, std::uint32_t fixed_columns, typename Counts>
__global__ void __launch_bounds__(32)
    down_kernel(Counts counts, const std::uint32_t* planes, LineLayout layout, int radius,
                std::uint32_t some_columns, Sum* out) {
  const std::uint32_t columns = fixed_columns != 0 ? fixed_columns : some_columns;
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
  auto* const plane = reinterpret_cast<Quad<Sum>*>(out + blockIdx.y * layout.plane());
  const std::uint32_t end = min(first + columns, layout.quads() * 4);
  const bool any =
      counts.load_columns(planes == nullptr ? 0 : planes[blockIdx.y], first, columns, cells);
  __syncwarp();
  if (blockIdx.x == 0) {
    for (std::uint32_t y = lane; y < layout.pitch; y += 32) {
      plane[layout.quad(y, layout.quads() * 4)] = {};
    }
  }
  if (!any) {
    for (std::uint32_t x = first; x < end; x += 4) {
      for (std::uint32_t y = lane; y < layout.pitch; y += 32) {
        plane[layout.quad(y, x)] = {};
      }
    }
    return;
  }
  const Cell* const column = cells + (lane < columns ? lane : 0);
  walk_line<Sum>(
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
          const Sum* from = tile + lane;
          for (std::uint32_t x = first; x < end; x += 4, from += 4 * 33) {
            plane[layout.quad(y - 28 + lane, x)] = {from[0], from[33], from[66], from[99]};
          }
          __syncwarp();
        }
      });
}

/// Grid (groups of 32 rows, groups of planes): a warp a plane. Column is what down_kernel made, Sum
/// holds every cell's last sum; radius % 4 is residue.
template <typename Sum, int residue, typename Column, typename Sink>
__global__ void __launch_bounds__(32 * across_warps)
    across_kernel(const Column* columns, std::uint32_t planes, LineLayout layout, int radius,
                  Sink sink) {
  const std::uint32_t slot = blockIdx.y * across_warps + threadIdx.x / 32;
  if (slot >= planes) {
    return;
  }
  const std::uint32_t y = blockIdx.x * 32 + threadIdx.x % 32;
  const auto* const row =
      reinterpret_cast<const Quad<Column>*>(columns + slot * layout.plane()) + y;
  const auto cells = sink.row(slot, y);
  walk_quads<Sum, residue, Column>(
      static_cast<int>(layout.side), radius,
      [=](unsigned quad) { return row[std::size_t{quad} * layout.pitch]; },
      [=](int first) { return cells.fetch(static_cast<std::uint32_t>(first)); },
      [=](int first, const Sum(&sums)[4], auto fetched) {
        cells.put(static_cast<std::uint32_t>(first), sums, fetched);
      });
}

/// weight_scale(), or 0 for a vacant neuron.
[[nodiscard]] __device__ inline float scale_of(std::uint64_t hits) {
  return hits == 0 ? 0.0F : weight_scale(hits);
}

/// The blurred hits and scale_of() them, as LineLayout has them.
struct Divisors {
  std::uint64_t* hits;
  float* scales;

  __device__ void put(std::size_t at, std::uint64_t sum) const {
    hits[at] = sum;
    scales[at] = scale_of(sum);
  }
};

/// Where the blurred hits go.
struct HitsTarget {
  LineLayout layout;
  Divisors divisors;     // a line a row
  float* scales;         // [side y][quads of x], and 0 up to a multiple of four rows
  std::uint8_t* usable;  // [side y][side x]
};

/// For a walk whose results need nothing beside them.
struct Nothing {};

/// Takes the blurred hits: the denominators.
struct HitsSink {
  HitsTarget target;

  struct Row {
    HitsTarget target;
    std::uint32_t y;

    [[nodiscard]] __device__ Nothing fetch(std::uint32_t /*first*/) const { return {}; }
    __device__ void put(std::uint32_t first, const std::uint64_t (&sums)[4], Nothing) const {
      const LineLayout layout = target.layout;
      const std::uint32_t side = layout.side;
      if (y < layout.quads() * 4) {
        Quad<float> four = {};
#pragma unroll
        for (std::uint32_t i = 0; i < 4; ++i) {
          four.value[i] = y < side && first + i < side ? scale_of(sums[i]) : 0.0F;
        }
        reinterpret_cast<Quad<float>*>(target.scales)[std::size_t{y} * layout.quads() + first / 4] =
            four;
      }
#pragma unroll
      for (std::uint32_t i = 0; i < 4; ++i) {
        const std::uint32_t x = first + i;
        if (x < side && y < side) {
          target.divisors.put(layout.at(y, x), sums[i]);
          target.usable[std::size_t{y} * side + x] = sums[i] == 0 ? 0 : 1;
        }
      }
    }
  };
  [[nodiscard]] __device__ Row row(std::uint32_t /*slot*/, std::uint32_t y) const {
    return {target, y};
  }
};

/// The weights of four blurred counts. hits(i) gives the hits of one, which are needed where the
/// float alone leaves doubt.
template <typename Sum, typename Hits>
__device__ void weigh(const Sum (&sums)[4], const float (&scales)[4], Hits hits,
                      std::uint32_t (&weights)[4]) {
  bool doubtful = false;
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) {
    const WeightEstimate estimate = estimate_weight(static_cast<float>(sums[i]), scales[i]);
    weights[i] = estimate.weight;
    doubtful |= estimate.doubtful;
  }
  if (doubtful) {
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) {
      if (estimate_weight(static_cast<float>(sums[i]), scales[i]).doubtful) {
        weights[i] = settle_weight(sums[i], hits(i), weights[i]);
      }
    }
  }
}

/// Takes the blurred counts: divides, and stores the weights where the tree has them.
struct WeightSink {
  CodebookView book;
  const std::uint32_t* planes;
  LineLayout layout;
  Divisors divisors;

  struct Row {
    std::uint16_t* weights;  // of the row's first neuron
    std::size_t super;       // from the weights of one to those of the next
    Divisors divisors;
    LineLayout layout;
    std::uint32_t y;

    [[nodiscard]] __device__ Quad<float> fetch(std::uint32_t first) const {
      return reinterpret_cast<const Quad<float>*>(divisors.scales)[layout.quad(y, first)];
    }
    template <typename Sum>
    __device__ void put(std::uint32_t first, const Sum (&sums)[4],
                        const Quad<float>& scales) const {
      std::uint32_t four[4];
      weigh(
          sums, scales.value,
          [&](std::uint32_t i) { return divisors.hits[layout.at(y, first + i)]; }, four);
      if (first + 4 > layout.side) {
#pragma unroll
        for (std::uint32_t i = 0; i < 4; ++i) {
          four[i] = first + i < layout.side ? four[i] : 0;
        }
      }
      if (y < layout.side) {
        std::uint16_t* const to =
            weights + first / 16 * super + first / 8 % 2 * 64 + first / 4 % 2 * 16;
        *reinterpret_cast<uint2*>(to) =
            make_uint2(four[0] | four[1] << 16, four[2] | four[3] << 16);
      }
    }
  };
  [[nodiscard]] __device__ Row row(std::uint32_t slot, std::uint32_t y) const {
    const std::uint32_t inside = min(y, layout.side - 1);
    return {book.neurons.weights + book.position(planes[slot], inside * layout.side),
            std::size_t{book.descriptors} * line_weights, divisors, layout, y};
  }
};

}  // namespace somatlas::gpu
