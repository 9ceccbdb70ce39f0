// The kernels' one text, in vectors of Bytes bytes of the compiler's own; each processor's
// functions are made of it. Internal to cpu_kernels_*.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

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
  using Longs [[gnu::vector_size(16)]] = std::uint64_t;
};
template <>
struct Vectors<32> {
  using Words [[gnu::vector_size(32)]] = std::uint32_t;
  using Scores [[gnu::vector_size(32)]] = std::int32_t;
  using Longs [[gnu::vector_size(32)]] = std::uint64_t;
};
template <>
struct Vectors<64> {
  using Words [[gnu::vector_size(64)]] = std::uint32_t;
  using Scores [[gnu::vector_size(64)]] = std::int32_t;
  using Longs [[gnu::vector_size(64)]] = std::uint64_t;
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
    const Scores crossed = __builtin_shufflevector(scores, scores, 2, 3, 0, 1);
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
      finish(__builtin_shufflevector(even, odd[j], 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21,
                                     22, 23),
             2 * lanes * j);
      finish(__builtin_shufflevector(even, odd[j], 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28,
                                     29, 30, 31),
             2 * lanes * j + lanes);
    } else {  // one run, or half of one
      constexpr std::size_t half = lanes / 2;
      const std::size_t lane = j * words / half * lanes + j * words % half;
      finish(even, lane);
      finish(odd[j], lane + half);
    }
  }
  return least_lane(lowest);
}

/// A sliding sum, vector by vector: what enters the window less what leaves it.
template <std::size_t Bytes>
[[gnu::always_inline]] inline void blur(std::uint64_t* numbers, std::uint64_t* scratch,
                                        std::size_t length, std::size_t radius) {
  using Vector = typename Vectors<Bytes>::Longs;
  constexpr std::size_t lines = blur_lines;
  constexpr std::size_t width = Bytes / sizeof(std::uint64_t);
  const std::size_t reach = std::min(radius, length);
  for (std::size_t line = 0; line < lines; line += width) {
    const std::uint64_t* from = numbers + line;
    std::uint64_t* to = scratch + line;
    for (int pass = 0; pass < 3; ++pass) {
      Vector sum{};
      Vector value;
      for (std::size_t x = 0; x < reach; ++x) {
        std::memcpy(&value, from + x * lines, sizeof value);
        sum += value;
      }
      for (std::size_t x = 0; x < length; ++x) {
        if (x + reach < length) {
          std::memcpy(&value, from + (x + reach) * lines, sizeof value);
          sum += value;
        }
        if (x > reach) {
          std::memcpy(&value, from + (x - reach - 1) * lines, sizeof value);
          sum -= value;
        }
        std::memcpy(to + x * lines, &sum, sizeof sum);
      }
      from = pass == 0 ? scratch + line : numbers + line;
      to = pass == 0 ? numbers + line : scratch + line;
    }
  }
}

/// Vectors of Bytes bytes of a number.
template <std::size_t Bytes, class Number>
using VectorOf = std::conditional_t<sizeof(Number) == sizeof(std::uint64_t),
                                    typename Vectors<Bytes>::Longs, typename Vectors<Bytes>::Words>;

template <std::size_t Bytes, class From, class Sum>
[[gnu::always_inline]] inline void add_multiple(const From* from, Sum times, Sum* to,
                                                std::size_t count) {
  using Vector = VectorOf<Bytes, Sum>;
  constexpr std::size_t width = Bytes / sizeof(Sum);
  for (std::size_t i = 0; i < count; i += width) {
    Vector sum;
    std::memcpy(&sum, to + i, sizeof sum);
    if constexpr (sizeof(From) == sizeof(Sum)) {
      Vector number;
      std::memcpy(&number, from + i, sizeof number);
      sum += number * times;
    } else {
      using Narrow [[gnu::vector_size(Bytes / 2)]] = std::uint32_t;
      Narrow number;
      std::memcpy(&number, from + i, sizeof number);
      sum += __builtin_convertvector(number, Vector) * times;
    }
    std::memcpy(to + i, &sum, sizeof sum);
  }
}

template <std::size_t Bytes, class Sum>
[[gnu::always_inline]] inline bool sum_down(Sum* differences, std::size_t pitch, Sum* running,
                                            Sum* sums) {
  using Vector = VectorOf<Bytes, Sum>;
  constexpr std::size_t width = Bytes / sizeof(Sum);
  constexpr Vector none{};
  Vector any{};
  for (std::size_t column = 0; column < patch_columns; column += width) {
    Vector sum[3];
    for (std::size_t order = 0; order < 3; ++order) {
      std::memcpy(&sum[order], running + order * patch_columns + column, sizeof(Vector));
    }
    for (std::size_t row = 0; row < patch_rows; ++row) {
      Vector difference;
      std::memcpy(&difference, differences + row * pitch + column, sizeof difference);
      std::memcpy(differences + row * pitch + column, &none, sizeof none);
      sum[0] += difference;
      sum[1] += sum[0];
      sum[2] += sum[1];
      std::memcpy(sums + row * patch_columns + column, &sum[2], sizeof(Vector));
    }
    for (std::size_t order = 0; order < 3; ++order) {
      std::memcpy(running + order * patch_columns + column, &sum[order], sizeof(Vector));
      any |= sum[order];
    }
  }
  Sum lanes_of[width];
  std::memcpy(lanes_of, &any, sizeof any);
  Sum all = 0;
  for (const Sum lane : lanes_of) {
    all |= lane;
  }
  return all != 0;
}

