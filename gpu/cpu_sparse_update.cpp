// Spreads counts by a product of two factors, one an axis.
#include "gpu/cpu_sparse_update.h"

#include <algorithm>
#include <array>

#include "gpu/contract.h"

namespace somatlas::gpu {
namespace {

constexpr std::size_t passes = 3;

}  // namespace

AxisSpread::AxisSpread(std::size_t side, std::size_t radius)
    : reach_(std::min(passes * radius, side)) {
  const std::size_t width = 2 * reach_ + 1;
  factor_.resize(side * width);
  // A line with a single count, passed over three times, a line a place. Factors are at most the
  // window's width squared, which 32 bits hold for every side there is a use for; a larger radius
  // is never spread.
  std::vector<std::uint64_t> line(side);
  std::vector<std::uint64_t> next(side);
  for (std::size_t place = 0; place < side; ++place) {
    const std::size_t first = place - std::min(place, reach_);
    const std::size_t last = std::min(side, place + reach_ + 1);
    std::fill(line.begin() + static_cast<std::ptrdiff_t>(first),
              line.begin() + static_cast<std::ptrdiff_t>(last), 0);
    line[place] = 1;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      for (std::size_t at = first; at < last; ++at) {
        std::uint64_t sum = 0;
        for (std::size_t x = std::max(first, at - std::min(at, radius));
             x < std::min(last, at + radius + 1); ++x) {
          sum += line[x];
        }
        next[at] = sum;
      }
      line.swap(next);
    }
    for (std::size_t at = first; at < last; ++at) {
      factor_[place * width + at + reach_ - place] = static_cast<std::uint32_t>(line[at]);
    }
  }
}

SparseUpdate::SparseUpdate(CpuCodebook& codebook, const BlurredHits& blurred,
                           const AxisSpread& spread)
    : codebook_(codebook),
      blurred_(blurred),
      spread_(spread),
      sums_(codebook.shape.neurons()),
      reached_(codebook.tree.filled_chunks().size()) {}

bool SparseUpdate::pays(std::size_t cells) const {
  // A cell of the map costs about as much as four of a spread count, measured at side 128 and 256.
  constexpr std::size_t cheaper = 4;
  const std::size_t width = 2 * spread_.reach() + 1;
  return cells * width * width < cheaper * sums_.size();
}

void SparseUpdate::spread(const CountedCell& cell) {
  const std::size_t side = codebook_.shape.side;
  const std::size_t reach = spread_.reach();
  const std::size_t row = cell.neuron / side;
  const std::size_t column = cell.neuron % side;
  const std::size_t top = row - std::min(row, reach);
  const std::size_t bottom = std::min(side, row + reach + 1);
  const std::size_t left = column - std::min(column, reach);
  const std::size_t right = std::min(side, column + reach + 1);
  const std::uint32_t* const down = spread_.from(row) + reach - row;
  const std::uint32_t* const across = spread_.from(column) + reach - column;
  for (std::size_t y = top; y < bottom; ++y) {
    const std::uint32_t factor = cell.count * down[y];
    std::uint32_t* const line = sums_.data() + y * side;
    for (std::size_t x = left; x < right; ++x) {
      line[x] += factor * across[x];
    }
  }
  constexpr std::size_t chunk_side = 8;
  for (std::size_t y = top / chunk_side; y <= (bottom - 1) / chunk_side; ++y) {
    for (std::size_t x = left / chunk_side; x <= (right - 1) / chunk_side; ++x) {
      const auto corner = static_cast<Neuron>(y * chunk_side * side + x * chunk_side);
      const std::uint32_t slot =
          codebook_.tree.slot(codebook_.tree.place_of(corner) / chunk_neurons);
      if (reached_[slot] == 0) {
        reached_[slot] = 1;
        slots_.push_back(slot);
      }
    }
  }
}

void SparseUpdate::divide(DescriptorId descriptor, std::size_t slot, ChunkSquares& squares) {
  WeightBlock& block = codebook_.weights[slot * codebook_.shape.descriptors + descriptor];
  alignas(64) std::array<std::uint32_t, chunk_neurons> sums{};
  alignas(64) std::array<float, chunk_neurons> scales{};
  const std::size_t chunk = codebook_.tree.filled_chunks()[slot];
  for_each_run(codebook_.tree, chunk,
               [&](std::size_t place, std::size_t neuron, std::size_t count) {
                 copy_run(blurred_.scale.data() + neuron, count, scales.data() + place);
                 copy_run(sums_.data() + neuron, count, sums.data() + place);
                 std::fill_n(sums_.data() + neuron, count, 0U);
               });
  kernels().weigh_32(sums.data(), scales.data(), chunk_neurons, block.weight.data());
  settle_doubtful(block.weight, [&](std::size_t place, std::uint32_t estimate) {
    const Neuron neuron = codebook_.tree.neuron_of(chunk * chunk_neurons + place);
    return settle_weight(sums[place], blurred_.hits[neuron], estimate);
  });
  kernels().add_squares(block.weight.data(), squares.data());
  bound_chunk(codebook_, descriptor, slot);
}

void SparseUpdate::make_plane(DescriptorId descriptor, std::span<const CountedCell> cells,
                              std::span<ChunkSquares> squares) {
  slots_.clear();
  for (const CountedCell& cell : cells) {
    spread(cell);
  }
  clear_chunks(codebook_, descriptor, reached_);
  for (const std::uint32_t slot : slots_) {
    divide(descriptor, slot, squares[slot]);
    reached_[slot] = 0;
  }
  bound_supers(codebook_, descriptor);
}

}  // namespace somatlas::gpu
