// Lays a tile's arrays out in one block of host memory, widest first so that every array is
// aligned, and fills them row by row within the capacity.
#include "gpu/tile.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "gpu/contract.h"

namespace somatlas::gpu {

std::size_t Tile::bytes(TileCapacity capacity) {
  const std::size_t words = (capacity.rows + 1) + capacity.descriptors + 3 * capacity.rows;
  return words * sizeof(std::uint32_t) + capacity.rows;
}

Tile::Tile(TileCapacity capacity, HostBlock block) : capacity_(capacity), block_(std::move(block)) {
  if (capacity.descriptors > std::numeric_limits<std::uint32_t>::max()) {
    throw std::length_error("a tile of " + std::to_string(capacity.descriptors) +
                            " descriptors does not fit 32-bit offsets; make smaller tiles");
  }
  auto* words = reinterpret_cast<std::uint32_t*>(block_.get());
  offsets_ = words;
  descriptors_ = offsets_ + capacity.rows + 1;
  bmu_ = descriptors_ + capacity.descriptors;
  score_ = reinterpret_cast<std::int32_t*>(bmu_ + capacity.rows);
  second_ = bmu_ + 2 * capacity.rows;
  use_ = reinterpret_cast<std::uint8_t*>(second_ + capacity.rows);
  clear();
}

void Tile::clear() {
  rows_ = 0;
  offsets_[0] = 0;
}

void Tile::add_row(std::span<const DescriptorId> known, std::uint8_t use, Neuron bmu) {
  if (known.size() > max_descriptors) {
    throw std::length_error("a row of " + std::to_string(known.size()) +
                            " descriptors is past the limit of " + std::to_string(max_descriptors) +
                            "; leave such articles out before they reach a tile");
  }
  if (rows_ == capacity_.rows || known.size() > capacity_.descriptors - offsets_[rows_]) {
    throw std::length_error("the tile is full at " + std::to_string(rows_) + " rows and " +
                            std::to_string(offsets_[rows_]) +
                            " descriptors; submit it before adding this row");
  }
  std::copy(known.begin(), known.end(), descriptors_ + offsets_[rows_]);
  bmu_[rows_] = bmu;
  score_[rows_] = std::numeric_limits<std::int32_t>::max();
  second_[rows_] = no_neuron;
  use_[rows_] = use;
  offsets_[rows_ + 1] = offsets_[rows_] + static_cast<std::uint32_t>(known.size());
  ++rows_;
}

}  // namespace somatlas::gpu
