// Which GPUs a build can use, by number: the one it was made for, later ones, and none before.
#include "gpu/cuda_capability.h"

#include <gtest/gtest.h>

#include <array>

namespace somatlas::gpu::testing {
namespace {

TEST(CudaCapability, ABuildServesWhatItWasMadeForAndWhatCameLater) {
  constexpr std::array all{800, 860, 890, 900};
  for (const auto& [major, minor] : {std::pair{8, 0}, {8, 6}, {8, 9}, {9, 0}, {10, 0}, {12, 1}}) {
    EXPECT_EQ(unusable_reason("A GPU", major, minor, all), "");
  }
  EXPECT_EQ(unusable_reason("A GPU", 9, 0, std::array{900}), "");
}

TEST(CudaCapability, AnEarlierGpuIsToldWhatToDo) {
  EXPECT_EQ(unusable_reason("NVIDIA A10", 8, 6, std::array{900}),
            "the GPU NVIDIA A10 has compute capability 8.6, which this build has no code for; "
            "build again with -DCMAKE_CUDA_ARCHITECTURES=86");
  for (const int least : {800, 900}) {
    EXPECT_EQ(
        unusable_reason("Tesla T4", 7, 5, std::array{least, 1000}),
        "the GPU Tesla T4 has compute capability 7.5 and somatlas needs 8.0 or later; use the "
        "CPU, or name another GPU in CUDA_VISIBLE_DEVICES");
  }
}

}  // namespace
}  // namespace somatlas::gpu::testing
