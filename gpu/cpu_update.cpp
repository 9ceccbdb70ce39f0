// In 32 bits where the descriptor's blurred counts are known to fit and in 64 bits otherwise.
#include "gpu/cpu_update.h"

#include <algorithm>
#include <limits>

#include "gpu/cpu_plane_batch.h"
#include "gpu/cpu_plane_update.h"

namespace somatlas::gpu {
namespace {

/// Whether blurred counts that sum to total before the blur fit 32 bits.
bool fits_32_bits(std::uint64_t total, std::uint64_t most_factor) {
  constexpr std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
  return total <= limit / most_factor / most_factor;
}

}  // namespace

Neighbourhood::Neighbourhood(std::span<const std::uint32_t> hits, MapShape shape,
                             std::size_t radius)
    : blurred(blur_hits(hits, shape, radius)), axis(shape.side, radius) {}

void make_planes(const CpuStatistics& statistics, const Neighbourhood& neighbourhood,
                 DescriptorId begin, DescriptorId end, CpuCodebook& codebook,
                 std::span<ChunkSquares> squares) {
  const AxisSpread& axis = neighbourhood.axis;
  std::vector<CountedCell> cells;
  PlaneUpdate<std::uint32_t> narrow(codebook.shape, axis, neighbourhood.blurred);
  PlaneUpdate<std::uint64_t> wide(codebook.shape, axis, neighbourhood.blurred);
  PlaneBatch batch(codebook);
  while (begin < end) {
    constexpr DescriptorId most = PlaneBatch::most;
    const DescriptorId next = std::min(end, begin / most * most + most);
    for (DescriptorId descriptor = begin; descriptor < next; ++descriptor) {
      const std::uint64_t total = statistics.cells(descriptor, cells);
      if (fits_32_bits(total, axis.most_factor())) {
        narrow.make(cells, batch, descriptor - begin);
      } else {
        wide.make(cells, batch, descriptor - begin);
      }
    }
    batch.store(begin, next, squares);
    begin = next;
  }
}

}  // namespace somatlas::gpu
