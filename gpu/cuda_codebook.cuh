// The codebook on the device: weights feature-major in chunks of 256 neurons, [chunk][V][256], so
// that one warp reads a descriptor's 256 weights as one 512-byte line. Always holds: neurons are in
// row-major order; those past the last are padding with weight 0; a neuron that may not win, vacant
// or padding, has the norm padded_norm, which no usable neuron has, and is excluded by that test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gpu/backend.h"
#include "gpu/cuda_buffer.cuh"

namespace somatlas::gpu {

inline constexpr std::uint32_t chunk_neurons = 256;

/// What a kernel sees of a codebook.
struct CodebookView {
  std::uint16_t* weights;      // [chunks][descriptors][256]
  std::int32_t* norms;         // [chunks * 256]
  std::uint64_t* square_sums;  // [chunks * 256]
  std::uint32_t side;
  std::uint32_t descriptors;
  std::uint32_t neurons;
  std::uint32_t chunks;

  /// Where the weight of a descriptor at a neuron is.
  [[nodiscard]] __host__ __device__ std::size_t position(std::uint32_t descriptor,
                                                         std::uint32_t neuron) const {
    const std::size_t line = std::size_t{neuron / chunk_neurons} * descriptors + descriptor;
    return line * chunk_neurons + neuron % chunk_neurons;
  }
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
  /// Makes square sums and norms from the stored weights. usable: M flags on the device, 0 where
  /// the neuron is vacant.
  void make_norms(const std::uint8_t* usable, StreamView stream);
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
  DeviceBuffer<std::uint16_t> weights_;
  DeviceBuffer<std::int32_t> norms_;
  DeviceBuffer<std::uint64_t> square_sums_;
};

}  // namespace somatlas::gpu