/// In plain loops of fixed length, which the compiler turns into vectors.
template <class Sum>
[[gnu::always_inline]] inline void weigh(const Sum* sums, const float* scales, std::size_t count,
                                         std::uint16_t* weights) {
  // 64-bit sums are below 2^62; signed ones are quicker to turn into numbers with a fraction.
  using Number = std::conditional_t<sizeof(Sum) == 8, std::int64_t, Sum>;
  constexpr std::size_t at_once = 16;
  for (std::size_t first = 0; first < count; first += at_once) {
    std::array<float, at_once> value;
    for (std::size_t i = 0; i < at_once; ++i) {
      value[i] = static_cast<float>(static_cast<Number>(sums[first + i]));
    }
    for (std::size_t i = 0; i < at_once; ++i) {
      const WeightEstimate estimate = estimate_weight(value[i], scales[first + i]);
      weights[first + i] =
          static_cast<std::uint16_t>(estimate.weight | (estimate.doubtful ? doubtful_weight : 0));
    }
  }
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

/// Weights are below 2^15, so signed lanes order them.
[[gnu::always_inline]] inline void block_maxima(const std::uint16_t* weights,
                                                std::uint16_t* maxima) {
  using Eight [[gnu::vector_size(16)]] = std::int16_t;
  Eight half[8];  // two a block
  std::memcpy(half, weights, sizeof half);
  Eight left;
  Eight right;
  Eight most[4];
#pragma GCC unroll 4
  for (std::size_t block = 0; block < 4; ++block) {
    most[block] = half[2 * block] > half[2 * block + 1] ? half[2 * block] : half[2 * block + 1];
  }
#pragma GCC unroll 2
  for (std::size_t pair = 0; pair < 2; ++pair) {
    left = __builtin_shufflevector(most[2 * pair], most[2 * pair + 1], 0, 1, 2, 3, 8, 9, 10, 11);
    right = __builtin_shufflevector(most[2 * pair], most[2 * pair + 1], 4, 5, 6, 7, 12, 13, 14, 15);
    most[pair] = left > right ? left : right;
  }
  left = __builtin_shufflevector(most[0], most[1], 0, 1, 4, 5, 8, 9, 12, 13);
  right = __builtin_shufflevector(most[0], most[1], 2, 3, 6, 7, 10, 11, 14, 15);
  most[0] = left > right ? left : right;
  left = __builtin_shufflevector(most[0], most[0], 0, 2, 4, 6, 0, 2, 4, 6);
  right = __builtin_shufflevector(most[0], most[0], 1, 3, 5, 7, 1, 3, 5, 7);
  most[0] = left > right ? left : right;
  std::memcpy(maxima, &most[0], 4 * sizeof *maxima);
}

[[gnu::always_inline]] inline void add_squares(const std::uint16_t* weights, std::uint64_t* sums) {
  for (std::size_t i = 0; i < chunk_neurons; ++i) {
    const std::uint32_t square = std::uint32_t{weights[i]} * weights[i];
    sums[i] += square;
  }
}

/// Eight squares of weights add up inside 32 bits.
[[gnu::always_inline]] inline unsigned store_chunks(const std::uint16_t* from, unsigned which,
                                                    std::uint16_t* to, std::uint16_t* maxima,
                                                    std::size_t stride, std::uint64_t* squares) {
  alignas(64) std::uint32_t sums[chunk_neurons] = {};
  unsigned holds = 0;
  for (; which != 0; which &= which - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(which));
    const std::uint16_t* const weights = from + i * chunk_neurons;
    std::memcpy(to + i * chunk_neurons, weights, chunk_neurons * sizeof *weights);
    block_maxima(weights, maxima + i * stride);
    std::uint64_t any = 0;
    std::memcpy(&any, maxima + i * stride, sizeof any);
    holds |= (any != 0 ? 1U : 0U) << i;
    for (std::size_t place = 0; place < chunk_neurons; ++place) {
      sums[place] += std::uint32_t{weights[place]} * std::uint32_t{weights[place]};
    }
  }
  for (std::size_t place = 0; place < chunk_neurons; ++place) {
    squares[place] += sums[place];
  }
  return holds;
}

}  // namespace somatlas::gpu::kernels_body
