// The kernels' one text, in vectors of Bytes bytes of the compiler's own; each processor's
// functions are made of it. Internal to cpu_kernels_*.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "gpu/contract.h"
#include "gpu/cpu_kernels.h"

namespace somatlas::gpu::kernels_body {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::array<std::uint16_t, chunk_neurons> no_weights{};

/// The compiler's vectors, by their bytes.
template <std::size_t Bytes>
struct Vectors;
template <>
struct Vectors<16> {
  using Words [[gnu::vector_size(16)]] = std::uint32_t;
  using Scores [[gnu::vector_size(16)]] = std::int32_t;
};
template <>
struct Vectors<32> {
  using Words [[gnu::vector_size(32)]] = std::uint32_t;
  using Scores [[gnu::vector_size(32)]] = std::int32_t;
};
template <>
struct Vectors<64> {
  using Words [[gnu::vector_size(64)]] = std::uint32_t;
  using Scores [[gnu::vector_size(64)]] = std::int32_t;
};

/// The least of a vector's lanes, by halves.
template <class Scores>
[[gnu::always_inline]] inline std::int32_t least_lane(const Scores& scores) {
  if constexpr (sizeof(Scores) > sizeof(typename Vectors<16>::Scores)) {
    using Half = typename Vectors<sizeof(Scores) / 2>::Scores;
    Half low;
    Half high;
    std::memcpy(&low, &scores, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char*>(&scores) + sizeof low, sizeof high);
    return least_lane<Half>(low < high ? low : high);
  } else {
    using Words = Vectors<16>::Words;
    const Scores crossed = __builtin_shuffle(scores, Words{2, 3, 0, 1});
    const Scores lower = scores < crossed ? scores : crossed;
    return std::min(lower[0], lower[1]);
  }
}

/// Scores of Places consecutive places. Four weights add up inside 16 bits, so four descriptors are
/// added two places a word with no carry between them. Then words enter `both` as they are and
/// their high halves `odd`: wrapping sums, from which the low halves come out exactly at the end.
template <std::size_t Bytes, std::size_t Places>
[[gnu::always_inline]] inline std::int32_t score(const TableRow& row, const Lanes* norms,
                                                 Lanes* scores) {
  using Words = typename Vectors<Bytes>::Words;
  using Scores = typename Vectors<Bytes>::Scores;
  constexpr std::size_t vectors = Places * sizeof(std::uint16_t) / Bytes;
  constexpr std::size_t words = Bytes / sizeof(std::uint32_t);
  Words both[vectors] = {};
  Words odd[vectors] = {};
  const auto add_four = [&](const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* c,
                            const std::uint16_t* d) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < vectors; ++j) {
      const std::size_t at = 2 * words * j;
      Words four[4];
      std::memcpy(&four[0], a + at, sizeof(Words));
      std::memcpy(&four[1], b + at, sizeof(Words));
      std::memcpy(&four[2], c + at, sizeof(Words));
      std::memcpy(&four[3], d + at, sizeof(Words));
      const Words sum = (four[0] + four[1]) + (four[2] + four[3]);
      both[j] += sum;
      odd[j] += sum >> 16;
    }
  };
  const auto weights = [&row](std::size_t d) __attribute__((always_inline)) {
    return row.first + row.descriptors[d] * row.stride;
  };
  const std::size_t fours = row.length / 4 * 4;
  for (std::size_t d = 0; d < fours; d += 4) {
    add_four(weights(d), weights(d + 1), weights(d + 2), weights(d + 3));
  }
  if (fours != row.length) {
    const std::uint16_t* const none = no_weights.data();
    add_four(weights(fours), fours + 1 < row.length ? weights(fours + 1) : none,
             fours + 2 < row.length ? weights(fours + 2) : none, none);
  }
  Scores lowest = Scores{} + padded_norm;
  const auto* norm = reinterpret_cast<const std::int32_t*>(norms);
  auto* out = reinterpret_cast<std::int32_t*>(scores);
  const auto finish = [&](const Words& sums, std::size_t lane) __attribute__((always_inline)) {
    Scores value;
    std::memcpy(&value, norm + lane, sizeof value);
    value -= reinterpret_cast<const Scores&>(sums) << 7;
    std::memcpy(out + lane, &value, sizeof value);
    lowest = value < lowest ? value : lowest;
  };
#pragma GCC unroll 8
  for (std::size_t j = 0; j < vectors; ++j) {
    const Words even = both[j] - (odd[j] << 16);
    if constexpr (words == lanes) {  // two runs of sixteen places in a vector
      constexpr Words first{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23};
      finish(__builtin_shuffle(even, odd[j], first), 2 * lanes * j);
      finish(__builtin_shuffle(even, odd[j], first + 8), 2 * lanes * j + lanes);
    } else {  // one run, or half of one
      constexpr std::size_t half = lanes / 2;
      const std::size_t lane = j * words / half * lanes + j * words % half;
      finish(even, lane);
      finish(odd[j], lane + half);
    }
  }
  return least_lane(lowest);
}

template <std::size_t Bytes>
[[gnu::always_inline]] inline std::uint64_t add_up(const std::uint16_t* weights,
                                                   std::size_t count) {
  using Words = typename Vectors<Bytes>::Words;
  constexpr std::size_t at_once = 8;
  constexpr std::size_t step = Bytes / sizeof(std::uint16_t);
  Words sums[at_once] = {};
  for (std::size_t i = 0; i < count; i += at_once * step) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < at_once; ++j) {
      Words loaded;
      std::memcpy(&loaded, weights + i + j * step, sizeof loaded);
      sums[j] += loaded;
    }
  }
  std::uint64_t total = 0;
  for (const Words& sum : sums) {
    for (std::size_t lane = 0; lane < Bytes / sizeof(std::uint32_t); ++lane) {
      total += sum[lane];
    }
  }
  return total;
}

[[gnu::always_inline]] inline void block_maxima(const std::uint16_t* weights,
                                                std::uint16_t* maxima) {
  for (std::size_t block = 0; block < 4; ++block) {
    std::uint16_t largest = 0;
    for (std::size_t i = 0; i < tree_fanout; ++i) {
      largest = std::max(largest, weights[block * tree_fanout + i]);
    }
    maxima[block] = largest;
  }
}

}  // namespace somatlas::gpu::kernels_body
