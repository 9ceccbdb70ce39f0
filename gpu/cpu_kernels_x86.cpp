// The kernels for x86-64: with AVX-512BW, with AVX2, and for processors that have neither.
#include <vector>

#include "gpu/cpu_kernels_body.h"

namespace somatlas::gpu {
namespace {

[[gnu::target("avx512bw")]] std::int32_t score_64_avx512(const TableRow& row, const Lanes* norms,
                                                         Lanes* scores) {
  return kernels_body::score<64, chunk_neurons>(row, norms, scores);
}
// Sixteen weights fill half of the widest vector.
[[gnu::target("avx512bw")]] std::int32_t score_16_avx512(const TableRow& row, const Lanes* norms,
                                                         Lanes* scores) {
  return kernels_body::score<32, tree_fanout>(row, norms, scores);
}
[[gnu::target("avx512bw")]] std::uint64_t add_up_avx512(const std::uint16_t* weights,
                                                        std::size_t count) {
  return kernels_body::add_up<64>(weights, count);
}
[[gnu::target("avx512bw")]] void block_maxima_avx512(const std::uint16_t* weights,
                                                     std::uint16_t* maxima) {
  kernels_body::block_maxima(weights, maxima);
}

[[gnu::target("avx2")]] std::int32_t score_64_avx2(const TableRow& row, const Lanes* norms,
                                                   Lanes* scores) {
  return kernels_body::score<32, chunk_neurons>(row, norms, scores);
}
[[gnu::target("avx2")]] std::int32_t score_16_avx2(const TableRow& row, const Lanes* norms,
                                                   Lanes* scores) {
  return kernels_body::score<32, tree_fanout>(row, norms, scores);
}
[[gnu::target("avx2")]] std::uint64_t add_up_avx2(const std::uint16_t* weights, std::size_t count) {
  return kernels_body::add_up<32>(weights, count);
}
[[gnu::target("avx2")]] void block_maxima_avx2(const std::uint16_t* weights,
                                               std::uint16_t* maxima) {
  kernels_body::block_maxima(weights, maxima);
}

std::int32_t score_64_plain(const TableRow& row, const Lanes* norms, Lanes* scores) {
  return kernels_body::score<16, chunk_neurons>(row, norms, scores);
}
std::int32_t score_16_plain(const TableRow& row, const Lanes* norms, Lanes* scores) {
  return kernels_body::score<16, tree_fanout>(row, norms, scores);
}
std::uint64_t add_up_plain(const std::uint16_t* weights, std::size_t count) {
  return kernels_body::add_up<16>(weights, count);
}
void block_maxima_plain(const std::uint16_t* weights, std::uint16_t* maxima) {
  kernels_body::block_maxima(weights, maxima);
}

/// The quickest first.
const std::vector<Kernels>& available() {
  static const std::vector<Kernels> list = [] {
    std::vector<Kernels> kinds;
    if (__builtin_cpu_supports("avx512bw") != 0) {
      kinds.push_back(
          {"AVX-512BW", score_64_avx512, score_16_avx512, block_maxima_avx512, add_up_avx512});
    }
    if (__builtin_cpu_supports("avx2") != 0) {
      kinds.push_back({"AVX2", score_64_avx2, score_16_avx2, block_maxima_avx2, add_up_avx2});
    }
    kinds.push_back({"SSE2", score_64_plain, score_16_plain, block_maxima_plain, add_up_plain});
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
