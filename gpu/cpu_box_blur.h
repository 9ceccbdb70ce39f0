// Three box passes along each axis of a plane, and the exact division that makes weights of blurred
// counts. Always holds: integers only, and the cost does not depend on the radius.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/backend.h"
#include "gpu/contract.h"

namespace somatlas::gpu {

/// Replaces a side x side plane by its sums over windows of half-width radius, clipped at the
/// border, three times along each axis (section 2, "Neighbourhood"). Sum is std::uint32_t or
/// std::uint64_t and holds the largest result; scratch is as large as the plane.
template <class Sum>
void box_blur(std::span<Sum> plane, std::span<Sum> scratch, std::size_t side, std::size_t radius);

/// hits~ and what the division needs of it, M values each.
struct BlurredHits {
  std::vector<std::uint64_t> hits;
  std::vector<float> scale;  // weight_scale(hits); 0 where hits is 0
};
[[nodiscard]] BlurredHits blur_hits(std::span<const std::uint32_t> hits, MapShape shape,
                                    std::size_t radius);

/// The weight of a neuron from its blurred count. Where hits~ is 0 the count is 0 too.
template <class Sum>
[[nodiscard]] inline std::uint16_t weight_of_sum(Sum sum, const BlurredHits& blurred,
                                                 std::size_t neuron) {
  return sum == 0 ? std::uint16_t{0}
                  : settle_weight(sum, blurred.hits[neuron],
                                  estimate_weight(sum, blurred.scale[neuron]));
}

}  // namespace somatlas::gpu
