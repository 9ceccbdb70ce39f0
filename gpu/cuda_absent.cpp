// Stands in for the CUDA backend in a build without CUDA: there is no device, and asking for one
// fails with the reason and the way out.
#include <stdexcept>

#include "gpu/backend.h"

namespace somatlas::gpu {

std::vector<CudaDevice> cuda_devices() {
  return {};
}

std::string cuda_unavailable_reason() {
  return "this build has no CUDA";
}

std::unique_ptr<Backend> make_cuda_backend(MapShape /*shape*/, CudaOptions /*options*/) {
  throw std::runtime_error(
      "this build has no CUDA; use the CPU, or build again where nvcc is installed");
}

MemoryNeed cuda_memory(MapShape /*shape*/, TileCapacity /*tile*/, std::size_t /*tiles*/,
                       std::uint64_t /*most_descriptors*/) {
  return {};
}

}  // namespace somatlas::gpu
