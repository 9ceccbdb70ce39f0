// Box passes over the whole plane in 32 bits where the descriptor's counts are known to fit and in
// 64 bits otherwise, or each count spread by itself where they are few.
#include "gpu/cpu_update.h"

#include <algorithm>
#include <limits>

namespace somatlas::gpu {
namespace {

/// Beyond such a radius no plane is sparse, and the factors are not made.
constexpr std::size_t largest_spread = 16;

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

Neighbourhood::Neighbourhood(std::span<const std::uint32_t> hits, MapShape shape,
                             std::size_t box_radius)
    : radius(box_radius),
      blurred(blur_hits(hits, shape, radius)),
      spread(shape.side, std::min(radius, largest_spread)) {}

void make_planes(const CpuStatistics& statistics, const Neighbourhood& neighbourhood,
                 DescriptorId begin, DescriptorId end, CpuCodebook& codebook,
                 std::span<std::uint64_t> square_sum) {
  const std::size_t side = codebook.shape.side;
  const std::size_t radius = neighbourhood.radius;
  const BlurredHits& blurred = neighbourhood.blurred;
  SparseUpdate sparse(codebook, blurred, neighbourhood.spread);
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
