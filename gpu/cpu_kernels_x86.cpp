// The kernels for x86-64: with AVX-512BW, with AVX2, and for processors that have neither.
// Functions and not files are built for a processor, so that nothing of the standard library is
// built for one that a program may not run on.
#include <vector>

#include "gpu/cpu_kernels_body.h"

namespace somatlas::gpu {
namespace {

[[gnu::target("avx512bw,avx512dq,avx512vl")]] std::int32_t score_64_avx512(const TableRow& row,
                                                                           const Lanes* norms,
                                                                           Lanes* scores) {
  return kernels_body::score<64, chunk_neurons>(row, norms, scores);
}
// Sixteen weights fill half of the widest vector.
[[gnu::target("avx512bw,avx512dq,avx512vl")]] std::int32_t score_16_avx512(const TableRow& row,
                                                                           const Lanes* norms,
                                                                           Lanes* scores) {
  return kernels_body::score<32, tree_fanout>(row, norms, scores);
}
[[gnu::target("avx512bw,avx512dq,avx512vl")]] void block_maxima_avx512(const std::uint16_t* weights,
                                                                       std::uint16_t* maxima) {
  kernels_body::block_maxima(weights, maxima);
}
[[gnu::target("avx512bw,avx512dq,avx512vl")]] void add_squares_avx512(const std::uint16_t* weights,
                                                                      std::uint64_t* sums) {
  kernels_body::add_squares(weights, sums);
}
[[gnu::target("avx512bw,avx512dq,avx512vl")]] void weigh_32_avx512(const std::uint32_t* sums,
                                                                   const float* scales,
                                                                   std::size_t count,
                                                                   std::uint16_t* weights) {
  kernels_body::weigh(sums, scales, count, weights);
}
[[gnu::target("avx512bw,avx512dq,avx512vl")]] void blur_avx512(std::uint64_t* numbers,
                                                               std::uint64_t* scratch,
                                                               std::size_t length,
                                                               std::size_t radius) {
  kernels_body::blur<64>(numbers, scratch, length, radius);
}
[[gnu::target("avx512bw,avx512dq,avx512vl")]] void add_multiple_32_avx512(const std::uint32_t* from,
                                                                          std::uint32_t times,
                                                                          std::uint32_t* to,
                                                                          std::size_t count) {
  kernels_body::add_multiple<64>(from, times, to, count);
}
[[gnu::target("avx512bw,avx512dq,avx512vl")]] void add_multiple_64_avx512(const std::uint64_t* from,
                                                                          std::uint64_t times,
                                                                          std::uint64_t* to,
                                                                          std::size_t count) {
  kernels_body::add_multiple<64>(from, times, to, count);
}
[[gnu::target("avx512bw,avx512dq,avx512vl")]] void add_multiple_32_64_avx512(
    const std::uint32_t* from, std::uint64_t times, std::uint64_t* to, std::size_t count) {
  kernels_body::add_multiple<64>(from, times, to, count);
}
[[gnu::target("avx512bw,avx512dq,avx512vl")]] bool sum_down_32_avx512(std::uint32_t* differences,
                                                                      std::size_t pitch,
                                                                      std::uint32_t* running,
                                                                      std::uint32_t* sums) {
  return kernels_body::sum_down<64>(differences, pitch, running, sums);
}
[[gnu::target("avx512bw,avx512dq,avx512vl")]] bool sum_down_64_avx512(std::uint64_t* differences,
                                                                      std::size_t pitch,
                                                                      std::uint64_t* running,
                                                                      std::uint64_t* sums) {
  return kernels_body::sum_down<64>(differences, pitch, running, sums);
}
[[gnu::target("avx512bw,avx512dq,avx512vl")]] unsigned store_chunks_avx512(
    const std::uint16_t* from, unsigned which, std::uint16_t* to, std::uint16_t* maxima,
    std::size_t stride, std::uint64_t* squares) {
  return kernels_body::store_chunks(from, which, to, maxima, stride, squares);
}
[[gnu::target("avx512bw,avx512dq,avx512vl")]] void weigh_64_avx512(const std::uint64_t* sums,
                                                                   const float* scales,
                                                                   std::size_t count,
                                                                   std::uint16_t* weights) {
  kernels_body::weigh(sums, scales, count, weights);
}
[[gnu::target("avx512bw,avx512dq,avx512vl")]] std::uint64_t add_up_avx512(
    const std::uint16_t* weights, std::size_t count) {
  return kernels_body::add_up<64>(weights, count);
}
constexpr Kernels of_avx512{.name = "AVX-512BW",
                            .score_64 = score_64_avx512,
                            .score_16 = score_16_avx512,
                            .block_maxima = block_maxima_avx512,
                            .add_squares = add_squares_avx512,
                            .blur = blur_avx512,
                            .add_multiple_32 = add_multiple_32_avx512,
                            .add_multiple_64 = add_multiple_64_avx512,
                            .add_multiple_32_64 = add_multiple_32_64_avx512,
                            .sum_down_32 = sum_down_32_avx512,
                            .sum_down_64 = sum_down_64_avx512,
                            .weigh_32 = weigh_32_avx512,
                            .weigh_64 = weigh_64_avx512,
                            .store_chunks = store_chunks_avx512,
                            .add_up = add_up_avx512};

[[gnu::target("avx2")]] std::int32_t score_64_avx2(const TableRow& row, const Lanes* norms,
                                                   Lanes* scores) {
  return kernels_body::score<32, chunk_neurons>(row, norms, scores);
}
[[gnu::target("avx2")]] std::int32_t score_16_avx2(const TableRow& row, const Lanes* norms,
                                                   Lanes* scores) {
  return kernels_body::score<32, tree_fanout>(row, norms, scores);
}
[[gnu::target("avx2")]] void block_maxima_avx2(const std::uint16_t* weights,
                                               std::uint16_t* maxima) {
  kernels_body::block_maxima(weights, maxima);
}
[[gnu::target("avx2")]] void add_squares_avx2(const std::uint16_t* weights, std::uint64_t* sums) {
  kernels_body::add_squares(weights, sums);
}
[[gnu::target("avx2")]] void weigh_32_avx2(const std::uint32_t* sums, const float* scales,
                                           std::size_t count, std::uint16_t* weights) {
  kernels_body::weigh(sums, scales, count, weights);
}
[[gnu::target("avx2")]] void blur_avx2(std::uint64_t* numbers, std::uint64_t* scratch,
                                       std::size_t length, std::size_t radius) {
  kernels_body::blur<32>(numbers, scratch, length, radius);
}
[[gnu::target("avx2")]] void add_multiple_32_avx2(const std::uint32_t* from, std::uint32_t times,
                                                  std::uint32_t* to, std::size_t count) {
  kernels_body::add_multiple<32>(from, times, to, count);
}
[[gnu::target("avx2")]] void add_multiple_64_avx2(const std::uint64_t* from, std::uint64_t times,
                                                  std::uint64_t* to, std::size_t count) {
  kernels_body::add_multiple<32>(from, times, to, count);
}
[[gnu::target("avx2")]] void add_multiple_32_64_avx2(const std::uint32_t* from, std::uint64_t times,
                                                     std::uint64_t* to, std::size_t count) {
  kernels_body::add_multiple<32>(from, times, to, count);
}
[[gnu::target("avx2")]] bool sum_down_32_avx2(std::uint32_t* differences, std::size_t pitch,
                                              std::uint32_t* running, std::uint32_t* sums) {
  return kernels_body::sum_down<32>(differences, pitch, running, sums);
}
[[gnu::target("avx2")]] bool sum_down_64_avx2(std::uint64_t* differences, std::size_t pitch,
                                              std::uint64_t* running, std::uint64_t* sums) {
  return kernels_body::sum_down<32>(differences, pitch, running, sums);
}
[[gnu::target("avx2")]] unsigned store_chunks_avx2(const std::uint16_t* from, unsigned which,
                                                   std::uint16_t* to, std::uint16_t* maxima,
                                                   std::size_t stride, std::uint64_t* squares) {
  return kernels_body::store_chunks(from, which, to, maxima, stride, squares);
}
[[gnu::target("avx2")]] void weigh_64_avx2(const std::uint64_t* sums, const float* scales,
                                           std::size_t count, std::uint16_t* weights) {
  kernels_body::weigh(sums, scales, count, weights);
}
[[gnu::target("avx2")]] std::uint64_t add_up_avx2(const std::uint16_t* weights, std::size_t count) {
  return kernels_body::add_up<32>(weights, count);
}
constexpr Kernels of_avx2{.name = "AVX2",
                          .score_64 = score_64_avx2,
                          .score_16 = score_16_avx2,
                          .block_maxima = block_maxima_avx2,
                          .add_squares = add_squares_avx2,
                          .blur = blur_avx2,
                          .add_multiple_32 = add_multiple_32_avx2,
                          .add_multiple_64 = add_multiple_64_avx2,
                          .add_multiple_32_64 = add_multiple_32_64_avx2,
                          .sum_down_32 = sum_down_32_avx2,
                          .sum_down_64 = sum_down_64_avx2,
                          .weigh_32 = weigh_32_avx2,
                          .weigh_64 = weigh_64_avx2,
                          .store_chunks = store_chunks_avx2,
                          .add_up = add_up_avx2};

std::int32_t score_64_plain(const TableRow& row, const Lanes* norms, Lanes* scores) {
  return kernels_body::score<16, chunk_neurons>(row, norms, scores);
}
std::int32_t score_16_plain(const TableRow& row, const Lanes* norms, Lanes* scores) {
  return kernels_body::score<16, tree_fanout>(row, norms, scores);
}
void block_maxima_plain(const std::uint16_t* weights, std::uint16_t* maxima) {
  kernels_body::block_maxima(weights, maxima);
}
void add_squares_plain(const std::uint16_t* weights, std::uint64_t* sums) {
  kernels_body::add_squares(weights, sums);
}
void weigh_32_plain(const std::uint32_t* sums, const float* scales, std::size_t count,
                    std::uint16_t* weights) {
  kernels_body::weigh(sums, scales, count, weights);
}
void blur_plain(std::uint64_t* numbers, std::uint64_t* scratch, std::size_t length,
                std::size_t radius) {
  kernels_body::blur<16>(numbers, scratch, length, radius);
}
void add_multiple_32_plain(const std::uint32_t* from, std::uint32_t times, std::uint32_t* to,
                           std::size_t count) {
  kernels_body::add_multiple<16>(from, times, to, count);
}
void add_multiple_64_plain(const std::uint64_t* from, std::uint64_t times, std::uint64_t* to,
                           std::size_t count) {
  kernels_body::add_multiple<16>(from, times, to, count);
}
void add_multiple_32_64_plain(const std::uint32_t* from, std::uint64_t times, std::uint64_t* to,
                              std::size_t count) {
  kernels_body::add_multiple<16>(from, times, to, count);
}
bool sum_down_32_plain(std::uint32_t* differences, std::size_t pitch, std::uint32_t* running,
                       std::uint32_t* sums) {
  return kernels_body::sum_down<16>(differences, pitch, running, sums);
}
bool sum_down_64_plain(std::uint64_t* differences, std::size_t pitch, std::uint64_t* running,
                       std::uint64_t* sums) {
  return kernels_body::sum_down<16>(differences, pitch, running, sums);
}
unsigned store_chunks_plain(const std::uint16_t* from, unsigned which, std::uint16_t* to,
                            std::uint16_t* maxima, std::size_t stride, std::uint64_t* squares) {
  return kernels_body::store_chunks(from, which, to, maxima, stride, squares);
}
void weigh_64_plain(const std::uint64_t* sums, const float* scales, std::size_t count,
                    std::uint16_t* weights) {
  kernels_body::weigh(sums, scales, count, weights);
}
std::uint64_t add_up_plain(const std::uint16_t* weights, std::size_t count) {
  return kernels_body::add_up<16>(weights, count);
}
constexpr Kernels of_plain{.name = "SSE2",
                           .score_64 = score_64_plain,
                           .score_16 = score_16_plain,
                           .block_maxima = block_maxima_plain,
                           .add_squares = add_squares_plain,
                           .blur = blur_plain,
                           .add_multiple_32 = add_multiple_32_plain,
                           .add_multiple_64 = add_multiple_64_plain,
                           .add_multiple_32_64 = add_multiple_32_64_plain,
                           .sum_down_32 = sum_down_32_plain,
                           .sum_down_64 = sum_down_64_plain,
                           .weigh_32 = weigh_32_plain,
                           .weigh_64 = weigh_64_plain,
                           .store_chunks = store_chunks_plain,
                           .add_up = add_up_plain};

/// The quickest first.
const std::vector<Kernels>& available() {
  static const std::vector<Kernels> list = [] {
    std::vector<Kernels> kinds;
    if (__builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
        __builtin_cpu_supports("avx512vl") != 0) {
      kinds.push_back(of_avx512);
    }
    if (__builtin_cpu_supports("avx2") != 0) {
      kinds.push_back(of_avx2);
    }
    kinds.push_back(of_plain);
    return kinds;
  }();
  return list;
}

}  // namespace

std::size_t kernel_count() {
  return available().size();
}

const Kernels& kernel(std::size_t number) {
  return available().at(number);
}

const Kernels& kernels() {
  return available().front();
}

}  // namespace somatlas::gpu
