// Box passes by prefix sums along rows and by sliding sums down columns, in 32 bits where the
// descriptor's counts are known to fit and in 64 bits otherwise.
#include "gpu/cpu_update.h"

#include <algorithm>
#include <limits>

#include "gpu/cpu_sparse_update.h"

namespace somatlas::gpu {
namespace {

constexpr int passes = 3;

/// One pass along a row: differences of prefix sums, which may wrap, since the windows' sums do
/// not.
template <class Sum>
void blur_row(std::span<Sum> row, std::span<Sum> prefix, std::size_t radius) {
  const std::size_t side = row.size();
  Sum sum = 0;
  prefix[0] = 0;
  for (std::size_t x = 0; x < side; ++x) {
    sum += row[x];
    prefix[x + 1] = sum;
  }
  for (std::size_t x = 0; x < side; ++x) {
    row[x] = prefix[std::min(side, x + radius + 1)] - prefix[x - std::min(x, radius)];
  }
}

/// One pass down all columns: a row of running sums gains the row that enters the window and loses
/// the one that leaves it.
template <class Sum>
void blur_columns(std::span<const Sum> in, std::span<Sum> out, std::span<Sum> running,
                  std::size_t radius) {
  const std::size_t side = running.size();
  std::fill(running.begin(), running.end(), Sum{0});
  const auto add_row = [&](std::size_t y) {
    const Sum* row = in.data() + y * side;
    for (std::size_t x = 0; x < side; ++x) {
      running[x] += row[x];
    }
  };
  for (std::size_t y = 0; y < std::min(radius, side); ++y) {
    add_row(y);
  }
  for (std::size_t y = 0; y < side; ++y) {
    if (y + radius < side) {
      add_row(y + radius);
    }
    if (y > radius) {
      const Sum* row = in.data() + (y - radius - 1) * side;
      for (std::size_t x = 0; x < side; ++x) {
        running[x] -= row[x];
      }
    }
    std::copy(running.begin(), running.end(), out.data() + y * side);
  }
}

/// Whether blurred counts that sum to total before the blur fit 32 bits: a pass multiplies a sum by
/// at most the window's width, and three passes an axis by no more than its square.
bool fits_32_bits(std::uint64_t total, std::size_t side, std::size_t radius) {
  const auto width = static_cast<std::uint64_t>(std::min(2 * radius + 1, side));
  constexpr std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t bound = total;
  for (int factor = 0; factor < 4 && bound <= limit; ++factor) {
    bound *= width;
  }
  return bound <= limit;
}

template <class Sum>
void weights_of(std::span<const CountedCell> cells, const BlurredHits& blurred, std::size_t side,
                std::size_t radius, std::vector<Sum>& plane, std::vector<Sum>& scratch,
                std::span<std::uint16_t> out) {
  plane.assign(out.size(), 0);
  for (const CountedCell& cell : cells) {
    plane[cell.neuron] = cell.count;
  }
  scratch.resize(out.size());
  box_blur<Sum>(plane, scratch, side, radius);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = weight_of_sum(plane[i], blurred, i);
  }
}

}  // namespace

template <class Sum>
void box_blur(std::span<Sum> plane, std::span<Sum> scratch, std::size_t side, std::size_t radius) {
  const std::size_t reach = std::min(radius, side);
  std::vector<Sum> line(side + 1);
  for (std::size_t y = 0; y < side; ++y) {
    const std::span<Sum> row = plane.subspan(y * side, side);
    if (std::all_of(row.begin(), row.end(), [](Sum value) { return value == 0; })) {
      continue;
    }
    for (int pass = 0; pass < passes; ++pass) {
      blur_row<Sum>(row, line, reach);
    }
  }
  const std::span<Sum> running(line.data(), side);
  blur_columns<Sum>(plane, scratch, running, reach);
  blur_columns<Sum>(scratch, plane, running, reach);
  blur_columns<Sum>(plane, scratch, running, reach);
  std::copy(scratch.begin(), scratch.end(), plane.begin());
}

template void box_blur(std::span<std::uint32_t> plane, std::span<std::uint32_t> scratch,
                       std::size_t side, std::size_t radius);
template void box_blur(std::span<std::uint64_t> plane, std::span<std::uint64_t> scratch,
                       std::size_t side, std::size_t radius);

BlurredHits blur_hits(std::span<const std::uint32_t> hits, MapShape shape, std::size_t radius) {
  BlurredHits blurred;
  blurred.hits.assign(hits.begin(), hits.end());
  std::vector<std::uint64_t> scratch(hits.size());
  box_blur<std::uint64_t>(blurred.hits, scratch, shape.side, radius);
  blurred.scale.resize(hits.size());
  for (std::size_t i = 0; i < hits.size(); ++i) {
    blurred.scale[i] = blurred.hits[i] == 0 ? 0.0F : weight_scale(blurred.hits[i]);
  }
  return blurred;
}

void make_planes(const CpuStatistics& statistics, const BlurredHits& blurred, std::size_t radius,
                 DescriptorId begin, DescriptorId end, CpuCodebook& codebook,
                 std::span<std::uint64_t> square_sum) {
  const std::size_t side = codebook.shape.side;
  // Beyond such a radius no plane is sparse, and the factors are not made.
  constexpr std::size_t largest_spread = 16;
  const AxisSpread axis(side, std::min(radius, largest_spread));
  SparseUpdate sparse(codebook, blurred, axis);
  std::vector<CountedCell> cells;
  std::vector<std::uint16_t> weights(blurred.hits.size());
  std::vector<std::uint32_t> narrow_plane;
  std::vector<std::uint32_t> narrow_scratch;
  std::vector<std::uint64_t> wide_plane;
  std::vector<std::uint64_t> wide_scratch;
  for (DescriptorId descriptor = begin; descriptor < end; ++descriptor) {
    const std::uint64_t total = statistics.cells(descriptor, cells);
    const bool narrow = fits_32_bits(total, side, radius);
    if (narrow && radius <= largest_spread && sparse.pays(cells.size())) {
      sparse.make_plane(descriptor, cells, square_sum);
      continue;
    }
    if (narrow) {
      weights_of<std::uint32_t>(cells, blurred, side, radius, narrow_plane, narrow_scratch,
                                weights);
    } else {
      weights_of<std::uint64_t>(cells, blurred, side, radius, wide_plane, wide_scratch, weights);
    }
    store_plane(codebook, descriptor, weights);
    add_squares(weights, square_sum);
  }
}

}  // namespace somatlas::gpu
