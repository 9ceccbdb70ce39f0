// Stands in for gpu_peers.cu where the build has no CUDA.
#include <stdexcept>

#include "tools/bench/gpu_peers.h"

namespace somatlas::tools::bench {

GpuCeilings measure_gpu_ceilings() {
  throw std::runtime_error("there is no GPU to measure: " + gpu::cuda_unavailable_reason());
}

std::unique_ptr<GpuPeers> make_gpu_peers(gpu::MapShape, const gpu::Cells&, const Articles&) {
  throw std::runtime_error("there is no GPU to measure: " + gpu::cuda_unavailable_reason());
}

}  // namespace somatlas::tools::bench
