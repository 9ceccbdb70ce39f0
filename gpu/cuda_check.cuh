// What every CUDA call's return code goes through: check() throws CudaError with the place and the
// runtime's text, report() is for destructors and never throws. Always holds: no return code is
// dropped. CUDA types stay in .cuh and .cu files.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <source_location>
#include <stdexcept>
#include <string>

namespace somatlas::gpu {

/// A CUDA call or a kernel failed; what() names the place and the runtime's reason.
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const std::source_location& where)
      : std::runtime_error(std::string("the GPU failed at ") + where.file_name() + ":" +
                           std::to_string(where.line()) + " with " + cudaGetErrorName(code) + " (" +
                           cudaGetErrorString(code) + ")"),
        code_(code) {}
  [[nodiscard]] cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

/// Throws CudaError unless code is cudaSuccess.
inline void check(cudaError_t code,
                  const std::source_location& where = std::source_location::current()) {
  if (code != cudaSuccess) {
    // Takes a launch's error off the thread, so that the next check does not report it again.
    static_cast<void>(cudaGetLastError());
    throw CudaError(code, where);
  }
}

/// Throws CudaError if the kernel launched just before could not start.
inline void check_launch(const std::source_location& where = std::source_location::current()) {
  check(cudaGetLastError(), where);
}

/// For destructors: says on stderr what failed, and goes on.
inline void report(cudaError_t code,
                   const std::source_location& where = std::source_location::current()) noexcept {
  if (code != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    std::fprintf(stderr, "warning: the GPU failed at %s:%u with %s while cleaning up\n",
                 where.file_name(), static_cast<unsigned>(where.line()), cudaGetErrorName(code));
  }
}

}  // namespace somatlas::gpu
