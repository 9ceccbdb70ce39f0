// Measures what a GPU can do at most: 16-byte loads from the first-level cache, and copies within
// device memory. Always holds: a ceiling is the best of several runs.
#include <algorithm>
#include <vector>

#include "gpu/cuda_buffer.cuh"
#include "gpu/cuda_check.cuh"
#include "gpu/cuda_stream.cuh"
#include "tools/bench/gpu_peers.h"

namespace somatlas::tools::bench {
namespace {

using gpu::check;
using gpu::check_launch;
using gpu::DeviceBuffer;

constexpr std::uint32_t table_rows = 32;  // of 512 bytes, what a warp reads at once: 16 KiB
constexpr std::uint32_t row_words = 32;   // of 16 bytes

/// Every warp reads row after row, so many; volatile, so that each load is made.
__global__ void __launch_bounds__(1024, 1)
    cached_reads_kernel(const uint4* table, int loads, std::uint32_t* sink) {
  const uint4* const own = table + threadIdx.x % row_words;
  std::uint32_t row = threadIdx.x / row_words;
  std::uint32_t x = 0;
#pragma unroll 4
  for (int i = 0; i < loads; ++i) {
    uint4 word;
    asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                 : "l"(own + row * row_words));
    x ^= word.x ^ word.y ^ word.z ^ word.w;
    row = (row + 1) % table_rows;
  }
  if (x == 1) {
    *sink = x;
  }
}

}  // namespace

GpuCeilings measure_gpu_ceilings() {
  require_gpu();
  constexpr int loads = 20'000;
  constexpr int copies = 8;
  constexpr int repeats = 5;
  constexpr unsigned threads = 1024;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0));
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes));
  const std::size_t copied = std::min(std::size_t{2} << 30, free_bytes / 4);
  gpu::MemoryAccount account(free_bytes);
  const gpu::Stream stream;
  const gpu::Event begun(gpu::Event::Kind::timing);
  const gpu::Event ended(gpu::Event::Kind::timing);
  const DeviceBuffer<uint4> table(account, table_rows * row_words, "the cached table");
  const DeviceBuffer<std::uint32_t> sink(account, 1, "a sink");
  const DeviceBuffer<std::byte> from(account, copied, "what is copied");
  const DeviceBuffer<std::byte> to(account, copied, "the copy");
  table.fill_bytes(0, stream.view());
  from.fill_bytes(1, stream.view());
  check(cudaFuncSetAttribute(cached_reads_kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxL1));
  const auto seconds_of = [&](const auto& enqueue) {
    enqueue();  // warm
    std::vector<double> seconds;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      stream.view().record(begun.view());
      enqueue();
      stream.view().record(ended.view());
      ended.view().synchronize();
      seconds.push_back(ended.view().seconds_since(begun.view()));
    }
    return *std::min_element(seconds.begin(), seconds.end());  // a ceiling is the best there is
  };
  const auto blocks = static_cast<unsigned>(properties.multiProcessorCount);
  const double reading = seconds_of([&] {
    cached_reads_kernel<<<blocks, threads, 0, stream.view().value()>>>(table.data(), loads,
                                                                       sink.data());
    check_launch();
  });
  const double copying = seconds_of([&] {
    for (int i = 0; i < copies; ++i) {
      check(cudaMemcpyAsync(to.data(), from.data(), copied, cudaMemcpyDeviceToDevice,
                            stream.view().value()));
    }
  });
  const double read_bytes =
      static_cast<double>(blocks) * threads * loads * static_cast<double>(sizeof(uint4));
  return {.cached_weights_a_second = read_bytes / 2 / reading,
          .copied_bytes_a_second = 2.0 * copies * static_cast<double>(copied) / copying};
}

}  // namespace somatlas::tools::bench
