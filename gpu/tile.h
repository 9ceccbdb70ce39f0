// A tile: the rows that are on the device at once, the unit of streaming, with the places found for
// them. Always holds: descriptors of a row are known dense ids, distinct; results are valid after
// the work that was asked for has completed; nothing here depends on the backend but who owns the
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace somatlas::gpu {

/// Dense number of a descriptor, 0..V-1: the feature axis of the codebook.
using DescriptorId = std::uint32_t;
/// Row-major number of a neuron, row * side + column.
using Neuron = std::uint32_t;
/// Stands where there is no neuron: no second BMU, an article that has no place.
inline constexpr Neuron no_neuron = 0xFFFF'FFFFU;

/// What a row is used for; flags that may be joined.
namespace row_use {
inline constexpr std::uint8_t none = 0;
/// The row enters hits and counts.
inline constexpr std::uint8_t trains = 1;
/// The row's second BMU is wanted too.
inline constexpr std::uint8_t second = 2;
}  // namespace row_use

struct TileCapacity {
  std::size_t rows = 0;
  std::size_t descriptors = 0;
};

/// Owner of one block of host memory; pinned where a device backend made it.
using HostBlock = std::unique_ptr<std::byte[], std::function<void(std::byte*)>>;
/// A block that is not pinned.
[[nodiscard]] HostBlock host_block(std::size_t bytes);

/// The arrays of some rows, on the host or on a device.
struct RowArrays {
  std::uint32_t* offsets = nullptr;  // rows + 1 positions in descriptors
  DescriptorId* descriptors = nullptr;
  Neuron* bmu = nullptr;
  std::uint8_t* use = nullptr;

  /// Bytes that arrays of this capacity take, a multiple of what they are aligned to.
  [[nodiscard]] static std::size_t bytes(TileCapacity capacity);
  /// Lays the arrays out in a block of bytes(capacity).
  [[nodiscard]] static RowArrays in(std::byte* block, TileCapacity capacity);
};

class Tile {
 public:
  /// Bytes of host memory that a tile of this capacity takes.
  [[nodiscard]] static std::size_t bytes(TileCapacity capacity);

  /// Lays the arrays out in block, which holds at least bytes(capacity).
  Tile(TileCapacity capacity, HostBlock block);
  virtual ~Tile() = default;
  Tile(const Tile&) = delete;
  Tile& operator=(const Tile&) = delete;

  /// Empties the tile; its rows are its own again.
  virtual void clear();
  /// Appends a row. Throws std::length_error past the capacity or past max_descriptors.
  /// bmu is read by Work::accumulate and replaced by a search. Throws std::logic_error where rows
  /// are shown that are not the tile's own.
  void add_row(std::span<const DescriptorId> known, std::uint8_t use, Neuron bmu = no_neuron);

  [[nodiscard]] TileCapacity capacity() const { return capacity_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// Rows that ask for their second BMU.
  [[nodiscard]] std::size_t seconds() const { return seconds_; }
  /// rows() + 1 positions in descriptors(). These, descriptors() and row() are not to be had of
  /// rows that a GPU's cache lent.
  [[nodiscard]] std::span<const std::uint32_t> offsets() const {
    return {shown_.offsets, rows_ + 1};
  }
  [[nodiscard]] std::span<const DescriptorId> descriptors() const {
    return {shown_.descriptors, shown_.offsets[rows_]};
  }
  [[nodiscard]] std::span<const DescriptorId> row(std::size_t r) const {
    return {shown_.descriptors + shown_.offsets[r], shown_.offsets[r + 1] - shown_.offsets[r]};
  }
  [[nodiscard]] std::span<const std::uint8_t> use() const { return {shown_.use, rows_}; }

  /// BMU of each row.
  [[nodiscard]] std::span<Neuron> bmu() { return {shown_.bmu, rows_}; }
  [[nodiscard]] std::span<const Neuron> bmu() const { return {shown_.bmu, rows_}; }
  /// Score of each row at its BMU: n_i - 128 * sum of q.
  [[nodiscard]] std::span<std::int32_t> score() { return {score_, rows_}; }
  [[nodiscard]] std::span<const std::int32_t> score() const { return {score_, rows_}; }
  /// Second BMU of each row that asked for it; no_neuron where there is none or it was not asked
  /// for.
  [[nodiscard]] std::span<Neuron> second() { return {second_, rows_}; }
  [[nodiscard]] std::span<const Neuron> second() const { return {second_, rows_}; }

  /// Shows a cache's rows until clear(). For caches.
  void show(const RowArrays& arrays, std::size_t rows, std::size_t seconds);
  /// The tile's own arrays, whatever it shows. For caches and backends.
  [[nodiscard]] const RowArrays& own() const { return own_; }

 private:
  TileCapacity capacity_;
  HostBlock block_;
  std::size_t rows_ = 0;
  std::size_t seconds_ = 0;
  bool kept_ = false;  // what is shown belongs to a cache
  RowArrays own_;
  RowArrays shown_;
  std::int32_t* score_;
  Neuron* second_;
};

}  // namespace somatlas::gpu
