// The update on the CPU, a few planes at a time: three box passes an axis and an exact division.
// Always holds: integers only, and the cost does not depend on the radius.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/backend.h"
#include "gpu/cpu_axis.h"
#include "gpu/cpu_box_blur.h"
#include "gpu/cpu_codebook.h"
#include "gpu/cpu_statistics.h"

namespace somatlas::gpu {

/// What the planes of one update share.
struct Neighbourhood {
  Neighbourhood(std::span<const std::uint32_t> hits, MapShape shape, std::size_t radius);

  BlurredHits blurred;
  AxisSpread axis;
};

/// Makes the planes of descriptors [begin, end) from settled statistics (section 2, "Update") and
/// writes them to the codebook; adds their squares to squares, one a slot. One thread; disjoint
/// ranges may be made at the same time with sums of their own.
void make_planes(const CpuStatistics& statistics, const Neighbourhood& neighbourhood,
                 DescriptorId begin, DescriptorId end, CpuCodebook& codebook,
                 std::span<ChunkSquares> squares);

}  // namespace somatlas::gpu
