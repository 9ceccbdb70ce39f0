// Moves planes between row-major order and the chunks, and makes bounds and norms.
#include "gpu/cpu_codebook.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>

#include "gpu/contract.h"

namespace somatlas::gpu {
namespace {

constexpr std::size_t whole_chunks(std::size_t nodes) {
  return (nodes + chunk_neurons - 1) / chunk_neurons * chunk_neurons;
}

std::int32_t& lane_of(std::vector<ChunkLanes>& chunks, std::size_t slot, std::size_t place) {
  return chunks[slot][place / lanes].value[score_lane(place)];
}

}  // namespace

BoundTable::BoundTable(std::size_t node_count, std::size_t descriptors)
    : nodes(node_count),
      stride(whole_chunks(node_count)),
      most(stride * std::max<std::size_t>(descriptors, 1)),
      least(stride / chunk_neurons) {}

CpuCodebook::CpuCodebook(MapShape map_shape)
    : shape(map_shape),
      tree(map_shape.side),
      weights(std::max<std::size_t>(tree.filled_chunks().size() * map_shape.descriptors, 1)),
      norms(tree.filled_chunks().size()),
      blocks(tree.blocks(), map_shape.descriptors),
      supers(tree.supers(), map_shape.descriptors),
      square_sum(map_shape.neurons()),
      vacant(map_shape.neurons(), 1),
      present(tree.filled_chunks().size() * present_words()) {
  make_norms(*this);
}

std::int32_t CpuCodebook::norm(Neuron neuron) const {
  const std::size_t place = tree.place_of(neuron);
  const std::size_t in_chunk = place % chunk_neurons;
  return norms[tree.slot(place / chunk_neurons)][in_chunk / lanes].value[score_lane(in_chunk)];
}

std::size_t codebook_bytes(MapShape shape) {
  const PlaneTree::Size tree = PlaneTree::size_of(shape.side);
  const std::size_t nodes = whole_chunks(tree.supers * tree_fanout) + whole_chunks(tree.supers);
  return tree.filled_chunks * (shape.descriptors * sizeof(WeightBlock) + sizeof(ChunkLanes)) +
         nodes * (shape.descriptors * sizeof(std::uint16_t) + sizeof(std::int32_t)) +
         tree.filled_chunks * ((shape.descriptors + 63) / 64) * sizeof(std::uint64_t) +
         shape.neurons() * (sizeof(std::uint64_t) + 1);
}

void store_plane(CpuCodebook& codebook, DescriptorId descriptor,
                 std::span<const std::uint16_t> plane) {
  const std::vector<std::uint32_t>& filled = codebook.tree.filled_chunks();
  for (std::size_t slot = 0; slot < filled.size(); ++slot) {
    WeightBlock& block = codebook.weights[slot * codebook.shape.descriptors + descriptor];
    const PlaneTree::Corner first = codebook.tree.corner(filled[slot]);
    const std::uint32_t side = codebook.shape.side;
    if (first.row + 8 <= side && first.column + 8 <= side) {
      rows_to_chunk(plane.data() + std::size_t{first.row} * side + first.column, side,
                    block.weight.data());
    } else {
      for_each_run(codebook.tree, filled[slot],
                   [&](std::size_t place, std::size_t neuron, std::size_t count) {
                     copy_run(plane.data() + neuron, count, block.weight.data() + place);
                   });
    }
    std::uint16_t* const maxima =
        codebook.blocks.row(descriptor).data() + std::size_t{4} * filled[slot];
    const bool held = any_of_four(maxima);
    kernels().block_maxima(block.weight.data(), maxima);
    if (held != any_of_four(maxima)) {
      flip_present(codebook, slot, descriptor, 1);
    }
  }
  bound_supers(codebook, descriptor);
}

/// Two rows of a block are one vector, which the block's bound is made from next: loads wider than
/// the stores before them wait.
void rows_to_chunk(const std::uint16_t* rows, std::size_t pitch, std::uint16_t* chunk) {
  using Eight [[gnu::vector_size(16)]] = std::uint16_t;
  for (std::size_t block = 0; block < 4; block += 2) {
    for (std::size_t half = 0; half < 2; ++half) {
      Eight two[2];
      std::memcpy(&two[0], rows, sizeof two[0]);
      std::memcpy(&two[1], rows + pitch, sizeof two[1]);
      const Eight left = __builtin_shufflevector(two[0], two[1], 0, 1, 2, 3, 8, 9, 10, 11);
      const Eight right = __builtin_shufflevector(two[0], two[1], 4, 5, 6, 7, 12, 13, 14, 15);
      std::memcpy(chunk + block * tree_fanout + half * 8, &left, sizeof left);
      std::memcpy(chunk + (block + 1) * tree_fanout + half * 8, &right, sizeof right);
      rows += 2 * pitch;
    }
  }
}

void bound_supers(CpuCodebook& codebook, DescriptorId descriptor) {
  const std::uint16_t* const blocks = codebook.blocks.row(descriptor).data();
  std::uint16_t* const supers = codebook.supers.row(descriptor).data();
  for (std::size_t block = 0; block < codebook.blocks.stride; block += chunk_neurons) {
    kernels().block_maxima(blocks + block, supers + block / tree_fanout);
  }
}

void flip_present(CpuCodebook& codebook, std::size_t slot, DescriptorId first,
                  std::uint64_t which) {
  std::uint64_t& word = codebook.present[slot * codebook.present_words() + first / 64];
  std::atomic_ref(word).fetch_xor(which << first % 64, std::memory_order_relaxed);
}

void fetch_plane(const CpuCodebook& codebook, DescriptorId descriptor,
                 std::span<std::uint16_t> plane) {
  // Chunks of one descriptor lie far apart, and most have no weight of it: those are passed over.
  std::ranges::fill(plane, std::uint16_t{0});
  const std::uint16_t* const maxima = codebook.blocks.row(descriptor).data();
  const std::vector<std::uint32_t>& filled = codebook.tree.filled_chunks();
  for (std::size_t slot = 0; slot < filled.size(); ++slot) {
    if (!any_of_four(maxima + std::size_t{4} * filled[slot])) {
      continue;
    }
    const WeightBlock& block = codebook.weights[slot * codebook.shape.descriptors + descriptor];
    for_each_run(codebook.tree, filled[slot],
                 [&](std::size_t place, std::size_t neuron, std::size_t count) {
                   copy_run(block.weight.data() + place, count, plane.data() + neuron);
                 });
  }
}

void add_squares(const CpuCodebook& codebook, DescriptorId descriptor,
                 std::span<ChunkSquares> sums) {
  for (std::size_t slot = 0; slot < sums.size(); ++slot) {
    kernels().add_squares(codebook.chunk(slot)[descriptor].weight.data(), sums[slot].data());
  }
}

void set_square_sums(CpuCodebook& codebook, std::span<const ChunkSquares> sums) {
  const std::vector<std::uint32_t>& filled = codebook.tree.filled_chunks();
  for (std::size_t slot = 0; slot < filled.size(); ++slot) {
    for_each_run(
        codebook.tree, filled[slot], [&](std::size_t place, std::size_t neuron, std::size_t count) {
          std::copy_n(sums[slot].data() + place, count, codebook.square_sum.data() + neuron);
        });
  }
}

void make_norms(CpuCodebook& codebook) {
  const auto pad = [](std::vector<ChunkLanes>& all) {
    for (ChunkLanes& chunk : all) {
      for (Lanes& run : chunk) {
        run.value.fill(padded_norm);
      }
    }
  };
  pad(codebook.norms);
  pad(codebook.blocks.least);
  pad(codebook.supers.least);
  for (std::size_t i = 0; i < codebook.vacant.size(); ++i) {
    if (codebook.vacant[i] != 0) {
      continue;
    }
    if (codebook.square_sum[i] > max_square_sum) {
      throw std::invalid_argument("the weights of neuron " + std::to_string(i) +
                                  " are too large for a 32-bit norm; the codebook is damaged");
    }
    const std::int32_t norm = norm_of(codebook.square_sum[i]);
    const std::size_t place = codebook.tree.place_of(static_cast<Neuron>(i));
    lane_of(codebook.norms, codebook.tree.slot(place / chunk_neurons), place % chunk_neurons) =
        norm;
    const auto lower = [norm](std::vector<ChunkLanes>& least, std::size_t node) {
      std::int32_t& lane = lane_of(least, node / chunk_neurons, node % chunk_neurons);
      lane = std::min(lane, norm);
    };
    lower(codebook.blocks.least, place / tree_fanout);
    lower(codebook.supers.least, place / super_neurons);
  }
}

}  // namespace somatlas::gpu
