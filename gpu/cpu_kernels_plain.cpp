// The kernels in vectors of 16 bytes, which every processor of the kind built for has.
#include "gpu/cpu_kernels_body.h"

namespace somatlas::gpu {
namespace {

constexpr Kernels plain{"plain",
                        [](const TableRow& row, const Lanes* norms, Lanes* scores) {
                          return kernels_body::score<16, chunk_neurons>(row, norms, scores);
                        },
                        [](const TableRow& row, const Lanes* norms, Lanes* scores) {
                          return kernels_body::score<16, tree_fanout>(row, norms, scores);
                        },
                        [](const std::uint16_t* weights, std::uint16_t* maxima) {
                          kernels_body::block_maxima(weights, maxima);
                        }};

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
