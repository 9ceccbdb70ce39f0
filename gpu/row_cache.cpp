// Where the slots lie, and what they hold.
#include "gpu/row_cache.h"

#include <numeric>
#include <stdexcept>
#include <string>

namespace somatlas::gpu {

std::size_t RowCache::bytes(std::span<const TileCapacity> slots) {
  return std::accumulate(
      slots.begin(), slots.end(), std::size_t{0},
      [](std::size_t sum, TileCapacity capacity) { return sum + RowArrays::bytes(capacity); });
}

RowCache::RowCache(std::span<const TileCapacity> slots, std::byte* block) {
  slots_.reserve(slots.size());
  for (const TileCapacity& capacity : slots) {
    slots_.push_back({.capacity = capacity, .arrays = RowArrays::in(block, capacity)});
    block += RowArrays::bytes(capacity);
  }
}

RowCache::Slot& RowCache::enter(std::size_t slot, const Tile& tile) {
  Slot& entry = slots_.at(slot);
  const std::size_t descriptors = tile.descriptors().size();
  if (tile.rows() > entry.capacity.rows || descriptors > entry.capacity.descriptors) {
    throw std::length_error("a tile of " + std::to_string(tile.rows()) + " rows and " +
                            std::to_string(descriptors) + " descriptors is more than slot " +
                            std::to_string(slot) + " of the cache holds");
  }
  entry.rows = tile.rows();
  entry.descriptors = descriptors;
  entry.seconds = tile.seconds();
  return entry;
}

}  // namespace somatlas::gpu
