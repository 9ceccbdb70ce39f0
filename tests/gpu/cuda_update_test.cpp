// The GPU's update against the CPU's, in both forms of the statistics, with descriptors made to
// meet each of its ways: none, one or very many counts, counts past a byte, sums past 32 bits,
// borders, vacant regions. Skipped with the reason where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gpu/backend.h"
#include "tests/gpu/backends.h"

namespace somatlas::gpu::testing {
namespace {

class CudaUpdateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_devices().empty()) {
      GTEST_SKIP() << cuda_unavailable_reason();
    }
  }
};

/// Adds rows of one descriptor; place() draws each one's neuron.
template <class Place>
void add_rows(std::vector<Row>& rows, DescriptorId descriptor, std::size_t count, Place place) {
  for (std::size_t i = 0; i < count; ++i) {
    Row row;
    row.descriptors = {descriptor};
    row.bmu = static_cast<Neuron>(place());
    rows.push_back(std::move(row));
  }
}

/// Rows whose descriptors differ in how often and where they occur, within the map's first columns
/// alone. Descriptor shift is met by none of them.
[[nodiscard]] std::vector<Row> uneven_rows(MapShape shape, std::uint32_t columns, std::size_t many,
                                           DescriptorId shift, std::mt19937_64& random) {
  const std::uint32_t side = shape.side;
  const auto anywhere = [&] {
    return static_cast<Neuron>(random() % side * side + random() % columns);
  };
  const auto on_border = [&] {
    const auto at = static_cast<Neuron>(random() % side);
    return random() % 2 == 0 ? at * side : random() % 2 * (side - 1) * side + at % columns;
  };
  std::vector<Row> rows;
  add_rows(rows, shift + 1, 1, [] { return Neuron{0}; });
  add_rows(rows, shift + 2, 1, [&] { return (side - 1) * side + columns - 1; });
  add_rows(rows, shift + 3, 3, anywhere);
  add_rows(rows, shift + 4, 20, on_border);
  add_rows(rows, shift + 5, 2'000, anywhere);
  for (const std::uint32_t count : {255U, 256U, 257U, 515U}) {
    const Neuron there = anywhere();
    add_rows(rows, shift + 6 + count % 4, count, [&] { return there; });
  }
  add_rows(rows, shift + 10, many, anywhere);
  add_rows(rows, shape.descriptors - 1 - shift, 40, anywhere);
  for (Row& row : rows) {
    if (row.descriptors[0] != shift + 10 && random() % 3 == 0) {
      row.descriptors.push_back(shift + 11);
    }
  }
  std::shuffle(rows.begin(), rows.end(), random);
  return rows;
}

[[nodiscard]] std::uint64_t descriptors_of(const std::vector<Row>& rows) {
  std::uint64_t sum = 0;
  for (const Row& row : rows) {
    sum += row.descriptors.size();
  }
  return sum;
}

/// Both codebooks.
void expect_equal(Backend& backend, Backend& expected) {
  ASSERT_TRUE(all_planes(backend) == all_planes(expected));
  const Cells cells = expected.read_cells();
  const Cells found = backend.read_cells();
  ASSERT_EQ(found.vacant, cells.vacant);
  ASSERT_EQ(found.norm, cells.norm);
  ASSERT_EQ(found.square_sum, cells.square_sum);
  ASSERT_EQ(found.hits, cells.hits);
}

TEST_F(CudaUpdateTest, EveryKindOfPlaneAtEveryRadiusEqualsTheCpu) {
  auto random = generator(70);
  struct Case {
    std::uint32_t side;
    std::uint32_t descriptors;
    std::size_t many;
  };
  // Enough descriptors that a list is smaller than dense counts, but for the smallest sides.
  for (const Case& given :
       {Case{1, 40, 100}, Case{3, 40, 700}, Case{16, 9'500, 5'000}, Case{17, 9'500, 9'000},
        Case{33, 2'500, 5'000}, Case{100, 300, 20'000}, Case{257, 110, 70'000}}) {
    const MapShape shape{given.side, given.descriptors};
    const auto whole = uneven_rows(shape, given.side, given.many, 0, random);
    const auto half = uneven_rows(shape, (given.side + 1) / 2, given.many / 9, 7, random);
    const std::uint64_t most = std::max(descriptors_of(whole), descriptors_of(half));
    const auto cpu = make_cpu_backend(shape, threads(2));
    const auto dense = make_cuda_backend(shape, {});
    const auto list = make_cuda_backend(shape, {.most_descriptors = most});
    EXPECT_EQ(given.side >= 16, cuda_memory(shape, {}, 0, most).device_bytes <
                                    cuda_memory(shape, {}, 0).device_bytes);
    std::vector<std::uint32_t> radii{0, 1, 2, 3, 4, 5, 6, 12, 13};
    for (const std::uint32_t divisor : {8U, 3U, 2U}) {
      radii.push_back(given.side / divisor);
    }
    radii.push_back(given.side - 1);
    radii.push_back(given.side + 7);
    radii.push_back(static_cast<std::uint32_t>(random() % given.side));
    std::shuffle(radii.begin(), radii.end(), random);
    // The second rows leave planes without counts that had some, and much of the map vacant.
    for (const auto& rows : {whole, half}) {
      for (Backend* backend : {cpu.get(), dense.get(), list.get()}) {
        backend->clear_statistics();
        auto here = rows;
        run_rows(*backend, here, Work::accumulate, 10'000);
      }
      for (const std::uint32_t radius : radii) {
        SCOPED_TRACE("side " + std::to_string(given.side) + ", radius " + std::to_string(radius));
        for (Backend* backend : {cpu.get(), dense.get(), list.get()}) {
          backend->update(radius);
        }
        for (Backend* backend : {dense.get(), list.get()}) {
          SCOPED_TRACE(backend == dense.get() ? "dense counts" : "a list of pairs");
          expect_equal(*backend, *cpu);
        }
      }
    }
  }
}

TEST_F(CudaUpdateTest, PlanesWhoseJumpsDoNotFitTheRoomAtOnceEqualTheCpu) {
  auto random = generator(71);
  constexpr DescriptorId together = 10;  // in every row
  const MapShape shape{64, 200 * together};
  std::vector<Row> rows;
  for (DescriptorId first = 0; first < shape.descriptors; first += together) {
    add_rows(rows, first, 580 + random() % 60,
             [&] { return static_cast<Neuron>(random() % shape.neurons()); });
  }
  for (Row& row : rows) {
    row.descriptors.resize(together);
    std::iota(row.descriptors.begin(), row.descriptors.end(), row.descriptors.front());
  }
  const std::uint64_t most = descriptors_of(rows);
  ASSERT_LT(cuda_memory(shape, {}, 0, most).device_bytes, cuda_memory(shape, {}, 0).device_bytes);
  const auto cpu = make_cpu_backend(shape, threads(2));
  const auto list = make_cuda_backend(shape, {.most_descriptors = most});
  for (Backend* backend : {cpu.get(), list.get()}) {
    auto here = rows;
    run_rows(*backend, here, Work::accumulate, 10'000);
  }
  for (const std::uint32_t radius : {13U, 20U, 31U, 63U}) {
    SCOPED_TRACE("radius " + std::to_string(radius));
    for (Backend* backend : {cpu.get(), list.get()}) {
      backend->update(radius);
    }
    expect_equal(*list, *cpu);
  }
}

}  // namespace
}  // namespace somatlas::gpu::testing
