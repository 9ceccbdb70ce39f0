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

class Tile {
 public:
  /// Bytes of host memory that a tile of this capacity takes.
  [[nodiscard]] static std::size_t bytes(TileCapacity capacity);

  /// Lays the arrays out in block, which holds at least bytes(capacity).
  Tile(TileCapacity capacity, HostBlock block);
  virtual ~Tile() = default;
  Tile(const Tile&) = delete;
  Tile& operator=(const Tile&) = delete;

  /// Empties the tile.
  void clear();
  /// Appends a row. Throws std::length_error past the capacity or past max_descriptors.
  /// bmu is read by Work::accumulate and replaced by a search.
  void add_row(std::span<const DescriptorId> known, std::uint8_t use, Neuron bmu = no_neuron);

  [[nodiscard]] TileCapacity capacity() const { return capacity_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// rows() + 1 positions in descriptors().
  [[nodiscard]] std::span<const std::uint32_t> offsets() const { return {offsets_, rows_ + 1}; }
  [[nodiscard]] std::span<const DescriptorId> descriptors() const {
    return {descriptors_, offsets_[rows_]};
  }
  [[nodiscard]] std::span<const DescriptorId> row(std::size_t r) const {
    return {descriptors_ + offsets_[r], offsets_[r + 1] - offsets_[r]};
  }
  [[nodiscard]] std::span<const std::uint8_t> use() const { return {use_, rows_}; }

  /// BMU of each row.
  [[nodiscard]] std::span<Neuron> bmu() { return {bmu_, rows_}; }
  [[nodiscard]] std::span<const Neuron> bmu() const { return {bmu_, rows_}; }
  /// Score of each row at its BMU: n_i - 128 * sum of q.
  [[nodiscard]] std::span<std::int32_t> score() { return {score_, rows_}; }
  [[nodiscard]] std::span<const std::int32_t> score() const { return {score_, rows_}; }
  /// Second BMU of each row that asked for it; no_neuron where there is none or it was not asked
  /// for.
  [[nodiscard]] std::span<Neuron> second() { return {second_, rows_}; }
  [[nodiscard]] std::span<const Neuron> second() const { return {second_, rows_}; }

 private:
  TileCapacity capacity_;
  HostBlock block_;
  std::size_t rows_ = 0;
  std::uint32_t* offsets_;
  DescriptorId* descriptors_;
  Neuron* bmu_;
  std::int32_t* score_;
  Neuron* second_;
  std::uint8_t* use_;
};

}  // namespace somatlas::gpu
