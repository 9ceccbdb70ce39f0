// Whether a GPU can run the code of this build. Always holds: plain numbers, so that it is tested
// where there is no GPU.
#pragma once

#include <span>
#include <string>

namespace somatlas::gpu {

/// The least compute capability that the kernels are written for, times 100.
inline constexpr int least_capability = 800;

/// Why a GPU of compute capability major.minor cannot run code for these architectures (capability
/// times 100, ascending, as nvcc lists them), in a sentence for the user; empty where it can: code
/// is kept in a form that later GPUs take too.
[[nodiscard]] inline std::string unusable_reason(const std::string& name, int major, int minor,
                                                 std::span<const int> architectures) {
  const int capability = 100 * major + 10 * minor;
  if (!architectures.empty() && capability >= architectures.front()) {
    return "";
  }
  const auto text = [](int value) {
    return std::to_string(value / 100) + "." + std::to_string(value % 100 / 10);
  };
  const std::string has = "the GPU " + name + " has compute capability " + text(capability);
  if (capability < least_capability) {
    return has + " and somatlas needs " + text(least_capability) +
           " or later; use the CPU, or name another GPU in CUDA_VISIBLE_DEVICES";
  }
  return has + ", which this build has no code for; build again with -DCMAKE_CUDA_ARCHITECTURES=" +
         std::to_string(capability / 10);
}

}  // namespace somatlas::gpu
