// Writes a chunk after the other, each for all planes of the batch.
#include "gpu/cpu_plane_batch.h"

#include <cstring>

namespace somatlas::gpu {

PlaneBatch::PlaneBatch(CpuCodebook& codebook)
    : codebook_(codebook),
      weights_(codebook.tree.filled_chunks().size() * most),
      reached_(codebook.tree.filled_chunks().size()) {
  const std::size_t side = codebook.shape.side;
  constexpr std::size_t chunk_columns = patch_columns / 2;
  for (std::size_t row = 0; row < side; row += patch_rows) {
    for (std::size_t column = 0; column < side; column += patch_columns) {
      const auto slot = [&](std::size_t from) {
        if (from >= side) {
          return PlaneTree::no_slot;
        }
        const auto neuron = static_cast<Neuron>(row * side + from);
        return codebook.tree.slot(codebook.tree.place_of(neuron) / chunk_neurons);
      };
      slots_.push_back({slot(column), slot(column + chunk_columns)});
    }
  }
}

void PlaneBatch::put(std::size_t patch, std::size_t plane, const std::uint16_t* weights) {
  for (const std::uint32_t slot : slots_[patch]) {
    if (slot != PlaneTree::no_slot) {
      reached_[slot] = static_cast<std::uint8_t>(reached_[slot] | 1U << plane);
      rows_to_chunk(weights, patch_columns, weights_[slot * most + plane].weight.data());
    }
    weights += patch_columns / 2;
  }
}

void PlaneBatch::store(DescriptorId begin, DescriptorId end, std::span<ChunkSquares> squares) {
  const std::vector<std::uint32_t>& filled = codebook_.tree.filled_chunks();
  const std::size_t planes = end - begin;
  const Kernels& run = kernels();
  for (std::size_t slot = 0; slot < filled.size(); ++slot) {
    WeightBlock* const to = codebook_.weights.data() + slot * codebook_.shape.descriptors + begin;
    std::uint16_t* const maxima =
        codebook_.blocks.row(begin).data() + std::size_t{4} * filled[slot];
    unsigned held = 0;
    for (std::size_t plane = 0; plane < planes; ++plane) {
      held |= (any_of_four(maxima + plane * codebook_.blocks.stride) ? 1U : 0U) << plane;
    }
    const unsigned reached = reached_[slot];
    if ((held | reached) == 0) {
      continue;
    }
    reached_[slot] = 0;
    for (std::size_t plane = 0; plane < planes; ++plane) {
      if ((held & ~reached & 1U << plane) != 0) {
        to[plane] = {};
        std::memset(maxima + plane * codebook_.blocks.stride, 0, 4 * sizeof *maxima);
      }
    }
    unsigned holds = 0;
    if (reached != 0) {
      holds = run.store_chunks(weights_[slot * most].weight.data(), reached, to->weight.data(),
                               maxima, codebook_.blocks.stride, squares[slot].data());
    }
    if (holds != held) {
      flip_present(codebook_, slot, begin, holds ^ held);
    }
  }
  for (DescriptorId descriptor = begin; descriptor < end; ++descriptor) {
    bound_supers(codebook_, descriptor);
  }
}

}  // namespace somatlas::gpu
