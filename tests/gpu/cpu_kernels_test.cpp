// The inner loops for every processor that this one can stand for, against plain loops.
#include "gpu/cpu_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "gpu/contract.h"
#include "gpu/cpu_codebook.h"
#include "tests/gpu/reference.h"

namespace somatlas::gpu::testing {
namespace {

TEST(CpuKernels, EveryProcessorsEqualPlainSums) {
  auto random = generator(74);
  constexpr std::size_t stride = 3 * chunk_neurons;
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<std::uint16_t> table(stride * 40);
    for (std::uint16_t& weight : table) {
      weight =
          static_cast<std::uint16_t>(random() % 4 == 0 ? weight_one : random() % (weight_one + 1U));
    }
    std::vector<DescriptorId> row(random() % 30);
    for (DescriptorId& descriptor : row) {
      descriptor = static_cast<DescriptorId>(random() % 40);
    }
    ChunkLanes norms;
    for (Lanes& run : norms) {
      for (std::int32_t& norm : run.value) {
        norm = static_cast<std::int32_t>(random() % INT32_MAX);
      }
    }
    const std::size_t first = random() % (stride - chunk_neurons);
    const TableRow given{table.data() + first, stride, row.data(), row.size()};
    for (std::size_t k = 0; k < kernel_count(); ++k) {
      for (const std::size_t places : {lanes, chunk_neurons}) {
        ChunkLanes scores;
        const auto run = places == lanes ? kernel(k).score_16 : kernel(k).score_64;
        const std::int32_t lowest = run(given, norms.data(), scores.data());
        std::int32_t least = padded_norm;
        for (std::size_t i = 0; i < places; ++i) {
          std::int64_t sum = 0;
          for (const DescriptorId descriptor : row) {
            sum += table[first + descriptor * stride + i];
          }
          const std::size_t lane = score_lane(i);
          const std::int64_t expected = norms[i / lanes].value[lane] - 128 * sum;
          ASSERT_EQ(scores[i / lanes].value[lane], expected) << kernel(k).name;
          least = std::min(least, static_cast<std::int32_t>(expected));
        }
        ASSERT_EQ(lowest, least) << kernel(k).name;
      }
      std::array<std::uint16_t, 4> maxima{};
      kernel(k).block_maxima(given.first, maxima.data());
      for (std::size_t block = 0; block < 4; ++block) {
        const auto* const from = given.first + block * tree_fanout;
        ASSERT_EQ(maxima[block], *std::max_element(from, from + tree_fanout));
      }
    }
  }
}

TEST(CpuKernels, SquaresAreAdded) {
  auto random = generator(75);
  std::array<std::uint16_t, chunk_neurons> weights{};
  ChunkSquares before{};
  for (std::size_t i = 0; i < chunk_neurons; ++i) {
    weights[i] = static_cast<std::uint16_t>(i == 0 ? weight_one : random() % (weight_one + 1U));
    before[i] = random() >> 1;
  }
  for (std::size_t k = 0; k < kernel_count(); ++k) {
    ChunkSquares sums = before;
    kernel(k).add_squares(weights.data(), sums.data());
    for (std::size_t i = 0; i < chunk_neurons; ++i) {
      ASSERT_EQ(sums[i], before[i] + std::uint64_t{weights[i]} * weights[i]) << kernel(k).name;
    }
  }
}

/// weigh(sums, scales, count, weights) of one processor for sums of one width.
template <class Sum, class Weigh>
void expect_weights(std::mt19937_64& random, Sum most, const char* name, const Weigh& weigh) {
  constexpr std::size_t count = 4096;
  std::vector<Sum> sums(count);
  std::vector<std::uint64_t> hits(count);
  std::vector<float> scales(count);
  for (std::size_t i = 0; i < count; ++i) {
    hits[i] = random() % 8 == 0 ? 0 : 1 + random() % (std::uint64_t{most} >> random() % 31);
    if (hits[i] == 0) {
      continue;
    }
    scales[i] = weight_scale(hits[i]);
    // Anything, or as near to the middle between two weights as can be.
    const std::uint64_t middle = (2 * (random() % weight_one) + 1) * (hits[i] / (2 * weight_one));
    sums[i] = static_cast<Sum>(
        random() % 2 == 0
            ? random() % (hits[i] + 1)
            : std::min(hits[i], middle + random() % 5 - std::min<std::uint64_t>(middle, 2)));
  }
  std::vector<std::uint16_t> weights(count);
  weigh(sums.data(), scales.data(), count, weights.data());
  std::size_t doubtful = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t exact = hits[i] == 0 ? std::uint16_t{0} : weight_of(sums[i], hits[i]);
    if ((weights[i] & doubtful_weight) == 0) {
      ASSERT_EQ(weights[i], exact) << name << ": " << sums[i] << " of " << hits[i];
      continue;
    }
    ++doubtful;
    ASSERT_EQ(
        settle_weight(sums[i], hits[i], static_cast<std::uint32_t>(weights[i] ^ doubtful_weight)),
        exact)
        << name << ": " << sums[i] << " of " << hits[i];
  }
  EXPECT_GT(doubtful, 0U);
  EXPECT_LT(doubtful, count / 4 * 3);
}

