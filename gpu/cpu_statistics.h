// Hits and counts of an epoch on the CPU. Always holds: counts are exact whatever the threads and
// the order of rows; a cell takes one byte, and each time it passes 255 an entry of eight bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "gpu/backend.h"
#include "gpu/large_array.h"
#include "gpu/tile.h"

namespace somatlas::gpu {

/// A neuron and how many rows with some descriptor have it as their BMU.
struct CountedCell {
  Neuron neuron;
  std::uint32_t count;
};

/// counts[v, i]: rows with descriptor v and BMU i. Most of the V x M cells of a large map are zero
/// or small, so a byte each holds them, dense; a carry is at most one in 256 descriptors added.
class CpuStatistics {
 public:
  explicit CpuStatistics(MapShape shape);

  void clear(const ParallelFor& parallel_for);
  /// Adds those of these rows of the tile that train and have a BMU. Several threads may add.
  void add_rows(const Tile& tile, std::span<const std::uint32_t> rows);

  /// Puts the carries in order; before counts(), after the last add_rows().
  void settle();
  /// Cells of one descriptor that are not zero, ascending by neuron; returns the sum of the counts.
  std::uint64_t cells(DescriptorId descriptor, std::vector<CountedCell>& out) const;
  /// M values, row-major.
  [[nodiscard]] std::span<const std::uint32_t> hits() const { return hits_; }

 private:
  MapShape shape_;
  std::vector<std::uint32_t> hits_;     // [M]
  LargeArray<std::uint8_t> counts_;     // [V][M], modulo 256
  std::vector<std::uint64_t> carries_;  // cell numbers, one for each 256 that a cell has passed
  std::mutex carries_mutex_;
};

}  // namespace somatlas::gpu
