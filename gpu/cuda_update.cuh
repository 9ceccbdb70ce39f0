// The update on the device: statistics become the next codebook. Always holds: sums are exact in
// the width that each descriptor's counts need and the division rounds exactly, so the weights are
// the contract's whatever the batch size; scratch is bounded by a constant or by one plane,
// whichever is larger.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/backend.h"
#include "gpu/cuda_axis.cuh"
#include "gpu/cuda_buffer.cuh"
#include "gpu/cuda_codebook.cuh"
#include "gpu/cuda_statistics.cuh"
#include "gpu/cuda_stream.cuh"

namespace somatlas::gpu {

class Updater {
 public:
  /// Bytes on the device.
  [[nodiscard]] static std::size_t bytes(MapShape shape);
  /// Throws std::runtime_error when a column of the map does not fit the GPU's shared memory.
  Updater(MapShape shape, MemoryAccount& account);

  /// Makes book from the statistics with a box of half-width radius. Synchronous.
  void update(Codebook& book, Statistics& statistics, std::uint32_t radius, StreamView stream);

  /// Room that other calls may use between updates.
  [[nodiscard]] const DeviceBuffer<std::uint64_t>& room() const { return planes_; }

 private:
  template <typename Cell, typename Column, typename Sum, typename Counts, typename Sink>
  void blur(Counts counts, const std::uint32_t* planes, std::size_t count, std::uint32_t radius,
            Sink sink, StreamView stream);
  template <typename Cell, typename Column, typename Sum>
  void make_planes(const Codebook& book, const Statistics& statistics, const std::uint32_t* planes,
                   std::size_t count, std::uint32_t radius, StreamView stream);
  [[nodiscard]] AxisTables tables(std::uint32_t radius) const;
  void make_tables(std::uint32_t radius, StreamView stream);
  /// Jumps that fit the planes in work.
  [[nodiscard]] std::uint64_t room_for_jumps() const;
  template <typename Sum>
  void make_jumps(const Codebook& book, const Statistics& statistics,
                  const std::vector<PlaneSummary>& planes,
                  const std::vector<DescriptorId>& descriptors, std::uint32_t radius,
                  StreamView stream);

  MapShape shape_;
  DeviceBuffer<std::uint64_t> planes_;  // blurred columns, or jumps, of the planes in work
  DeviceBuffer<std::uint64_t> hits_;    // blurred hits, a line a row
  DeviceBuffer<float> scales_;          // the same of 16383 / hits, for the first guess of a weight
  DeviceBuffer<float> plain_scales_;    // the same row-major, as HitsTarget has them
  DeviceBuffer<std::uint8_t> usable_;   // 1 where the blurred hits are not 0, row-major
  DeviceBuffer<std::uint32_t> factors_;  // AxisTables, with jumps_
  DeviceBuffer<Jump> jumps_;
  DeviceBuffer<JumpPlane> jump_planes_;      // those made from jumps, batch after batch
  DeviceBuffer<std::uint32_t> descriptors_;  // by the way they are made
};

}  // namespace somatlas::gpu