TEST(CpuKernels, WeightsAreExactOrDoubtful) {
  auto random = generator(76);
  for (int trial = 0; trial < 20; ++trial) {
    for (std::size_t k = 0; k < kernel_count(); ++k) {
      expect_weights<std::uint32_t>(random, UINT32_MAX, kernel(k).name, kernel(k).weigh_32);
      expect_weights<std::uint64_t>(random, (std::uint64_t{1} << 62) - 1, kernel(k).name,
                                    kernel(k).weigh_64);
    }
  }
}

TEST(CpuKernels, BoxPassesAreSumsOverWindows) {
  auto random = generator(77);
  for (int trial = 0; trial < 50; ++trial) {
    const std::size_t length = 1 + random() % 70;
    const std::size_t radius = random() % (length + 3);
    std::vector<std::uint64_t> numbers(length * blur_lines);
    for (std::uint64_t& number : numbers) {
      number = random() % 3 == 0 ? random() : 0;
    }
    std::vector<std::uint64_t> expected = numbers;
    for (int pass = 0; pass < 3; ++pass) {
      const std::vector<std::uint64_t> from = expected;
      for (std::size_t x = 0; x < length; ++x) {
        for (std::size_t line = 0; line < blur_lines; ++line) {
          std::uint64_t sum = 0;
          for (std::size_t at = x - std::min(x, radius); at < std::min(length, x + radius + 1);
               ++at) {
            sum += from[at * blur_lines + line];
          }
          expected[x * blur_lines + line] = sum;
        }
      }
    }
    for (std::size_t k = 0; k < kernel_count(); ++k) {
      std::vector<std::uint64_t> given = numbers;
      std::vector<std::uint64_t> scratch(numbers.size());
      kernel(k).blur(given.data(), scratch.data(), length, radius);
      ASSERT_EQ(scratch, expected)
          << kernel(k).name << ", length " << length << ", radius " << radius;
    }
  }
}

/// add_multiple() and sum_down() of one processor for sums of one width. The edges' lanes hold any
/// bits, so that carries show.
template <class From, class Sum, class Add>
void expect_multiples(std::mt19937_64& random, const char* name, const Add& add) {
  const std::size_t count = 16 * (random() % 5);
  std::vector<From> from(count);
  std::vector<Sum> to(count);
  std::vector<Sum> expected(count);
  const auto times = static_cast<Sum>(random() % 2 == 0 ? random() : -(random() % 9));
  for (std::size_t i = 0; i < count; ++i) {
    from[i] = static_cast<From>(random());
    to[i] = static_cast<Sum>(random());
    expected[i] = to[i] + static_cast<Sum>(from[i]) * times;
  }
  add(from.data(), times, to.data(), count);
  ASSERT_EQ(to, expected) << name;
}

TEST(CpuKernels, MultiplesAreAddedModuloTheirWidth) {
  auto random = generator(78);
  for (int trial = 0; trial < 50; ++trial) {
    for (std::size_t k = 0; k < kernel_count(); ++k) {
      const Kernels& run = kernel(k);
      expect_multiples<std::uint32_t, std::uint32_t>(random, run.name, run.add_multiple_32);
      expect_multiples<std::uint64_t, std::uint64_t>(random, run.name, run.add_multiple_64);
      expect_multiples<std::uint32_t, std::uint64_t>(random, run.name, run.add_multiple_32_64);
    }
  }
}

