// What the CUDA backend alone promises: both forms of its statistics, its memory account, and
// failures that reach the completion. Skipped with the reason where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/backend.h"
#include "tests/gpu/backends.h"
#include "tests/gpu/reference.h"

namespace somatlas::gpu::testing {
namespace {

class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_devices().empty()) {
      GTEST_SKIP() << cuda_unavailable_reason();
    }
  }
};

[[nodiscard]] std::size_t descriptors_of(const std::vector<Row>& rows) {
  std::size_t sum = 0;
  for (const Row& row : rows) {
    sum += row.descriptors.size();
  }
  return sum;
}

void place_anywhere(std::vector<Row>& rows, std::size_t neurons, std::mt19937_64& random) {
  for (Row& row : rows) {
    // Most on a few neurons, so that a pair occurs many times.
    const std::size_t range = random() % 4 == 0 ? neurons : std::min<std::size_t>(neurons, 5);
    row.bmu = static_cast<Neuron>(random() % range);
  }
}

TEST_F(CudaTest, AListOfPairsGivesTheSameCodebookAsDenseCounts) {
  auto random = generator(61);
  for (const std::uint32_t side : {16U, 33U, 128U}) {
    const MapShape shape{.side = side, .descriptors = 20'000};
    auto first = random_rows(700, shape.descriptors, 25, random);
    auto second = random_rows(900, shape.descriptors, 25, random);
    place_anywhere(first, shape.neurons(), random);
    place_anywhere(second, shape.neurons(), random);
    const std::uint64_t most = descriptors_of(first) + descriptors_of(second);
    ASSERT_LT(cuda_memory(shape, {}, 0, most).device_bytes, cuda_memory(shape, {}, 0).device_bytes);
    const auto dense = make_cuda_backend(shape, {});
    const auto list = make_cuda_backend(shape, {.most_descriptors = most});
    for (int round = 0; round < 2; ++round) {
      ReferenceStatistics statistics;
      for (Backend* backend : {dense.get(), list.get()}) {
        backend->clear_statistics();
        run_rows(*backend, first, Work::accumulate, 100);
        backend->update(2);
      }
      reference_accumulate(statistics, first);
      expect_hits(*list, statistics);
      EXPECT_EQ(all_planes(*list), all_planes(*dense));
      // Going on after an update, with no clearing.
      for (Backend* backend : {dense.get(), list.get()}) {
        run_rows(*backend, second, Work::accumulate, 333);
        backend->update(1);
      }
      reference_accumulate(statistics, second);
      EXPECT_EQ(all_planes(*list), all_planes(*dense));
      if (side == 16) {
        expect_codebook(*list, reference_update(statistics, shape.side, shape.descriptors, 1));
      }
      expect_hits(*list, statistics);
      EXPECT_EQ(list->read_cells().norm, dense->read_cells().norm);
      std::swap(first, second);
    }
  }
}

TEST_F(CudaTest, DenseCountsAreTheSameHoweverManyPlacesWait) {
  auto random = generator(64);
  for (const std::uint32_t side : {7U, 20U, 64U}) {
    const MapShape shape{.side = side, .descriptors = 300};
    auto rows = random_rows(900, shape.descriptors, 25, random);
    place_anywhere(rows, shape.neurons(), random);
    const std::uint64_t all = descriptors_of(rows);
    // No tile of 100 rows has as few as one; some fit and some do not; one; several; all of them.
    for (const std::uint64_t most : {std::uint64_t{1}, all / 9, all / 6, all / 2, all}) {
      ASSERT_GT(cuda_memory(shape, {}, 0, most).device_bytes,
                cuda_memory(shape, {}, 0).device_bytes);
      const auto backend = make_cuda_backend(shape, {.most_descriptors = most});
      ReferenceStatistics statistics;
      for (const std::uint32_t radius : {2U, 1U}) {  // going on after an update
        run_rows(*backend, rows, Work::accumulate, 100);
        backend->update(radius);
        reference_accumulate(statistics, rows);
        expect_codebook(*backend,
                        reference_update(statistics, shape.side, shape.descriptors, radius));
        expect_hits(*backend, statistics);
      }
    }
  }
}

TEST_F(CudaTest, MoreDescriptorsThanWereAnnouncedAreRefusedWithTheNumbers) {
  auto random = generator(62);
  const MapShape shape{.side = 64, .descriptors = 5'000};
  auto rows = random_rows(300, shape.descriptors, 20, random);
  place_anywhere(rows, shape.neurons(), random);
  const std::uint64_t most = descriptors_of(rows);
  const auto backend = make_cuda_backend(shape, {.most_descriptors = most});
  run_rows(*backend, rows, Work::accumulate, 100);
  std::vector<Row> more(1);
  more[0].descriptors = {1};
  more[0].bmu = 0;
  try {
    run_rows(*backend, more, Work::accumulate, 1);
    FAIL() << "one descriptor too many was taken";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(most)), std::string::npos)
        << error.what();
  }
  backend->clear_statistics();
  run_rows(*backend, rows, Work::accumulate, 100);
}

