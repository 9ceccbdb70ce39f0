// The codebook as the CPU keeps it: chunks of 64 neurons, within a chunk the weights feature-major,
// so that a search walks one chunk of a few megabytes after the other. Always holds: neurons are in
// row-major order; vacant and padded ones have weights 0 and norm padded_norm.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/backend.h"

namespace somatlas::gpu {

/// Neurons in a chunk; their weights of one descriptor fill two cache lines.
inline constexpr std::size_t chunk_neurons = 64;

struct alignas(64) WeightBlock {
  std::array<std::uint16_t, chunk_neurons> weight{};
};
struct alignas(64) NormBlock {
  std::array<std::int32_t, chunk_neurons> norm{};  // of neuron i at norm_place(i)
};
/// Even neurons first, then odd ones: the order in which a search has its sums.
[[nodiscard]] constexpr std::size_t norm_place(std::size_t neuron) {
  return neuron % chunk_neurons / 2 + neuron % 2 * (chunk_neurons / 2);
}

struct CpuCodebook {
  /// Every neuron vacant.
  explicit CpuCodebook(MapShape map_shape);

  MapShape shape;
  std::size_t chunks;
  std::vector<WeightBlock> weights;       // [chunk][descriptor]
  std::vector<NormBlock> norms;           // [chunk]; padded_norm where vacant or padded
  std::vector<std::uint64_t> square_sum;  // [M]
  std::vector<std::uint8_t> vacant;       // [M]

  /// The weights of a chunk, one block a descriptor.
  [[nodiscard]] std::span<const WeightBlock> chunk(std::size_t number) const {
    return {weights.data() + number * shape.descriptors, shape.descriptors};
  }
};

/// Writes one plane, M weights.
void store_plane(CpuCodebook& codebook, DescriptorId descriptor,
                 std::span<const std::uint16_t> plane);
/// Reads one plane, M weights.
void fetch_plane(const CpuCodebook& codebook, DescriptorId descriptor,
                 std::span<std::uint16_t> plane);
/// Adds the squares of a plane to M sums.
void add_squares(std::span<const std::uint16_t> plane, std::span<std::uint64_t> sums);
/// Makes the norms from square_sum and vacant. Throws std::invalid_argument where a sum is above
/// max_square_sum.
void make_norms(CpuCodebook& codebook);

}  // namespace somatlas::gpu
