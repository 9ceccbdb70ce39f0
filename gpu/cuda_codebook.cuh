// The codebook on the device: weights feature-major in the tree's order (plane_tree.h), a super's
// 256 neurons to a line, [super][V][256], so that one warp reads a descriptor's 256 weights as 512
// bytes; and a table of bounds for each inner level of the tree, laid out like a codebook of its
// nodes. Always holds: places beyond the map's edge and vacant neurons have weight 0 and the norm
// padded_norm, so their score is INT32_MAX, which no usable neuron reaches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gpu/backend.h"
#include "gpu/contract.h"
#include "gpu/cuda_buffer.cuh"
#include "gpu/plane_tree.h"

namespace somatlas::gpu {

/// Weights in a line: of a super's neurons, or the maxima of as many nodes.
inline constexpr std::uint32_t line_weights = super_neurons;

/// A line takes so many bytes, also where its weights are bytes and leave half of them.
inline constexpr std::uint32_t line_bytes = line_weights * sizeof(std::uint16_t);

/// Rows of 256 weights that a warp walks, [lines][descriptors][line_bytes].
template <typename Weight>
struct LineTable {
  Weight* weights;
  std::int32_t* norms;  // [lines * 256]
  std::uint32_t lines;
};
/// Of each node the most of the weights below it, and the least of the norms. Coarse, the weights
/// are divided by their descriptor's unit and rounded up: a byte, so that a search reads half as
/// much.
struct BoundLines {
  std::byte* lines;  // a LineTable's weights, of either kind
  std::int32_t* norms;
  std::uint32_t count;

  [[nodiscard]] __host__ __device__ LineTable<std::uint16_t> fine() const {
    return {reinterpret_cast<std::uint16_t*>(lines), norms, count};
  }
  [[nodiscard]] __host__ __device__ LineTable<std::uint8_t> coarse() const {
    return {reinterpret_cast<std::uint8_t*>(lines), norms, count};
  }
};

/// The unit where some weight of the descriptor passes most_small_weight. Up to there squares are
/// too little of a score to be bounded too, which only this unit allows.
inline constexpr std::uint32_t full_bound_unit = 65;
static_assert(weight_one <= UINT8_MAX * full_bound_unit);
inline constexpr std::uint32_t most_small_weight = 4096;
/// The unit of a descriptor whose largest weight is most: 1 to most_small_unit, or the full one.
[[nodiscard]] constexpr std::uint8_t bound_unit(std::uint32_t most) {
  return most > most_small_weight ? full_bound_unit
         : most == 0              ? 1
                                  : static_cast<std::uint8_t>((most + UINT8_MAX - 1) / UINT8_MAX);
}
inline constexpr std::uint32_t most_small_unit = bound_unit(most_small_weight);

/// What a line of a super is known to hold.
namespace line_holds {
inline constexpr std::uint8_t weights = 1;  // some that are not 0, or may be
inline constexpr std::uint8_t bytes = 2;    // none that passes a byte
}  // namespace line_holds

/// What a kernel sees of a codebook.
struct CodebookView {
  LineTable<std::uint16_t> neurons;  // a line a super: its neurons' weights and norms
  BoundLines blocks;                 // a line for every 16 supers
  BoundLines supers;                 // a line for every 256 supers
  std::uint8_t* units;               // [descriptors], of coarse bounds
  std::uint8_t* held;                // [lines of supers][descriptors][256]: flags of line_holds
  std::uint64_t* square_sums;        // [places]
  // [supers][present_words()]: of 32 descriptors, in x a bit where one has a weight in the super,
  // in y one where besides none of its weights there passes a byte, if there are byte lines.
  uint2* present;
  std::uint8_t* byte_lines;  // [supers][descriptors][256], filled where y says so, or null
  std::uint32_t side;
  std::uint32_t descriptors;
  std::uint32_t neuron_count;
  std::uint32_t super_count;
  bool coarse;            // the tables of bounds are
  std::uint64_t version;  // another whenever the weights have changed

  [[nodiscard]] __host__ __device__ std::uint32_t present_words() const {
    return (descriptors + 31) / 32;
  }

  /// Where the weight of a descriptor at a neuron is in neurons.weights.
  [[nodiscard]] __host__ __device__ std::size_t position(std::uint32_t descriptor,
                                                         std::uint32_t neuron) const {
    const std::size_t place = tree_place(side, neuron);
    const std::size_t line = place / line_weights * descriptors + descriptor;
    return line * line_weights + place % line_weights;
  }
};

/// Owner of lines and norms.
class LineBuffer {
 public:
  [[nodiscard]] static std::size_t bytes(std::size_t lines, std::size_t descriptors) {
    return lines * (descriptors * line_bytes + line_weights * sizeof(std::int32_t));
  }
  /// Weights 0, every node vacant.
  LineBuffer(std::size_t lines, std::size_t descriptors, MemoryAccount& account, const char* what,
             StreamView stream);
  [[nodiscard]] BoundLines view() const {
    return {lines_.data(), norms_.data(), static_cast<std::uint32_t>(norms_.size() / line_weights)};
  }
  /// Weights 0.
  void clear(StreamView stream) const { lines_.fill_bytes(0, stream); }

 private:
  DeviceBuffer<std::byte> lines_;
  DeviceBuffer<std::int32_t> norms_;
};

/// Owner of a codebook. All calls enqueue on the stream unless they say otherwise.
class Codebook {
 public:
  /// Bytes on the device of a codebook of this shape.
  [[nodiscard]] static std::size_t bytes(MapShape shape);
  /// Weights 0, every neuron vacant.
  Codebook(MapShape shape, MemoryAccount& account, StreamView stream);

  [[nodiscard]] CodebookView view() const;
  /// Writes weights 0 at the planes listed, an array of count numbers on the device.
  void clear_planes(const std::uint32_t* planes, std::size_t count, StreamView stream);
  /// Says of all supers' lines of the planes listed that they hold weights, or may, or none.
  void mark_planes(const std::uint32_t* planes, std::size_t count, bool hold, StreamView stream);
  /// Makes square sums, norms, both tables of bounds, the present bits and the byte lines from the
  /// stored weights.
  /// usable: M flags on the device, row-major, 0 where the neuron is vacant. marked: whether it is
  /// known which lines hold no weights, so that these are not read. coarse: whether bounds are to
  /// be.
  void make_norms(const std::uint8_t* usable, bool marked, bool coarse, StreamView stream);
  /// Whether the tables of bounds are those of the stored weights.
  [[nodiscard]] bool bounded() const { return bounded_; }
  /// Copies count planes, [count][M] row-major on the device, into the codebook from descriptor
  /// first on, and back out of it.
  void put_planes(DescriptorId first, std::size_t count, const std::uint16_t* planes,
                  StreamView stream);
  void get_planes(DescriptorId first, std::size_t count, std::uint16_t* planes,
                  StreamView stream) const;
  /// Norms, square sums and vacant flags on the host; hits stay empty. Synchronous.
  [[nodiscard]] Cells read_cells(StreamView stream) const;

 private:
  MapShape shape_;
  std::size_t supers_;
  LineBuffer neurons_;
  LineBuffer block_bounds_;
  LineBuffer super_bounds_;
  DeviceBuffer<std::uint8_t> units_;
  DeviceBuffer<std::uint8_t> held_;
  DeviceBuffer<std::uint64_t> square_sums_;
  DeviceBuffer<uint2> present_;
  DeviceBuffer<std::uint8_t> byte_lines_;
  std::uint64_t version_ = 1;
  bool bounded_ = true;
  bool coarse_ = false;
};

}  // namespace somatlas::gpu
