// What only the CPU backend has: its pure functions, its refusals and its memory figures.
#include <gtest/gtest.h>

#include <stdexcept>

#include "gpu/cpu_update.h"
#include "tests/gpu/backends.h"
#include "tests/gpu/reference.h"

namespace somatlas::gpu::testing {
namespace {

TEST(CpuUpdate, BlurEqualsLiteralWindows) {
  auto random = generator(60);
  for (const std::uint32_t side : {1U, 2U, 5U, 16U, 31U, 64U}) {
    for (int trial = 0; trial < 6; ++trial) {
      const auto radius = static_cast<std::uint32_t>(trial == 0 ? 0 : random() % (side + 4));
      std::vector<std::uint64_t> plane(std::size_t{side} * side);
      for (auto& cell : plane) {
        cell = random() % 3 == 0 ? random() % 200 : 0;
      }
      const auto expected = reference_blur(plane, side, radius);
      BoxBlur(side).run(plane, radius);
      EXPECT_EQ(plane, expected) << "side " << side << ", radius " << radius;
    }
  }
}

TEST(CpuBackend, RefusesSidesItCannotNumber) {
  EXPECT_THROW((void)make_cpu_backend({.side = 0, .descriptors = 1}, threads(1)),
               std::invalid_argument);
  EXPECT_THROW((void)make_cpu_backend({.side = 65'536, .descriptors = 1}, threads(1)),
               std::invalid_argument);
}

TEST(CpuBackend, AFailureReachesTheCompletion) {
  const auto backend = make_cpu_backend({.side = 2, .descriptors = 3}, threads(2));
  std::vector<Row> rows(1);
  rows[0].descriptors = {3};
  EXPECT_THROW(run_rows(*backend, rows, Work::search, 1), std::out_of_range);
  rows[0].descriptors = {2};
  rows[0].bmu = 4;
  EXPECT_THROW(run_rows(*backend, rows, Work::accumulate, 1), std::out_of_range);
  rows[0].bmu = 3;
  run_rows(*backend, rows, Work::accumulate, 1);
  EXPECT_EQ(backend->read_cells().hits, (std::vector<std::uint32_t>{0, 0, 0, 1}));
}

TEST(CpuBackend, LoadWantsAFlagForEveryNeuron) {
  const auto backend = make_cpu_backend({.side = 2, .descriptors = 0}, threads(1));
  EXPECT_THROW(load_planes(*backend, {}, {0, 0, 0}), std::invalid_argument);
}

TEST(CpuMemory, GrowsWithTheMapTheTilesAndTheThreads) {
  const MapShape shape{.side = 256, .descriptors = 30'000};
  const TileCapacity tile{.rows = 65'536, .descriptors = 65'536 * 16};
  const MemoryNeed need = cpu_memory(shape, tile, 3, 2);
  const std::size_t cells = shape.neurons() * shape.descriptors;
  EXPECT_EQ(need.device_bytes, 0U);
  EXPECT_GE(need.host_bytes, cells * 3 + 3 * Tile::bytes(tile));
  const std::size_t bounds = cells * 2 / 16 * 17 / 16;  // one weight for 16, and one for 256
  EXPECT_LT(need.host_bytes, cells * 3 + bounds + (std::size_t{100} << 20));
  EXPECT_EQ(cpu_memory(shape, tile, 4, 2).host_bytes - need.host_bytes, Tile::bytes(tile));
  EXPECT_GT(cpu_memory(shape, tile, 3, 3).host_bytes, need.host_bytes);
}

TEST(Cuda, WhereThereIsNoGpuTheReasonIsSaid) {
  if (cuda_devices().empty()) {
    EXPECT_FALSE(cuda_unavailable_reason().empty());
    EXPECT_THROW((void)make_cuda_backend({.side = 2, .descriptors = 2}, {}), std::runtime_error);
  } else {
    const auto backend = make_cuda_backend({.side = 2, .descriptors = 2}, {});
    EXPECT_EQ(backend->name(), cuda_devices().front().name);
  }
}

}  // namespace
}  // namespace somatlas::gpu::testing
