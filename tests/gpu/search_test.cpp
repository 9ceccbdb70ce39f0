// BMU, score and second BMU of every backend against brute force, for equality.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <future>
#include <numeric>

#include "gpu/contract.h"
#include "tests/gpu/backends.h"
#include "tests/gpu/reference.h"

namespace somatlas::gpu::testing {
namespace {

class SearchTest : public BackendTest {
 protected:
  /// Loads the codebook and compares the search of rows at a tile size.
  void compare(const ReferenceCodebook& codebook, std::vector<Row> rows,
               std::size_t tile_rows) const {
    const auto backend = make({codebook.side, codebook.descriptors});
    load_planes(*backend, codebook.weights, codebook.vacant);
    auto expected = rows;
    reference_search(codebook, expected);
    run_rows(*backend, rows, Work::search, tile_rows);
    expect_places(rows, expected);
  }

  /// Loads the codebook and compares the search of rows by each method.
  static void compare_methods(Backend& backend, const ReferenceCodebook& codebook,
                              const std::vector<Row>& rows) {
    load_planes(backend, codebook.weights, codebook.vacant);
    auto expected = rows;
    reference_search(codebook, expected);
    for (const SearchMethod method : {SearchMethod::brute_force, SearchMethod::pruned}) {
      backend.search_by(method);
      auto found = rows;
      run_rows(backend, found, Work::search, 200);
      expect_places(found, expected);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, SearchTest, all_backends, parameter_name);

TEST_P(SearchTest, RandomCodebooksOfEverySide) {
  auto random = generator(10);
  for (const std::uint32_t side : {1U, 2U, 3U, 7U, 16U, 33U, 100U}) {
    SCOPED_TRACE("side " + std::to_string(side));
    const std::uint32_t descriptors = side == 100 ? 150 : 400;
    const auto codebook = random_codebook(side, descriptors, 0.2, 0.1, random);
    compare(codebook, random_rows(side == 100 ? 300 : 1'000, descriptors, 24, random), 700);
  }
}

TEST_P(SearchTest, TileSizesDoNotMatter) {
  auto random = generator(11);
  const auto codebook = random_codebook(16, 200, 0.3, 0.05, random);
  const auto rows = random_rows(400, 200, 20, random);
  for (const std::size_t tile_rows : {1U, 7U, 256U, 100'000U}) {
    SCOPED_TRACE("tiles of " + std::to_string(tile_rows));
    compare(codebook, rows, tile_rows);
  }
}

TEST_P(SearchTest, TheMethodDoesNotMatter) {
  auto random = generator(14);
  for (const std::uint32_t side : {7U, 40U}) {
    const auto codebook = random_codebook(side, 150, 0.3, 0.05, random);
    const auto backend = make({side, codebook.descriptors});
    load_planes(*backend, codebook.weights, codebook.vacant);
    const auto rows = random_rows(500, 150, 20, random);
    auto expected = rows;
    reference_search(codebook, expected);
    for (const SearchMethod method :
         {SearchMethod::brute_force, SearchMethod::pruned, SearchMethod::automatic}) {
      SCOPED_TRACE("method " + std::to_string(static_cast<int>(method)));
      backend->search_by(method);
      auto found = rows;
      run_rows(*backend, found, Work::search, 200);
      expect_places(found, expected);
    }
  }
}

// Most descriptors have no weight in most of the map, and in another part of it after every load:
// what a backend knows of empty parts is of the codebook that it has.
TEST_P(SearchTest, MostlyEmptyCodebooksOneAfterTheOther) {
  auto random = generator(16);
  for (const std::uint32_t side : {20U, 33U, 80U}) {
    const std::uint32_t descriptors = 130;
    const auto backend = make({side, descriptors});
    for (int round = 0; round < 3; ++round) {
      SCOPED_TRACE("side " + std::to_string(side) + ", codebook " + std::to_string(round));
      const auto codebook = random_codebook(side, descriptors, 0.005, 0.1, random);
      compare_methods(*backend, codebook, random_rows(250, descriptors, 24, random));
    }
    // The same after updates from a few places each.
    for (int round = 0; round < 3; ++round) {
      SCOPED_TRACE("side " + std::to_string(side) + ", update " + std::to_string(round));
      auto rows = random_rows(60, descriptors, 6, random);
      const auto corner = static_cast<Neuron>(random() % (std::size_t{side} * side));
      for (Row& row : rows) {
        row.use = row_use::trains | row_use::second;
        row.bmu = (corner + static_cast<Neuron>(random() % 3)) % (side * side);
      }
      backend->clear_statistics();
      run_rows(*backend, rows, Work::accumulate, 25);
      backend->update(1);
      backend->search_by(SearchMethod::brute_force);
      auto expected = rows;
      run_rows(*backend, expected, Work::search, 25);
      backend->search_by(SearchMethod::pruned);
      run_rows(*backend, rows, Work::search, 25);
      expect_places(rows, expected);
    }
  }
}

// In squares of 16 x 16 neurons the largest weight of a descriptor is on either side of what half a
// word and a byte hold; the codebook after it has others.
TEST_P(SearchTest, WeightsThatJustFitAByteAndJustDoNot) {
  constexpr std::array<std::uint16_t, 8> most{0, 1, 15, 254, 255, 256, 257, 16'383};
  auto random = generator(19);
  for (const std::uint32_t side : {16U, 33U, 80U}) {
    const std::uint32_t descriptors = 90;
    const auto backend = make({side, descriptors});
    for (int round = 0; round < 3; ++round) {
      SCOPED_TRACE("side " + std::to_string(side) + ", codebook " + std::to_string(round));
      auto codebook = random_codebook(side, descriptors, 0.5, 0.05, random);
      const std::uint32_t across = (side + 15) / 16;
      std::vector<std::uint16_t> limits(std::size_t{across} * across * descriptors);
      for (std::uint16_t& limit : limits) {
        limit = most[random() % most.size()];
      }
      for (std::size_t i = 0; i < codebook.weights.size(); ++i) {
        const std::size_t neuron = i % (std::size_t{side} * side);
        const std::size_t square = neuron / side / 16 * across + neuron % side / 16;
        const std::uint16_t limit = limits[square * descriptors + i / (std::size_t{side} * side)];
        codebook.weights[i] = std::min(codebook.weights[i], limit);
      }
      reference_norms(codebook);
      compare_methods(*backend, codebook, random_rows(250, descriptors, 40, random));
    }
  }
}

// A descriptor's largest weight decides how its bounds are kept.
TEST_P(SearchTest, DescriptorsOfAnyLargestWeight) {
  constexpr std::array<std::uint16_t, 14> most{
      1, 255, 256, 510, 511, 4'095, 4'096, 4'097, 8'191, 16'319, 16'320, 16'321, 16'380, 16'383};
  auto random = generator(23);
  for (const std::uint32_t side : {16U, 64U, 80U}) {
    SCOPED_TRACE("side " + std::to_string(side));
    const std::uint32_t descriptors = 56;
    const auto backend = make({side, descriptors});
    auto codebook = random_codebook(side, descriptors, 0.4, 0.05, random);
    for (std::size_t i = 0; i < codebook.weights.size(); ++i) {
      const std::uint16_t limit = most[i / codebook.neurons() % most.size()];
      const std::size_t near = random() % 4;  // some at the limit, and a little below it
      codebook.weights[i] =
          codebook.vacant[i % codebook.neurons()] != 0 ? std::uint16_t{0}
          : near < 3 ? static_cast<std::uint16_t>(limit - std::min<std::size_t>(near * near, limit))
                     : std::min(codebook.weights[i], limit);
    }
    reference_norms(codebook);
    compare_methods(*backend, codebook, random_rows(300, descriptors, 30, random));
  }
}

// The bounds of a smooth map are kept otherwise than those of one that has been trained to the end.
TEST_P(SearchTest, AfterAnUpdateOfEveryKindOfRadius) {
  auto random = generator(24);
  for (const std::uint32_t side : {40U, 80U}) {
    const std::uint32_t descriptors = 40;
    const auto backend = make({side, descriptors});
    for (const std::uint32_t radius : {1U, 12U, 13U, 2U, 30U}) {
      SCOPED_TRACE("side " + std::to_string(side) + ", radius " + std::to_string(radius));
      auto rows = random_rows(400, descriptors, 12, random);
      for (Row& row : rows) {
        row.bmu = static_cast<Neuron>(random() % (side * side));
      }
      ReferenceStatistics statistics;
      reference_accumulate(statistics, rows);
      backend->clear_statistics();
      run_rows(*backend, rows, Work::accumulate, 150);
      backend->update(radius);
      auto expected = rows;
      reference_search(reference_update(statistics, side, descriptors, radius), expected);
      for (const SearchMethod method : {SearchMethod::pruned, SearchMethod::brute_force}) {
        SCOPED_TRACE("method " + std::to_string(static_cast<int>(method)));
        backend->search_by(method);
        auto found = rows;
        run_rows(*backend, found, Work::search, 150);
        expect_places(found, expected);
      }
    }
  }
}

TEST_P(SearchTest, TheOrderOfRowsDoesNotMatter) {
  auto random = generator(12);
  const auto codebook = random_codebook(33, 100, 0.3, 0.05, random);
  auto rows = random_rows(900, 100, 20, random);
  compare(codebook, rows, 512);
  std::shuffle(rows.begin(), rows.end(), random);
  compare(codebook, rows, 300);
}

TEST_P(SearchTest, AmongEqualNeuronsTheLowestWins) {
  auto random = generator(13);
  for (const std::uint32_t side : {3U, 33U}) {
    auto codebook = random_codebook(side, 50, 0, 0, random);
    for (std::size_t v = 0; v < codebook.descriptors; ++v) {
      std::fill_n(codebook.weights.begin() + static_cast<std::ptrdiff_t>(v * codebook.neurons()),
                  codebook.neurons(), static_cast<std::uint16_t>(random() % 16384));
    }
    reference_norms(codebook);
    auto rows = random_rows(100, 50, 12, random);
    const auto backend = make({side, codebook.descriptors});
    load_planes(*backend, codebook.weights, codebook.vacant);
    run_rows(*backend, rows, Work::search, 64);
    for (const Row& row : rows) {
      EXPECT_EQ(row.bmu, 0U);
      EXPECT_EQ(row.second, (row.use & row_use::second) != 0 ? 1U : no_neuron);
    }
    compare(codebook, rows, 64);
    // The first neurons vacant: the next takes their place.
    std::fill_n(codebook.vacant.begin(), 5, std::uint8_t{1});
    for (std::size_t v = 0; v < codebook.descriptors; ++v) {
      std::fill_n(codebook.weights.begin() + static_cast<std::ptrdiff_t>(v * codebook.neurons()), 5,
                  std::uint16_t{0});
    }
    reference_norms(codebook);
    compare(codebook, rows, 64);
  }
}

TEST_P(SearchTest, ManyTiesOverTheWholeMap) {
  auto random = generator(14);
  for (const std::uint32_t side : {16U, 33U, 40U}) {
    auto codebook = random_codebook(side, 6, 0, 0.3, random);
    for (std::size_t cell = 0; cell < codebook.weights.size(); ++cell) {
      if (codebook.vacant[cell % codebook.neurons()] == 0 && random() % 2 == 0) {
        codebook.weights[cell] = weight_one;
      }
    }
    reference_norms(codebook);
    compare(codebook, random_rows(500, 6, 6, random), 128);
  }
}

TEST_P(SearchTest, ArticlesWithOneAndWithTheMostDescriptors) {
  auto random = generator(15);
  const std::uint32_t descriptors = 1'100;
  const auto codebook = random_codebook(16, descriptors, 0.5, 0.05, random);
  std::vector<DescriptorId> all(descriptors);
  std::iota(all.begin(), all.end(), DescriptorId{0});
  std::vector<Row> rows;
  for (std::size_t length = 0; length <= max_descriptors;
       length = length < 12 ? length + 1 : length * 3) {
    for (const std::size_t here : {length, max_descriptors - length}) {
      std::shuffle(all.begin(), all.end(), random);
      Row row;
      row.descriptors.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(here));
      rows.push_back(std::move(row));
    }
  }
  compare(codebook, rows, 16);
}

TEST_P(SearchTest, ExtremeScoresDoNotOverflow) {
  auto random = generator(16);
  const std::uint32_t descriptors = max_descriptors;
  auto codebook = random_codebook(3, descriptors, 0, 0, random);
  for (std::size_t v = 0; v < descriptors; ++v) {
    for (const std::size_t full : {1U, 4U, 7U}) {
      codebook.weights[v * 9 + full] = weight_one;
    }
    codebook.weights[v * 9 + 5] = weight_one - 1;
    codebook.weights[v * 9 + 8] = static_cast<std::uint16_t>(v == 0 ? 0 : weight_one);
  }
  reference_norms(codebook);
  std::vector<Row> rows(3);
  rows[0].descriptors.resize(max_descriptors);
  std::iota(rows[0].descriptors.begin(), rows[0].descriptors.end(), DescriptorId{0});
  rows[1].descriptors = {0};
  const auto backend = make({3, descriptors});
  load_planes(*backend, codebook.weights, codebook.vacant);
  run_rows(*backend, rows, Work::search, 3);
  EXPECT_EQ(rows[0].bmu, 1U);
  EXPECT_EQ(rows[0].second, 4U);
  EXPECT_EQ(rows[0].score, -64 * 1023 * 16383);
  EXPECT_EQ(rows[1].bmu, 0U);
  EXPECT_EQ(rows[1].score, 0);
  compare(codebook, rows, 3);
}

TEST_P(SearchTest, VacantNeuronsAreNeverFound) {
  auto random = generator(17);
  const std::uint32_t side = 16;
  for (const std::size_t usable : {0U, 1U, 2U}) {
    auto codebook = random_codebook(side, 40, 0.5, 0, random);
    std::fill(codebook.vacant.begin(), codebook.vacant.end(), std::uint8_t{1});
    for (std::size_t i = 0; i < usable; ++i) {
      codebook.vacant[200 - 90 * i] = 0;
    }
    for (std::size_t cell = 0; cell < codebook.weights.size(); ++cell) {
      if (codebook.vacant[cell % codebook.neurons()] != 0) {
        codebook.weights[cell] = 0;
      }
    }
    reference_norms(codebook);
    auto rows = random_rows(300, 40, 10, random);
    compare(codebook, rows, 100);
    const auto backend = make({side, codebook.descriptors});
    load_planes(*backend, codebook.weights, codebook.vacant);
    run_rows(*backend, rows, Work::search, 100);
    for (const Row& row : rows) {
      EXPECT_EQ(row.bmu == no_neuron, usable == 0);
      EXPECT_TRUE(row.second == no_neuron || usable == 2);
      EXPECT_TRUE(usable != 0 || row.score == INT32_MAX);
    }
  }
}

TEST_P(SearchTest, OneNeuronHasNoSecond) {
  auto random = generator(18);
  const auto codebook = random_codebook(1, 30, 0.5, 0, random);
  auto rows = random_rows(50, 30, 8, random);
  compare(codebook, rows, 50);
  for (const Row& row : rows) {
    EXPECT_EQ(row.second, no_neuron);
  }
}

TEST_P(SearchTest, NoDescriptorsAndNoRows) {
  auto random = generator(19);
  compare(random_codebook(5, 0, 0, 0.2, random), random_rows(20, 0, 0, random), 8);
  const auto codebook = random_codebook(5, 12, 0.5, 0, random);
  compare(codebook, {}, 8);
  const auto backend = make({5, 12});
  load_planes(*backend, codebook.weights, codebook.vacant);
  const auto tile = backend->make_tile({.rows = 0, .descriptors = 0});
  for (const Work work : {Work::search, Work::accumulate, Work::search_and_accumulate}) {
    std::promise<void> done;
    backend->submit(*tile, work, [&done](const std::exception_ptr& error) {
      EXPECT_EQ(error, nullptr);
      done.set_value();
    });
    done.get_future().wait();
  }
}

TEST_P(SearchTest, AFreshBackendHasNoUsableNeuron) {
  const auto backend = make({4, 10});
  std::vector<Row> rows(5);
  rows[0].descriptors = {1, 2};
  run_rows(*backend, rows, Work::search_and_accumulate, 5);
  for (const Row& row : rows) {
    EXPECT_EQ(row.bmu, no_neuron);
    EXPECT_EQ(row.score, INT32_MAX);
  }
  EXPECT_EQ(backend->read_cells().hits, std::vector<std::uint32_t>(16));
}

}  // namespace
}  // namespace somatlas::gpu::testing
