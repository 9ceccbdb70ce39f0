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
#include "gpu/cuda_buffer.cuh"
#include "gpu/plane_tree.h"

namespace somatlas::gpu {

/// Weights in a line: of a super's neurons, or the maxima of as many nodes.
inline constexpr std::uint32_t line_weights = super_neurons;

/// Rows of 256 weights that a warp walks: line(l, v) of descriptor v is at (l * V + v) * 256.
struct LineTable {
  std::uint16_t* weights;  // [lines][descriptors][256]
  std::int32_t* norms;     // [lines * 256]
  std::uint32_t lines;
};

/// What a kernel sees of a codebook.
struct CodebookView {
  LineTable neurons;  // a line a super: its neurons' weights and norms
  LineTable blocks;  // a line for every 16 supers: most of each block's weights, least of its norms
  LineTable supers;  // a line for every 256 supers: the same of the supers
  std::uint64_t* square_sums;  // [places]
  // [supers][present_words()]: of 32 descriptors, in x a bit where one has a weight in the super,
  // in y one where besides none of its weights there passes a byte, if there are byte lines.
  uint2* present;
  std::uint8_t* byte_lines;  // [supers][descriptors][256], filled where y says so, or null
  std::uint32_t side;
  std::uint32_t descriptors;
  std::uint32_t neuron_count;
  std::uint32_t super_count;
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

/// Owner of one LineTable.
class LineBuffer {
 public:
  [[nodiscard]] static std::size_t bytes(std::size_t lines, std::size_t descriptors) {
    return lines * line_weights * (descriptors * sizeof(std::uint16_t) + sizeof(std::int32_t));
  }
  /// Weights 0, every node vacant.
  LineBuffer(std::size_t lines, std::size_t descriptors, MemoryAccount& account, const char* what,
             StreamView stream);
  [[nodiscard]] LineTable view() const {
    return {weights_.data(), norms_.data(),
            static_cast<std::uint32_t>(norms_.size() / line_weights)};
  }

 private:
  DeviceBuffer<std::uint16_t> weights_;
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
  /// Gives all supers of the planes listed this bound until the next make_norms(): 0 where no line
  /// holds weights, any other where one may.
  void mark_planes(const std::uint32_t* planes, std::size_t count, std::uint16_t bound,
                   StreamView stream);
  /// Makes square sums, norms, both tables of bounds, the present bits and the byte lines from the
  /// stored weights.
  /// usable: M flags on the device, row-major, 0 where the neuron is vacant. marked: whether the
  /// bounds of supers are 0 only where a line holds no weights, so that such a line is not read.
  void make_norms(const std::uint8_t* usable, bool marked, StreamView stream);
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
  DeviceBuffer<std::uint64_t> square_sums_;
  DeviceBuffer<uint2> present_;
  DeviceBuffer<std::uint8_t> byte_lines_;
  std::uint64_t version_ = 1;
  bool bounded_ = true;
};

}  // namespace somatlas::gpu
