// The update on the device: statistics become the next codebook. Always holds: sums are exact in 64
// bits and the division rounds exactly, so the weights are the contract's whatever the batch size;
// scratch is bounded by a constant or by one plane, whichever is larger.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/backend.h"
#include "gpu/cuda_buffer.cuh"
#include "gpu/cuda_codebook.cuh"
#include "gpu/cuda_statistics.cuh"
#include "gpu/cuda_stream.cuh"

namespace somatlas::gpu {

class Updater {
 public:
  /// Bytes on the device.
  [[nodiscard]] static std::size_t bytes(MapShape shape);
  /// Throws std::runtime_error when a row of the map does not fit the GPU's shared memory.
  Updater(MapShape shape, MemoryAccount& account);

  /// Makes book from the statistics with a box of half-width radius. Synchronous.
  void update(Codebook& book, Statistics& statistics, std::uint32_t radius, StreamView stream);

  /// Room that other calls may use between updates.
  [[nodiscard]] const DeviceBuffer<std::uint64_t>& room() const { return planes_; }

 private:
  MapShape shape_;
  std::size_t batch_;                        // planes in flight
  DeviceBuffer<std::uint64_t> planes_;       // [batch][side x][side y]: blurred along the rows
  DeviceBuffer<std::uint64_t> hits_;         // [side y][side x]: blurred hits
  DeviceBuffer<float> scales_;               // 16383 / hits, for the first guess of a weight
  DeviceBuffer<std::uint8_t> usable_;        // 1 where the blurred hits are not 0
  DeviceBuffer<std::uint32_t> descriptors_;  // those counted, then those not
};

}  // namespace somatlas::gpu
