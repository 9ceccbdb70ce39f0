// The order of neurons that exact search walks: squares of 16 x 16 neurons (supers), row by row
// over the map; in a super its sixteen blocks of 4 x 4 in Z-order; in a block its neurons row by
// row. So the sixteen children of every node, and the four blocks of every 8 x 8 square (a chunk),
// are consecutive. Always holds: a place is one neuron or lies beyond the map's edge; results never
// show this order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gpu/tile.h"

namespace somatlas::gpu {

/// Places in a block, blocks in a super: the tree's fan-out.
inline constexpr std::size_t tree_fanout = 16;
inline constexpr std::size_t chunk_neurons = 64;
inline constexpr std::size_t chunks_a_super = 4;
inline constexpr std::size_t super_neurons = tree_fanout * tree_fanout;

/// The order itself, for kernels too: the place of a neuron of a map of that side.
[[nodiscard]] constexpr std::size_t tree_place(std::uint32_t side, Neuron neuron) {
  const std::uint32_t row = neuron / side;
  const std::uint32_t column = neuron % side;
  const std::size_t super = std::size_t{row / 16} * ((side + 15) / 16) + column / 16;
  const std::uint32_t quarter = row / 8 % 2 * 2 + column / 8 % 2;
  const std::uint32_t block = row / 4 % 2 * 2 + column / 4 % 2;
  const std::uint32_t in_block = row % 4 * 4 + column % 4;
  return ((super * chunks_a_super + quarter) * 4 + block) * tree_fanout + in_block;
}

/// The neuron at a place; no_neuron beyond the map's edge.
[[nodiscard]] constexpr Neuron tree_neuron(std::uint32_t side, std::size_t place) {
  const std::uint32_t across = (side + 15) / 16;
  const auto super = static_cast<std::uint32_t>(place / super_neurons);
  const auto in = static_cast<std::uint32_t>(place % super_neurons);
  const std::uint32_t row = super / across * 16 + in / 128 * 8 + in / 32 % 2 * 4 + in / 4 % 4;
  const std::uint32_t column = super % across * 16 + in / 64 % 2 * 8 + in / 16 % 2 * 4 + in % 4;
  return row < side && column < side ? row * side + column : no_neuron;
}

class PlaneTree {
 public:
  explicit PlaneTree(std::uint32_t side);

  /// What a tree of this side has, without making it.
  struct Size {
    std::size_t supers;
    std::size_t filled_chunks;
  };
  [[nodiscard]] static constexpr Size size_of(std::uint32_t side) {
    const auto squares = [side](std::size_t width) {
      const std::size_t across = (side + width - 1) / width;
      return across * across;
    };
    return {.supers = squares(16), .filled_chunks = squares(8)};
  }

  [[nodiscard]] std::uint32_t side() const { return side_; }
  [[nodiscard]] std::size_t supers() const { return std::size_t{across_} * across_; }
  [[nodiscard]] std::size_t blocks() const { return supers() * tree_fanout; }
  [[nodiscard]] std::size_t chunks() const { return supers() * chunks_a_super; }
  [[nodiscard]] std::size_t places() const { return supers() * super_neurons; }

  /// Row and column of a chunk's first neuron; beyond the edge for some chunks of the last supers.
  struct Corner {
    std::uint32_t row = 0;
    std::uint32_t column = 0;
  };
  [[nodiscard]] Corner corner(std::size_t chunk) const {
    const auto super = static_cast<std::uint32_t>(chunk / chunks_a_super);
    const auto quarter = static_cast<std::uint32_t>(chunk % chunks_a_super);
    return {super / across_ * 16 + quarter / 2 * 8, super % across_ * 16 + quarter % 2 * 8};
  }
  /// Chunks that hold a neuron, ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& filled_chunks() const { return filled_; }
  /// A chunk's number among the filled ones; no_slot where it holds no neuron.
  [[nodiscard]] std::uint32_t slot(std::size_t chunk) const { return slot_[chunk]; }
  static constexpr std::uint32_t no_slot = 0xFFFF'FFFFU;

  [[nodiscard]] std::size_t place_of(Neuron neuron) const { return tree_place(side_, neuron); }
  /// no_neuron beyond the map's edge.
  [[nodiscard]] Neuron neuron_of(std::size_t place) const { return tree_neuron(side_, place); }

 private:
  std::uint32_t side_;
  std::uint32_t across_;  // supers a row of the map
  std::vector<std::uint32_t> filled_;
  std::vector<std::uint32_t> slot_;
};

/// Calls each(place in the chunk, row-major neuron, count) for every run of up to four neurons of a
/// chunk that lie side by side in a row of the map.
template <class Each>
void for_each_run(const PlaneTree& tree, std::size_t chunk, const Each& each) {
  constexpr std::uint32_t block_side = 4;
  const PlaneTree::Corner first = tree.corner(chunk);
  for (std::uint32_t block = 0; block < 4; ++block) {
    const std::uint32_t column = first.column + block % 2 * block_side;
    if (column >= tree.side()) {
      continue;
    }
    const std::uint32_t count = std::min(block_side, tree.side() - column);
    for (std::uint32_t y = 0; y < block_side; ++y) {
      const std::uint32_t row = first.row + block / 2 * block_side + y;
      if (row < tree.side()) {
        each(std::size_t{block} * tree_fanout + std::size_t{y} * block_side,
             std::size_t{row} * tree.side() + column, count);
      }
    }
  }
}

/// Copies such a run; nearly all are four, which is one move.
template <class Value>
void copy_run(const Value* from, std::size_t count, Value* to) {
  if (count == 4) {
    std::memcpy(to, from, 4 * sizeof *to);
  } else {
    std::copy_n(from, count, to);
  }
}

}  // namespace somatlas::gpu
