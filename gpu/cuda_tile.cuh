// A tile of the CUDA backend: pinned host memory and, beside it, the tile's own arrays on the
// device, so that submitting allocates nothing. Always holds: the device arrays have the capacity
// of the host's; the fault word comes back with every submit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda_buffer.cuh"
#include "gpu/cuda_stream.cuh"
#include "gpu/tile.h"

namespace somatlas::gpu {

/// What a kernel found wrong with a tile; flags that may be joined.
namespace tile_fault {
inline constexpr std::uint32_t descriptor_out_of_range = 1;
inline constexpr std::uint32_t bmu_out_of_range = 2;
inline constexpr std::uint32_t row_too_long = 4;
}  // namespace tile_fault

/// What a kernel sees of a tile.
struct TileView {
  const std::uint32_t* offsets;      // [rows + 1]
  const std::uint32_t* descriptors;  // [offsets[rows]]
  const std::uint8_t* use;           // [rows]
  std::uint32_t* bmu;                // [rows]
  std::int32_t* score;               // [rows]
  std::uint32_t* second;             // [rows]
  std::uint32_t* fault;              // [1]
  std::uint32_t rows;
};

class CudaTile final : public Tile {
 public:
  /// Bytes on the device.
  [[nodiscard]] static std::size_t device_bytes(TileCapacity capacity);
  /// Throws std::runtime_error when the account's cap does not hold it.
  CudaTile(TileCapacity capacity, MemoryAccount& account);

  [[nodiscard]] TileView view() const;
  /// Enqueues the rows' way to the device; the fault word becomes 0.
  void upload(StreamView stream);
  /// Enqueues the results' way back; places: BMUs, scores and second BMUs too.
  void download(bool places, StreamView stream);
  /// Throws std::out_of_range if the last completed submit met a row that it had to leave out.
  void check_fault() const;

  [[nodiscard]] EventView uploaded() const { return uploaded_.view(); }
  [[nodiscard]] EventView computed() const { return computed_.view(); }
  [[nodiscard]] EventView downloaded() const { return downloaded_.view(); }

 private:
  DeviceBuffer<std::uint32_t> offsets_on_device_;
  DeviceBuffer<std::uint32_t> descriptors_on_device_;
  DeviceBuffer<std::uint8_t> use_on_device_;
  DeviceBuffer<std::uint32_t> bmu_on_device_;
  DeviceBuffer<std::int32_t> score_on_device_;
  DeviceBuffer<std::uint32_t> second_on_device_;
  DeviceBuffer<std::uint32_t> fault_on_device_;
  HostBlock fault_;
  Event uploaded_;
  Event computed_;
  Event downloaded_;
};

}  // namespace somatlas::gpu
