// Planes of a few consecutive descriptors on their way to the codebook. There a chunk's weights of
// one descriptor lie megabytes from those of the next chunk, so that a plane by itself spends most
// of its time on finding pages; those of consecutive descriptors lie side by side. Always holds:
// what is not put is zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/cpu_codebook.h"

namespace somatlas::gpu {

/// One thread's batch.
class PlaneBatch {
 public:
  /// Planes at once, which fit a second-level cache at side 256.
  static constexpr std::size_t most = 8;

  /// codebook must outlive it.
  explicit PlaneBatch(CpuCodebook& codebook);

  /// Puts a patch's weights, patch_rows x patch_columns of them, into the plane of that number.
  void put(std::size_t patch, std::size_t plane, const std::uint16_t* weights);
  /// Writes the planes of [begin, end), at most `most` and within a multiple of it, and their
  /// bounds, adds their squares, one a slot, and forgets them. Other threads may do so for other
  /// descriptors.
  void store(DescriptorId begin, DescriptorId end, std::span<ChunkSquares> squares);

 private:
  CpuCodebook& codebook_;
  std::vector<std::array<std::uint32_t, 2>> slots_;  // [patch]: of its chunks
  std::vector<WeightBlock> weights_;                 // [slot][most]
  std::vector<std::uint8_t> reached_;                // [slot], a bit a plane
};

}  // namespace somatlas::gpu
