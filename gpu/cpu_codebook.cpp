// Moves planes between row-major order and the chunks, and makes norms.
#include "gpu/cpu_codebook.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "gpu/contract.h"

namespace somatlas::gpu {

CpuCodebook::CpuCodebook(MapShape map_shape)
    : shape(map_shape),
      chunks((map_shape.neurons() + chunk_neurons - 1) / chunk_neurons),
      weights(chunks * map_shape.descriptors),
      norms(chunks),
      square_sum(map_shape.neurons()),
      vacant(map_shape.neurons(), 1) {
  make_norms(*this);
}

void store_plane(CpuCodebook& codebook, DescriptorId descriptor,
                 std::span<const std::uint16_t> plane) {
  for (std::size_t c = 0; c < codebook.chunks; ++c) {
    const std::size_t first = c * chunk_neurons;
    const std::size_t count = std::min(chunk_neurons, plane.size() - first);
    WeightBlock& block = codebook.weights[c * codebook.shape.descriptors + descriptor];
    std::copy_n(plane.data() + first, count, block.weight.data());
  }
}

void fetch_plane(const CpuCodebook& codebook, DescriptorId descriptor,
                 std::span<std::uint16_t> plane) {
  for (std::size_t c = 0; c < codebook.chunks; ++c) {
    const std::size_t first = c * chunk_neurons;
    const std::size_t count = std::min(chunk_neurons, plane.size() - first);
    const WeightBlock& block = codebook.weights[c * codebook.shape.descriptors + descriptor];
    std::copy_n(block.weight.data(), count, plane.data() + first);
  }
}

void add_squares(std::span<const std::uint16_t> plane, std::span<std::uint64_t> sums) {
  for (std::size_t i = 0; i < plane.size(); ++i) {
    sums[i] += std::uint64_t{plane[i]} * plane[i];
  }
}

void make_norms(CpuCodebook& codebook) {
  for (NormBlock& block : codebook.norms) {
    block.norm.fill(padded_norm);
  }
  for (std::size_t i = 0; i < codebook.vacant.size(); ++i) {
    if (codebook.vacant[i] != 0) {
      continue;
    }
    if (codebook.square_sum[i] > max_square_sum) {
      throw std::invalid_argument("the weights of neuron " + std::to_string(i) +
                                  " are too large for a 32-bit norm; the codebook is damaged");
    }
    codebook.norms[i / chunk_neurons].norm[norm_place(i)] = norm_of(codebook.square_sum[i]);
  }
}

}  // namespace somatlas::gpu