template <class Sum, class Down>
void expect_sums_down(std::mt19937_64& random, const char* name, const Down& down) {
  constexpr std::size_t pitch = 3 * patch_columns;
  const bool any = random() % 4 != 0;
  std::vector<Sum> differences(patch_rows * pitch);
  std::vector<Sum> running(3 * patch_columns);
  for (Sum& number : differences) {
    number = any && random() % 4 == 0 ? static_cast<Sum>(random()) : 0;
  }
  for (Sum& number : running) {
    number = any && random() % 4 == 0 ? static_cast<Sum>(random()) : 0;
  }
  std::vector<Sum> left = differences;
  std::vector<Sum> expected_running = running;
  std::vector<Sum> expected(patch_places);
  bool going = false;
  for (std::size_t x = 0; x < patch_columns; ++x) {
    Sum* const sum = expected_running.data() + x;
    for (std::size_t y = 0; y < patch_rows; ++y) {
      sum[0] += left[y * pitch + x];
      sum[patch_columns] += sum[0];
      sum[2 * patch_columns] += sum[patch_columns];
      expected[y * patch_columns + x] = sum[2 * patch_columns];
      left[y * pitch + x] = 0;
    }
    going = going || sum[0] != 0 || sum[patch_columns] != 0 || sum[2 * patch_columns] != 0;
  }
  std::vector<Sum> sums(patch_places);
  ASSERT_EQ(down(differences.data(), pitch, running.data(), sums.data()), going) << name;
  ASSERT_EQ(sums, expected) << name;
  ASSERT_EQ(running, expected_running) << name;
  ASSERT_EQ(differences, left) << name;
}

TEST(CpuKernels, ThirdDifferencesAreSummedDownAPatch) {
  auto random = generator(79);
  for (int trial = 0; trial < 50; ++trial) {
    for (std::size_t k = 0; k < kernel_count(); ++k) {
      expect_sums_down<std::uint32_t>(random, kernel(k).name, kernel(k).sum_down_32);
      expect_sums_down<std::uint64_t>(random, kernel(k).name, kernel(k).sum_down_64);
    }
  }
}

TEST(CpuKernels, ChunksAreCopiedWithMaximaAndSquares) {
  auto random = generator(80);
  constexpr std::size_t most = 8;
  constexpr std::size_t stride = 12;
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<std::uint16_t> from(most * chunk_neurons);
    for (std::size_t chunk = 0; chunk < most; ++chunk) {
      const std::uint64_t kind = random() % 3;
      for (std::size_t i = 0; i < chunk_neurons && kind != 0; ++i) {
        from[chunk * chunk_neurons + i] =
            static_cast<std::uint16_t>(kind == 1 ? weight_one : random() % (weight_one + 1U));
      }
    }
    const auto which = static_cast<unsigned>(trial == 0 ? 255 : random() % 256);
    for (std::size_t k = 0; k < kernel_count(); ++k) {
      std::vector<std::uint16_t> to(from.size(), 7);
      std::vector<std::uint16_t> maxima(most * stride, 9);
      ChunkSquares squares{};
      squares.fill(random() >> 1);
      std::vector<std::uint16_t> expected = to;
      std::vector<std::uint16_t> expected_maxima = maxima;
      ChunkSquares expected_squares = squares;
      unsigned holds = 0;
      for (std::size_t chunk = 0; chunk < most; ++chunk) {
        if ((which >> chunk & 1U) == 0) {
          continue;
        }
        std::fill_n(expected_maxima.begin() + static_cast<std::ptrdiff_t>(chunk * stride), 4, 0);
        for (std::size_t i = 0; i < chunk_neurons; ++i) {
          const std::uint16_t weight = from[chunk * chunk_neurons + i];
          expected[chunk * chunk_neurons + i] = weight;
          std::uint16_t& largest = expected_maxima[chunk * stride + i / tree_fanout];
          largest = std::max(largest, weight);
          expected_squares[i] += std::uint64_t{weight} * weight;
          holds |= (weight != 0 ? 1U : 0U) << chunk;
        }
      }
      ASSERT_EQ(kernel(k).store_chunks(from.data(), which, to.data(), maxima.data(), stride,
                                       squares.data()),
                holds)
          << kernel(k).name;
      ASSERT_EQ(to, expected) << kernel(k).name;
      ASSERT_EQ(maxima, expected_maxima) << kernel(k).name;
      ASSERT_EQ(squares, expected_squares) << kernel(k).name;
    }
  }
}

}  // namespace
}  // namespace somatlas::gpu::testing
