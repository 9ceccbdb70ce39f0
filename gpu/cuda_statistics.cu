// Statistics by atomic additions: sixteen lanes a row. Always holds: only integers are added, so
// the result does not depend on their order.
#include "gpu/cuda_statistics.cuh"

#include "gpu/contract.h"

namespace somatlas::gpu {
namespace {

constexpr unsigned block_threads = 256;
constexpr std::uint32_t row_lanes = 16;

__global__ void accumulate_kernel(TileView tile, std::uint32_t neurons, std::uint32_t descriptors,
                                  std::uint32_t* hits, std::uint32_t* present,
                                  std::uint32_t* counts) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t row = thread / row_lanes;
  const std::uint32_t part = threadIdx.x % row_lanes;
  if (row >= tile.rows || (tile.use[row] & row_use::trains) == 0) {
    return;
  }
  const std::uint32_t bmu = tile.bmu[row];
  if (bmu >= neurons) {
    if (bmu != no_neuron) {
      atomicOr(tile.fault, tile_fault::bmu_out_of_range);
    }
    return;
  }
  if (part == 0) {
    atomicAdd(&hits[bmu], 1);
  }
  const std::uint32_t end = tile.offsets[row + 1];
  for (std::uint32_t i = tile.offsets[row] + part; i < end; i += row_lanes) {
    const std::uint32_t descriptor = tile.descriptors[i];
    if (descriptor >= descriptors) {
      atomicOr(tile.fault, tile_fault::descriptor_out_of_range);
      continue;
    }
    // Set once, and read from the cache from then on.
    if (__ldcg(&present[descriptor]) == 0) {
      atomicExch(&present[descriptor], 1);
    }
    atomicAdd(&counts[std::size_t{descriptor} * neurons + bmu], 1);
  }
}

}  // namespace

std::size_t Statistics::bytes(MapShape shape) {
  return (shape.neurons() + shape.descriptors + shape.neurons() * shape.descriptors) *
         sizeof(std::uint32_t);
}

Statistics::Statistics(MapShape shape, MemoryAccount& account, StreamView stream)
    : shape_(shape),
      hits_(account, shape.neurons(), "the hits"),
      present_(account, shape.descriptors, "the descriptors' flags"),
      counts_(account, shape.neurons() * shape.descriptors, "the counts") {
  clear(stream);
}

void Statistics::clear(StreamView stream) {
  hits_.fill_bytes(0, stream);
  present_.fill_bytes(0, stream);
  counts_.fill_bytes(0, stream);
}

void Statistics::accumulate(TileView tile, StreamView stream) {
  if (tile.rows == 0) {
    return;
  }
  const std::size_t threads = std::size_t{tile.rows} * row_lanes;
  const auto blocks = static_cast<unsigned>((threads + block_threads - 1) / block_threads);
  accumulate_kernel<<<blocks, block_threads, 0, stream.value()>>>(
      tile, static_cast<std::uint32_t>(shape_.neurons()), shape_.descriptors, hits_.data(),
      present_.data(), counts_.data());
  check_launch();
}

std::vector<DescriptorId> Statistics::counted(StreamView stream) const {
  std::vector<std::uint32_t> present(present_.size());
  copy_to_host(present.data(), present_.data(), present.size(), stream);
  stream.synchronize();
  std::vector<DescriptorId> counted;
  for (DescriptorId descriptor = 0; descriptor < present.size(); ++descriptor) {
    if (present[descriptor] != 0) {
      counted.push_back(descriptor);
    }
  }
  return counted;
}

std::vector<std::uint32_t> Statistics::read_hits(StreamView stream) const {
  std::vector<std::uint32_t> hits(hits_.size());
  copy_to_host(hits.data(), hits_.data(), hits.size(), stream);
  stream.synchronize();
  return hits;
}

}  // namespace somatlas::gpu
