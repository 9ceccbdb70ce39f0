// The codebook as the CPU keeps it: chunks of 64 neurons in the order of the plane tree, within a
// chunk the weights feature-major, so that a search walks one chunk of a few megabytes after the
// other; and above them, for exact pruning, the largest weight in every block and super. Always
// holds: vacant neurons and places beyond the edge have weights 0 and norm padded_norm; a bound
// table holds maxima of what is stored, and the least norm of what is usable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "gpu/backend.h"
#include "gpu/cpu_kernels.h"
#include "gpu/large_array.h"
#include "gpu/plane_tree.h"

namespace somatlas::gpu {

struct alignas(64) WeightBlock {
  std::array<std::uint16_t, chunk_neurons> weight{};
};
/// Norms or scores of a chunk; of place i in run i / lanes at score_lane(i).
using ChunkLanes = std::array<Lanes, chunk_neurons / lanes>;
/// Sums of squares of a chunk's weights.
using ChunkSquares = std::array<std::uint64_t, chunk_neurons>;

/// Bounds of one level of the tree: for every descriptor and node the largest weight below it, for
/// every node the least norm of a usable neuron below it.
struct BoundTable {
  BoundTable(std::size_t nodes, std::size_t descriptors);

  std::size_t nodes;
  std::size_t stride;              // nodes, filled up to whole chunks
  LargeArray<std::uint16_t> most;  // [descriptor][stride]
  std::vector<ChunkLanes> least;   // [stride / chunk_neurons]; padded_norm where none is usable

  [[nodiscard]] std::span<std::uint16_t> row(DescriptorId descriptor) {
    return {most.data() + descriptor * stride, stride};
  }
  [[nodiscard]] std::span<const std::uint16_t> row(DescriptorId descriptor) const {
    return {most.data() + descriptor * stride, stride};
  }
};

struct CpuCodebook {
  /// Every neuron vacant.
  explicit CpuCodebook(MapShape map_shape);

  MapShape shape;
  PlaneTree tree;
  // With no descriptors the tables still have one, so that what begins in them is somewhere.
  LargeArray<WeightBlock> weights;  // [slot of the chunk][descriptor]
  std::vector<ChunkLanes> norms;    // [slot]; padded_norm where vacant or beyond the edge
  BoundTable blocks;
  BoundTable supers;
  std::vector<std::uint64_t> square_sum;  // [M], row-major
  std::vector<std::uint8_t> vacant;       // [M], row-major
  std::vector<std::uint64_t> present;     // [slot][descriptor / 64]: a bit where any weight is

  /// The weights of a filled chunk, one block a descriptor.
  [[nodiscard]] const WeightBlock* chunk(std::size_t slot) const {
    return weights.data() + slot * shape.descriptors;
  }
  /// The bits of a filled chunk's descriptors that have a weight there.
  [[nodiscard]] const std::uint64_t* present_in(std::size_t slot) const {
    return present.data() + slot * present_words();
  }
  [[nodiscard]] std::size_t present_words() const { return (shape.descriptors + 63) / 64; }
  [[nodiscard]] std::int32_t norm(Neuron neuron) const;
};

/// Bytes of a codebook of this shape.
[[nodiscard]] std::size_t codebook_bytes(MapShape shape);

/// Writes one plane, M weights row-major, and its bounds.
void store_plane(CpuCodebook& codebook, DescriptorId descriptor,
                 std::span<const std::uint16_t> plane);
/// Puts 8 rows of 8 weights, pitch apart, into a chunk's order.
void rows_to_chunk(const std::uint16_t* rows, std::size_t pitch, std::uint16_t* chunk);
/// Whether any of the bounds of a chunk's four blocks is not 0: whether it holds weights.
[[nodiscard]] inline bool any_of_four(const std::uint16_t* maxima) {
  std::uint64_t four = 0;
  std::memcpy(&four, maxima, sizeof four);
  return four != 0;
}
/// After chunks were written and the bounds of their blocks: makes those of all supers.
void bound_supers(CpuCodebook& codebook, DescriptorId descriptor);
/// For descriptors from first on whose bit is set in which, within 64 of the table: turns over
/// whether a chunk has a weight of them. Other threads may do so for other descriptors.
void flip_present(CpuCodebook& codebook, std::size_t slot, DescriptorId first, std::uint64_t which);
/// Reads one plane, M weights row-major.
void fetch_plane(const CpuCodebook& codebook, DescriptorId descriptor,
                 std::span<std::uint16_t> plane);
/// Adds the squares of a plane to sums, one a slot.
void add_squares(const CpuCodebook& codebook, DescriptorId descriptor,
                 std::span<ChunkSquares> sums);
/// Makes square_sum of the sums of all planes.
void set_square_sums(CpuCodebook& codebook, std::span<const ChunkSquares> sums);
/// Makes the norms, and the least of every block and super, from square_sum and vacant. Throws
/// std::invalid_argument where a sum is above max_square_sum.
void make_norms(CpuCodebook& codebook);

}  // namespace somatlas::gpu
