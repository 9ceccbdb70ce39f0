// Which GPUs can be used, and why none can. Always holds: a machine without a driver or without a
// device is no error, it has no GPUs; a GPU's place in the list is the number CUDA has for it.
#include <cuda_runtime_api.h>

#include <array>
#include <string>
#include <vector>

#include "gpu/backend.h"
#include "gpu/cuda_capability.h"
#include "gpu/cuda_check.cuh"

namespace somatlas::gpu {

namespace {

/// What nvcc made code for.
constexpr std::array architectures{__CUDA_ARCH_LIST__};

[[nodiscard]] std::string reason_against(const cudaDeviceProp& properties) {
  return unusable_reason(properties.name, properties.major, properties.minor, architectures);
}

}  // namespace

std::vector<CudaDevice> cuda_devices() {
  std::vector<CudaDevice> devices;
  int count = 0;
  if (const cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return devices;
  }
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    CudaDevice found;
    check(cudaGetDeviceProperties(&properties, device));
    if (!reason_against(properties).empty()) {
      break;  // CUDA numbers the fastest first; those behind it would have other numbers here
    }
    check(cudaSetDevice(device));
    check(cudaMemGetInfo(&found.free_bytes, &found.total_bytes));
    found.name = properties.name;
    devices.push_back(found);
  }
  return devices;
}

std::string cuda_unavailable_reason() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  static_cast<void>(cudaGetLastError());
  switch (code) {
    case cudaSuccess: {
      if (count == 0) {
        return "no GPU was found";
      }
      cudaDeviceProp properties{};
      check(cudaGetDeviceProperties(&properties, 0));
      return reason_against(properties);
    }
    case cudaErrorNoDevice:
      return "no GPU was found";
    case cudaErrorInsufficientDriver: {
      int driver = 0;
      static_cast<void>(cudaDriverGetVersion(&driver));
      return driver == 0 ? "no NVIDIA driver is installed"
                         : "the NVIDIA driver is too old for this build; install a newer one";
    }
    default:
      return std::string("the GPU cannot be used: ") + cudaGetErrorString(code);
  }
}

}  // namespace somatlas::gpu
