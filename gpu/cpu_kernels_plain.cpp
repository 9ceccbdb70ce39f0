// The kernels in vectors of 16 bytes, which every processor of the kind built for has.
#include "gpu/cpu_kernels_body.h"

namespace somatlas::gpu {
namespace {

constexpr Kernels plain{
    .name = "plain",
    .score_64 = kernels_body::score<16, chunk_neurons>,
    .score_16 = kernels_body::score<16, tree_fanout>,
    .block_maxima = kernels_body::block_maxima,
    .add_squares = kernels_body::add_squares,
    .blur = kernels_body::blur<16>,
    .add_multiple_32 = kernels_body::add_multiple<16, std::uint32_t, std::uint32_t>,
    .add_multiple_64 = kernels_body::add_multiple<16, std::uint64_t, std::uint64_t>,
    .add_multiple_32_64 = kernels_body::add_multiple<16, std::uint32_t, std::uint64_t>,
    .sum_down_32 = kernels_body::sum_down<16, std::uint32_t>,
    .sum_down_64 = kernels_body::sum_down<16, std::uint64_t>,
    .weigh_32 = kernels_body::weigh<std::uint32_t>,
    .weigh_64 = kernels_body::weigh<std::uint64_t>,
    .store_chunks = kernels_body::store_chunks,
    .add_up = kernels_body::add_up<16>};

}  // namespace

std::size_t kernel_count() {
  return 1;
}

const Kernels& kernel(std::size_t /*number*/) {
  return plain;
}

const Kernels& kernels() {
  return plain;
}

}  // namespace somatlas::gpu
