// Statistics and update of every backend against maps, literal windows and 128-bit division.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "gpu/contract.h"
#include "tests/gpu/backends.h"
#include "tests/gpu/reference.h"

namespace somatlas::gpu::testing {
namespace {

class UpdateTest : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Backends, UpdateTest, all_backends, parameter_name);

/// Rows with random BMUs already, some with none.
std::vector<Row> placed_rows(std::size_t count, std::uint32_t descriptors, std::size_t most,
                             std::uint32_t neurons, std::mt19937_64& random) {
  auto rows = random_rows(count, descriptors, most, random);
  for (Row& row : rows) {
    row.bmu = random() % 30 == 0 ? no_neuron : static_cast<Neuron>(random() % neurons);
  }
  return rows;
}

TEST_P(UpdateTest, EverySideAndRadius) {
  auto random = generator(20);
  for (const std::uint32_t side : {1U, 2U, 3U, 16U, 33U, 100U}) {
    const std::uint32_t descriptors = side == 100 ? 6 : 40;
    const auto backend = make({side, descriptors});
    auto rows = placed_rows(side == 100 ? 3'000 : 600, descriptors, 12, side * side, random);
    ReferenceStatistics statistics;
    reference_accumulate(statistics, rows);
    run_rows(*backend, rows, Work::accumulate, 500);
    expect_hits(*backend, statistics);
    std::vector<std::uint32_t> radii{0, 1, side, side + 3};
    for (int i = 0; i < (side == 100 ? 1 : 4); ++i) {
      radii.push_back(static_cast<std::uint32_t>(random() % (side + 4)));
    }
    // The statistics stay, so one gathering serves every radius.
    for (const std::uint32_t radius : radii) {
      SCOPED_TRACE("side " + std::to_string(side) + ", radius " + std::to_string(radius));
      backend->update(radius);
      expect_codebook(*backend, reference_update(statistics, side, descriptors, radius));
    }
    expect_hits(*backend, statistics);
  }
}

TEST_P(UpdateTest, SparseHitsLeaveVacantNeurons) {
  auto random = generator(21);
  const auto backend = make({33, 20});
  std::vector<Row> rows(2);
  rows[0].descriptors = {3, 7};
  rows[0].bmu = 0;
  rows[1].descriptors = {};
  rows[1].bmu = 33 * 20 + 30;
  ReferenceStatistics statistics;
  reference_accumulate(statistics, rows);
  run_rows(*backend, rows, Work::accumulate, 2);
  for (const std::uint32_t radius : {0U, 1U, 2U, 5U}) {
    backend->update(radius);
    const auto expected = reference_update(statistics, 33, 20, radius);
    expect_codebook(*backend, expected);
    const auto usable = std::count(expected.vacant.begin(), expected.vacant.end(), 0);
    EXPECT_LT(usable, 33 * 33);
    // A codebook with vacant neurons is searched like any other.
    auto found = random_rows(100, 20, 6, random);
    auto wanted = found;
    run_rows(*backend, found, Work::search, 64);
    reference_search(expected, wanted);
    expect_places(found, wanted);
  }
}

TEST_P(UpdateTest, NothingGatheredMakesEveryNeuronVacant) {
  auto random = generator(22);
  const auto backend = make({7, 12});
  const auto codebook = random_codebook(7, 12, 0.5, 0, random);
  load_planes(*backend, codebook.weights, codebook.vacant);
  backend->clear_statistics();
  backend->update(2);
  expect_codebook(*backend, reference_update({}, 7, 12, 2));
}

TEST_P(UpdateTest, TileSizesAndTheOrderOfRowsDoNotMatter) {
  auto random = generator(23);
  auto rows = placed_rows(700, 60, 16, 16 * 16, random);
  ReferenceStatistics statistics;
  reference_accumulate(statistics, rows);
  const auto expected = reference_update(statistics, 16, 60, 2);
  for (const std::size_t tile_rows : {1U, 7U, 100'000U}) {
    SCOPED_TRACE("tiles of " + std::to_string(tile_rows));
    const auto backend = make({16, 60});
    run_rows(*backend, rows, Work::accumulate, tile_rows);
    expect_hits(*backend, statistics);
    backend->update(2);
    expect_codebook(*backend, expected);
    std::shuffle(rows.begin(), rows.end(), random);
  }
}

TEST_P(UpdateTest, SearchAndAccumulateEqualsOneAfterTheOther) {
  auto random = generator(24);
  const auto codebook = random_codebook(16, 80, 0.3, 0.1, random);
  auto rows = random_rows(900, 80, 14, random);
  const auto together = make({16, 80});
  load_planes(*together, codebook.weights, codebook.vacant);
  auto searched = rows;
  run_rows(*together, searched, Work::search_and_accumulate, 250);
  reference_search(codebook, rows);
  expect_places(searched, rows);
  const auto apart = make({16, 80});
  run_rows(*apart, rows, Work::accumulate, 400);
  ReferenceStatistics statistics;
  reference_accumulate(statistics, rows);
  const auto expected = reference_update(statistics, 16, 80, 1);
  for (const auto& backend : {together.get(), apart.get()}) {
    expect_hits(*backend, statistics);
    backend->update(1);
    expect_codebook(*backend, expected);
  }
}

TEST_P(UpdateTest, ClearingForgetsAndGatheringGoesOn) {
  auto random = generator(25);
  const auto backend = make({3, 30});
  auto forgotten = placed_rows(300, 30, 8, 9, random);
  run_rows(*backend, forgotten, Work::accumulate, 100);
  backend->update(1);
  backend->clear_statistics();
  ReferenceStatistics statistics;
  for (int round = 0; round < 3; ++round) {
    auto rows = placed_rows(200, 30, 8, 9, random);
    run_rows(*backend, rows, Work::accumulate, 64);
    reference_accumulate(statistics, rows);
    expect_hits(*backend, statistics);
    backend->update(1);
    expect_codebook(*backend, reference_update(statistics, 3, 30, 1));
  }
}

TEST_P(UpdateTest, CountsBeyondOneAndTwoBytes) {
  auto random = generator(26);
  const auto backend = make({2, 5});
  std::vector<Row> rows(140'000);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r].descriptors = {0};
    if (r % 500 == 0) {
      rows[r].descriptors.push_back(1);  // 280 in all
    }
    if (r % 2 == 0) {
      rows[r].descriptors.push_back(4);
    }
    rows[r].bmu = random() % 20 == 0 ? 1 : 2;
  }
  ReferenceStatistics statistics;
  reference_accumulate(statistics, rows);
  EXPECT_GT((statistics.counts[{0, 2}]), 65'536U * 2);
  run_rows(*backend, rows, Work::accumulate, 50'000);
  for (const std::uint32_t radius : {0U, 1U}) {
    backend->update(radius);
    expect_codebook(*backend, reference_update(statistics, 2, 5, radius));
  }
}

TEST_P(UpdateTest, SumsWhoseProductPasses64Bits) {
  auto random = generator(27);
  const std::uint32_t side = 400;
  const std::uint32_t radius = 230;
  auto rows = placed_rows(100'000, 2, 2, side * side, random);
  for (Row& row : rows) {
    row.use = row_use::trains;
    row.descriptors = {0};
    if (row.bmu % 3 == 0) {
      row.descriptors.push_back(1);
    }
  }
  ReferenceStatistics statistics;
  reference_accumulate(statistics, rows);
  std::vector<std::uint64_t> hits(std::size_t{side} * side);
  for (const auto& [neuron, count] : statistics.hits) {
    hits[neuron] = count;
  }
  hits = reference_blur(std::move(hits), side, radius);
  EXPECT_GT(*std::max_element(hits.begin(), hits.end()), UINT64_MAX / weight_one);
  const auto backend = make({side, 2});
  run_rows(*backend, rows, Work::accumulate, 65'536);
  backend->update(radius);
  expect_codebook(*backend, reference_update(statistics, side, 2, radius));
}

TEST_P(UpdateTest, NoDescriptorsAtAll) {
  auto random = generator(28);
  const auto backend = make({5, 0});
  auto rows = placed_rows(50, 0, 0, 25, random);
  ReferenceStatistics statistics;
  reference_accumulate(statistics, rows);
  run_rows(*backend, rows, Work::accumulate, 20);
  expect_hits(*backend, statistics);
  backend->update(1);
  expect_codebook(*backend, reference_update(statistics, 5, 0, 1));
}

TEST_P(UpdateTest, LoadThenReadGivesTheSamePlanes) {
  auto random = generator(29);
  for (const std::uint32_t side : {1U, 3U, 16U, 33U, 100U}) {
    const std::uint32_t descriptors = side == 100 ? 37 : 300;
    const auto backend = make({side, descriptors});
    for (int round = 0; round < 2; ++round) {
      const auto codebook = random_codebook(side, descriptors, 0.4, 0.1 * round, random);
      load_planes(*backend, codebook.weights, codebook.vacant);
      expect_codebook(*backend, codebook);
      const std::vector<DescriptorId> some{descriptors / 3, descriptors / 3 + 1, descriptors - 1, 0,
                                           descriptors / 3};
      std::vector<std::uint16_t> planes(some.size() * codebook.neurons());
      backend->read_planes(some, planes);
      for (std::size_t i = 0; i < some.size(); ++i) {
        const auto from = static_cast<std::ptrdiff_t>(i * codebook.neurons());
        EXPECT_TRUE(std::equal(
            planes.begin() + from,
            planes.begin() + from + static_cast<std::ptrdiff_t>(codebook.neurons()),
            codebook.weights.begin() + static_cast<std::ptrdiff_t>(some[i] * codebook.neurons())));
      }
      EXPECT_THROW(backend->read_planes(std::vector{descriptors},
                                        std::span(planes).first(codebook.neurons())),
                   std::invalid_argument);
      EXPECT_THROW(backend->read_planes(some, std::span(planes).first(codebook.neurons())),
                   std::invalid_argument);
    }
  }
}

TEST_P(UpdateTest, LoadTakesTheWeightsOfVacantNeuronsAsZero) {
  auto random = generator(30);
  auto codebook = random_codebook(3, 10, 1, 0, random);
  const auto weights = codebook.weights;
  codebook.vacant[0] = codebook.vacant[5] = 1;
  for (std::size_t v = 0; v < 10; ++v) {
    codebook.weights[v * 9] = codebook.weights[v * 9 + 5] = 0;
  }
  reference_norms(codebook);
  const auto backend = make({3, 10});
  load_planes(*backend, weights, codebook.vacant);
  expect_codebook(*backend, codebook);
}

TEST_P(UpdateTest, LoadRefusesADamagedCodebook) {
  auto random = generator(31);
  auto codebook = random_codebook(3, 2'100, 0, 0, random);
  const auto backend = make({3, 2'100});
  codebook.weights[9 * 1'000 + 4] = weight_one + 1;
  EXPECT_THROW(load_planes(*backend, codebook.weights, codebook.vacant), std::invalid_argument);
  for (std::size_t v = 0; v < codebook.descriptors; ++v) {
    codebook.weights[v * 9 + 4] = weight_one;  // a norm of 2,100 * 64 * 16383 is past 31 bits
  }
  EXPECT_THROW(load_planes(*backend, codebook.weights, codebook.vacant), std::invalid_argument);
  codebook = random_codebook(3, 2'100, 0.3, 0.2, random);
  load_planes(*backend, codebook.weights, codebook.vacant);
  expect_codebook(*backend, codebook);
}

}  // namespace
}  // namespace somatlas::gpu::testing
