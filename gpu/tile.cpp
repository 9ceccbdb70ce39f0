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

namespace {

/// Arrays begin at a multiple of a device's cache line.
constexpr std::size_t line_bytes = 128;

[[nodiscard]] constexpr std::size_t whole_lines(std::size_t bytes) {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

}  // namespace

HostBlock host_block(std::size_t bytes) {
  return HostBlock(new std::byte[bytes], [](std::byte* block) { delete[] block; });
}

std::size_t RowArrays::bytes(TileCapacity capacity) {
  return whole_lines((capacity.rows + 1) * sizeof(std::uint32_t)) +
         whole_lines(capacity.descriptors * sizeof(DescriptorId)) +
         whole_lines(capacity.rows * sizeof(Neuron)) + whole_lines(capacity.rows);
}

RowArrays RowArrays::in(std::byte* block, TileCapacity capacity) {
  RowArrays arrays;
  const auto take = [&block](std::size_t bytes) {
    return std::exchange(block, block + whole_lines(bytes));
  };
  arrays.offsets =
      reinterpret_cast<std::uint32_t*>(take((capacity.rows + 1) * sizeof(std::uint32_t)));
  arrays.descriptors =
      reinterpret_cast<DescriptorId*>(take(capacity.descriptors * sizeof(DescriptorId)));
  arrays.bmu = reinterpret_cast<Neuron*>(take(capacity.rows * sizeof(Neuron)));
  arrays.use = reinterpret_cast<std::uint8_t*>(take(capacity.rows));
  return arrays;
}

std::size_t Tile::bytes(TileCapacity capacity) {
  return RowArrays::bytes(capacity) + capacity.rows * (sizeof(std::int32_t) + sizeof(Neuron));
}

Tile::Tile(TileCapacity capacity, HostBlock block)
    : capacity_(capacity), block_(std::move(block)), own_(RowArrays::in(block_.get(), capacity)) {
  if (capacity.descriptors > std::numeric_limits<std::uint32_t>::max()) {
    throw std::length_error("a tile of " + std::to_string(capacity.descriptors) +
                            " descriptors does not fit 32-bit offsets; make smaller tiles");
  }
  score_ = reinterpret_cast<std::int32_t*>(block_.get() + RowArrays::bytes(capacity));
  second_ = reinterpret_cast<Neuron*>(score_ + capacity.rows);
  Tile::clear();
}

void Tile::clear() {
  shown_ = own_;
  kept_ = false;
  rows_ = 0;
  seconds_ = 0;
  own_.offsets[0] = 0;
}

void Tile::show(const RowArrays& arrays, std::size_t rows, std::size_t seconds) {
  if (rows > capacity_.rows) {
    throw std::length_error("a tile of " + std::to_string(capacity_.rows) + " rows cannot show " +
                            std::to_string(rows));
  }
  shown_ = arrays;
  kept_ = true;
  rows_ = rows;
  seconds_ = seconds;
  std::fill_n(score_, rows, std::numeric_limits<std::int32_t>::max());
  std::fill_n(second_, rows, no_neuron);
}

void Tile::add_row(std::span<const DescriptorId> known, std::uint8_t use, Neuron bmu) {
  if (known.size() > max_descriptors) {
    throw std::length_error("a row of " + std::to_string(known.size()) +
                            " descriptors is past the limit of " + std::to_string(max_descriptors) +
                            "; leave such articles out before they reach a tile");
  }
  if (kept_) {
    throw std::logic_error("a row was added to a tile that shows a cache's rows; clear it first");
  }
  std::uint32_t* const offset = own_.offsets + rows_;
  if (rows_ == capacity_.rows || known.size() > capacity_.descriptors - *offset) {
    throw std::length_error("the tile is full at " + std::to_string(rows_) + " rows and " +
                            std::to_string(*offset) +
                            " descriptors; submit it before adding this row");
  }
  std::copy(known.begin(), known.end(), own_.descriptors + *offset);
  own_.bmu[rows_] = bmu;
  own_.use[rows_] = use;
  score_[rows_] = std::numeric_limits<std::int32_t>::max();
  second_[rows_] = no_neuron;
  offset[1] = *offset + static_cast<std::uint32_t>(known.size());
  seconds_ += (use & row_use::second) != 0 ? 1 : 0;
  ++rows_;
}

}  // namespace somatlas::gpu
