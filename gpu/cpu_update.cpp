// Box passes over the whole plane in 32 bits where the descriptor's counts are known to fit and in
// 64 bits otherwise, or each count spread by itself where they are few.
#include "gpu/cpu_update.h"

#include <algorithm>
#include <limits>
#include <type_traits>

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

/// One thread's updates over whole planes.
template <class Sum>
class WholePlane {
 public:
  WholePlane(std::size_t side, const Neighbourhood& neighbourhood)
      : neighbourhood_(neighbourhood), blur_(side), neurons_(side * side) {}

  /// out: whole_runs(M) weights.
  void make(std::span<const CountedCell> cells, std::span<std::uint16_t> out) {
    sums_.assign(out.size(), 0);
    for (const CountedCell& cell : cells) {
      sums_[cell.neuron] = cell.count;
    }
    blur_.run(std::span(sums_).first(neurons_), neighbourhood_.radius);
    weigh(out);
    settle_doubtful(out, [this](std::size_t i, std::uint32_t estimate) {
      return settle_weight(sums_[i], neighbourhood_.blurred.hits[i], estimate);
    });
  }

 private:
  void weigh(std::span<std::uint16_t> out) const {
    const float* const scale = neighbourhood_.blurred.scale.data();
    if constexpr (std::is_same_v<Sum, std::uint32_t>) {
      kernels().weigh_32(sums_.data(), scale, out.size(), out.data());
    } else {
      kernels().weigh_64(sums_.data(), scale, out.size(), out.data());
    }
  }

  const Neighbourhood& neighbourhood_;
  BoxBlur<Sum> blur_;
  std::size_t neurons_;
  std::vector<Sum> sums_;
};

}  // namespace

Neighbourhood::Neighbourhood(std::span<const std::uint32_t> hits, MapShape shape,
                             std::size_t box_radius)
    : radius(box_radius),
      blurred(blur_hits(hits, shape, radius)),
      spread(shape.side, std::min(radius, largest_spread)) {}

void make_planes(const CpuStatistics& statistics, const Neighbourhood& neighbourhood,
                 DescriptorId begin, DescriptorId end, CpuCodebook& codebook,
                 std::span<ChunkSquares> squares) {
  const std::size_t side = codebook.shape.side;
  const std::size_t radius = neighbourhood.radius;
  SparseUpdate sparse(codebook, neighbourhood.blurred, neighbourhood.spread);
  std::vector<CountedCell> cells;
  std::vector<std::uint16_t> weights(whole_runs(codebook.shape.neurons()));
  const std::span<const std::uint16_t> plane = std::span(weights).first(codebook.shape.neurons());
  WholePlane<std::uint32_t> narrow_plane(side, neighbourhood);
  WholePlane<std::uint64_t> wide_plane(side, neighbourhood);
  for (DescriptorId descriptor = begin; descriptor < end; ++descriptor) {
    const std::uint64_t total = statistics.cells(descriptor, cells);
    const bool narrow = fits_32_bits(total, side, radius);
    if (narrow && radius <= largest_spread && sparse.pays(cells.size())) {
      sparse.make_plane(descriptor, cells, squares);
      continue;
    }
    if (narrow) {
      narrow_plane.make(cells, weights);
    } else {
      wide_plane.make(cells, weights);
    }
    store_plane(codebook, descriptor, plane);
    add_squares(codebook, descriptor, squares);
  }
}

}  // namespace somatlas::gpu
