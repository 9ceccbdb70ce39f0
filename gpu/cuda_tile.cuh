// A tile of the CUDA backend: pinned host memory and, beside it, the tile's own arrays on the
// device, so that submitting allocates nothing. Always holds: the device arrays have the capacity
// of the host's; rows are sent once, however often they are submitted; the fault word comes back
// with every submit.
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

  void clear() override;
  /// Has the rows lie in a cache's slot on the device until clear(): rows that are still to be
  /// sent there, or that are there with their BMUs.
  void send_to(const RowArrays& slot);
  void use_those_in(const RowArrays& slot, std::size_t descriptors);

  [[nodiscard]] TileView view() const;
  /// Of all rows together.
  [[nodiscard]] std::size_t descriptor_count() const {
    return in_slot_ ? slot_descriptors_ : descriptors().size();
  }
  /// Enqueues the way to the device of what is not there; the fault word becomes 0.
  void upload(StreamView stream);
  /// Enqueues the results' way back; places: BMUs, scores and, where any was asked for, second
  /// BMUs too.
  void download(bool places, StreamView stream);
  /// Throws std::out_of_range if the last completed submit met a row that it had to leave out.
  void check_fault() const;

  [[nodiscard]] EventView uploaded() const { return uploaded_.view(); }
  [[nodiscard]] EventView begun() const { return begun_.view(); }
  [[nodiscard]] EventView computed() const { return computed_.view(); }
  [[nodiscard]] EventView counted() const { return counted_.view(); }
  [[nodiscard]] EventView downloaded() const { return downloaded_.view(); }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  DeviceBuffer<std::byte> own_on_device_;
  RowArrays on_device_;           // where the rows lie: the tile's own arrays or a slot
  std::size_t sent_rows_ = none;  // that lie there
  bool in_slot_ = false;          // with their BMUs, unknown to the host
  std::size_t slot_descriptors_ = 0;
  DeviceBuffer<std::int32_t> score_on_device_;
  DeviceBuffer<std::uint32_t> second_on_device_;
  DeviceBuffer<std::uint32_t> fault_on_device_;
  HostBlock fault_;
  Event uploaded_;
  Event begun_{Event::Kind::timing};
  Event computed_{Event::Kind::timing};
  Event counted_;
  Event downloaded_;
};

}  // namespace somatlas::gpu
