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

/// Three box passes of one processor along lines of one width, against windows summed literally.
template <class Sum, class Blur>
void expect_blurred(std::mt19937_64& random, const char* name, const Blur& blur) {
  const std::size_t length = 1 + random() % 70;
  const std::size_t radius = random() % (length + 3);
  std::vector<Sum> numbers(length * blur_lines<Sum>);
  for (Sum& number : numbers) {
    number = static_cast<Sum>(random() % 3 == 0 ? random() : 0);
  }
  std::vector<Sum> expected = numbers;
  for (int pass = 0; pass < 3; ++pass) {
    const std::vector<Sum> from = expected;
    for (std::size_t x = 0; x < length; ++x) {
      for (std::size_t line = 0; line < blur_lines<Sum>; ++line) {
        Sum sum = 0;
        for (std::size_t at = x - std::min(x, radius); at < std::min(length, x + radius + 1);
             ++at) {
          sum += from[at * blur_lines<Sum> + line];
        }
        expected[x * blur_lines<Sum> + line] = sum;
      }
    }
  }
  std::vector<Sum> scratch(numbers.size());
  blur(numbers.data(), scratch.data(), length, radius);
  ASSERT_EQ(scratch, expected) << name << ", length " << length << ", radius " << radius;
}

TEST(CpuKernels, BoxPassesAreSumsOverWindows) {
  auto random = generator(77);
  for (int trial = 0; trial < 50; ++trial) {
    for (std::size_t k = 0; k < kernel_count(); ++k) {
      expect_blurred<std::uint32_t>(random, kernel(k).name, kernel(k).blur_32);
      expect_blurred<std::uint64_t>(random, kernel(k).name, kernel(k).blur_64);
    }
  }
}

}  // namespace
}  // namespace somatlas::gpu::testing