TEST_F(CudaTest, TheMemoryAccountIsExact) {
  for (const std::uint64_t most : {0U, 10'000U}) {
    const MapShape shape{.side = 50, .descriptors = 3'000};
    const TileCapacity tile{.rows = 1'000, .descriptors = 12'345};
    const std::size_t needed = cuda_memory(shape, tile, 2, most).device_bytes;
    const std::size_t map_alone = cuda_memory(shape, tile, 0, most).device_bytes;
    const std::vector<TileCapacity> slots{tile, {}, {.rows = 1, .descriptors = 1'000}};
    EXPECT_LT(map_alone, needed);
    {
      const auto backend =
          make_cuda_backend(shape, {.device_memory_bytes = needed, .most_descriptors = most});
      auto first = backend->make_tile(tile);
      auto second = backend->make_tile(tile);
      EXPECT_THROW((void)backend->make_tile({.rows = 1, .descriptors = 1}), std::runtime_error);
      second.reset();
      second = backend->make_tile(tile);
    }
    {
      const auto backend = make_cuda_backend(
          shape,
          {.device_memory_bytes = needed + RowCache::bytes(slots), .most_descriptors = most});
      auto first = backend->make_tile(tile);
      auto cache = backend->make_row_cache(slots);
      const std::vector<TileCapacity> larger{tile, tile};  // than what is left, a tile
      EXPECT_THROW((void)backend->make_row_cache(larger), std::runtime_error);
      auto second = backend->make_tile(tile);
      EXPECT_THROW((void)backend->make_tile({.rows = 1, .descriptors = 1}), std::runtime_error);
      cache.reset();
      cache = backend->make_row_cache(slots);
    }
    {
      const auto backend =
          make_cuda_backend(shape, {.device_memory_bytes = needed - 1, .most_descriptors = most});
      auto first = backend->make_tile(tile);
      EXPECT_THROW((void)backend->make_tile(tile), std::runtime_error);
    }
    try {
      (void)make_cuda_backend(shape,
                              {.device_memory_bytes = map_alone - 1, .most_descriptors = most});
      FAIL() << "a map that does not fit was made";
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(map_alone)), std::string::npos)
          << error.what();
    }
  }
}

TEST_F(CudaTest, AFailureReachesTheCompletionAndTheNextTileWorks) {
  const auto backend = make_cuda_backend({.side = 2, .descriptors = 3}, {});
  std::vector<Row> rows(1);
  rows[0].descriptors = {3};
  EXPECT_THROW(run_rows(*backend, rows, Work::search, 1), std::out_of_range);
  rows[0].bmu = 0;
  EXPECT_THROW(run_rows(*backend, rows, Work::accumulate, 1), std::out_of_range);
  backend->clear_statistics();
  rows[0].descriptors = {2};
  rows[0].bmu = 4;
  EXPECT_THROW(run_rows(*backend, rows, Work::accumulate, 1), std::out_of_range);
  rows[0].bmu = 3;
  run_rows(*backend, rows, Work::accumulate, 1);
  EXPECT_EQ(backend->read_cells().hits, (std::vector<std::uint32_t>{0, 0, 0, 1}));
  // A tile of another backend.
  const auto other = make_cpu_backend({.side = 2, .descriptors = 3}, threads(1));
  const auto tile = other->make_tile({.rows = 1, .descriptors = 1});
  std::exception_ptr failure;
  {
    const auto short_lived = make_cuda_backend({.side = 2, .descriptors = 3}, {});
    short_lived->submit(*tile, Work::search, [&](std::exception_ptr error) { failure = error; });
  }
  ASSERT_TRUE(failure);
  EXPECT_THROW(std::rethrow_exception(failure), std::invalid_argument);
}

TEST_F(CudaTest, RefusesADeviceThatIsNotThere) {
  EXPECT_THROW((void)make_cuda_backend({.side = 2, .descriptors = 2}, {.device = 1'000}),
               std::runtime_error);
  EXPECT_THROW((void)make_cuda_backend({.side = 0, .descriptors = 2}, {}), std::invalid_argument);
  EXPECT_THROW((void)make_cuda_backend({.side = 65'536, .descriptors = 2}, {}),
               std::invalid_argument);
}

/// Positions in the weights and in the dense counts pass 2^32.
TEST_F(CudaTest, AMapOfMoreThanFourThousandMillionWeights) {
  const MapShape shape{.side = 512, .descriptors = 17'000};
  ASSERT_GT(shape.neurons() * shape.descriptors, std::size_t{1} << 32);
  const std::size_t needed = cuda_memory(shape, {}, 0).device_bytes + (std::size_t{1} << 30);
  if (cuda_devices().front().free_bytes < needed) {
    GTEST_SKIP() << "the GPU has less than " << needed << " bytes free";
  }
  auto random = generator(63);
  auto rows = random_rows(20'000, shape.descriptors, 20, random);
  for (Row& row : rows) {
    row.bmu = static_cast<Neuron>(random() % shape.neurons());
  }
  const auto dense = make_cuda_backend(shape, {});
  const auto list = make_cuda_backend(shape, {.most_descriptors = descriptors_of(rows)});
  for (Backend* backend : {dense.get(), list.get()}) {
    run_rows(*backend, rows, Work::accumulate, 3'000);
    backend->update(3);
  }
  const auto last = planes_of(*dense, shape.descriptors - 3, 3);
  EXPECT_EQ(last, planes_of(*list, shape.descriptors - 3, 3));
  // The last plane from the rows by hand: literal windows and 128-bit division.
  std::vector<std::uint64_t> hits(shape.neurons());
  std::vector<std::uint64_t> counts(shape.neurons());
  std::size_t met = 0;
  for (const Row& row : rows) {
    if ((row.use & row_use::trains) == 0) {
      continue;
    }
    ++hits[row.bmu];
    if (std::find(row.descriptors.begin(), row.descriptors.end(), shape.descriptors - 1) !=
        row.descriptors.end()) {
      ++counts[row.bmu];
      ++met;
    }
  }
  ASSERT_GT(met, 0U);
  hits = reference_blur(hits, shape.side, 3);
  counts = reference_blur(counts, shape.side, 3);
  for (std::size_t i = 0; i < shape.neurons(); ++i) {
    ASSERT_EQ(last[2 * shape.neurons() + i], reference_weight(counts[i], hits[i])) << i;
  }
  auto found = rows;
  run_rows(*dense, found, Work::search, 5'000);
  auto again = rows;
  run_rows(*list, again, Work::search, 20'000);
  expect_places(again, found);
  // The first rows by brute force over the planes read back.
  const Cells cells = dense->read_cells();
  std::vector<std::int64_t> scores(shape.neurons());
  for (std::size_t r = 0; r < 20; ++r) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i] = cells.vacant[i] != 0 ? INT64_MAX : cells.norm[i];
    }
    for (const DescriptorId descriptor : rows[r].descriptors) {
      const auto plane = planes_of(*dense, descriptor, 1);
      for (std::size_t i = 0; i < scores.size(); ++i) {
        scores[i] -= cells.vacant[i] != 0 ? 0 : 128 * std::int64_t{plane[i]};
      }
    }
    const auto lowest = std::min_element(scores.begin(), scores.end());
    EXPECT_EQ(found[r].bmu, static_cast<Neuron>(lowest - scores.begin()));
    EXPECT_EQ(found[r].score, *lowest);
  }
}

}  // namespace
}  // namespace somatlas::gpu::testing
