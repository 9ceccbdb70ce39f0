// Exact pruning against the reference and brute force, which it must never differ from.
#include <gtest/gtest.h>

#include <numeric>

#include "gpu/contract.h"
#include "gpu/cpu_codebook.h"
#include "gpu/cpu_search.h"
#include "tests/gpu/backends.h"
#include "tests/gpu/reference.h"

namespace somatlas::gpu::testing {
namespace {

CpuCodebook codebook_of(const ReferenceCodebook& reference) {
  CpuCodebook codebook({.side = reference.side, .descriptors = reference.descriptors});
  const std::size_t neurons = reference.neurons();
  for (DescriptorId v = 0; v < reference.descriptors; ++v) {
    store_plane(codebook, v, std::span(reference.weights).subspan(v * neurons, neurons));
  }
  codebook.square_sum = reference.square_sum;
  codebook.vacant = reference.vacant;
  make_norms(codebook);
  return codebook;
}

std::vector<Row> random_rows(std::mt19937_64& random, const ReferenceCodebook& reference,
                             std::size_t count, std::size_t longest) {
  std::vector<Row> rows(count);
  for (Row& row : rows) {
    std::set<DescriptorId> chosen;
    for (std::size_t n = random() % (longest + 1); n > 0; --n) {
      chosen.insert(static_cast<DescriptorId>(random() % reference.descriptors));
    }
    row.descriptors.assign(chosen.begin(), chosen.end());
    row.use = random() % 2 == 0 ? row_use::second : row_use::trains;
    row.bmu = random() % 3 == 0 ? no_neuron : static_cast<Neuron>(random() % reference.neurons());
  }
  return rows;
}

template <class Search>
std::vector<Row> searched(std::vector<Row> rows, const Search& search) {
  std::size_t descriptors = 0;
  for (const Row& row : rows) {
    descriptors += row.descriptors.size();
  }
  const TileCapacity capacity{rows.size(), descriptors};
  Tile tile(capacity, host_block(Tile::bytes(capacity)));
  for (const Row& row : rows) {
    tile.add_row(row.descriptors, row.use, row.bmu);
  }
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  search(tile, order);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].bmu = tile.bmu()[i];
    rows[i].score = tile.score()[i];
    rows[i].second = tile.second()[i];
  }
  return rows;
}

void expect_all_equal(const ReferenceCodebook& reference, const std::vector<Row>& rows) {
  const CpuCodebook codebook = codebook_of(reference);
  std::vector<Row> expected = rows;
  reference_search(reference, expected);
  expect_places(searched(rows,
                         [&](Tile& tile, std::span<const std::uint32_t> order) {
                           search_brute(codebook, tile, order);
                         }),
                expected);
  PruningWork work;
  expect_places(searched(rows,
                         [&](Tile& tile, std::span<const std::uint32_t> order) {
                           work = search_pruned(codebook, tile, order);
                         }),
                expected);
  EXPECT_EQ(work.rows, rows.size());
  expect_places(searched(rows,
                         [&](Tile& tile, std::span<const std::uint32_t> order) {
                           search_rows(codebook, tile, order);
                         }),
                expected);
}

TEST(PrunedSearch, EqualsTheReferenceOnEverySide) {
  auto random = generator(70);
  for (std::uint32_t side = 1; side <= 40; ++side) {
    const double filled = static_cast<double>(random() % 100) / 100;
    const double vacant = random() % 2 == 0 ? 0 : static_cast<double>(random() % 100) / 100;
    const ReferenceCodebook reference = random_codebook(
        side, 1 + static_cast<std::uint32_t>(random() % 30), filled, vacant, random);
    expect_all_equal(reference, random_rows(random, reference, 60, 9));
  }
}

// More than 1,024 blocks: the supers' bounds are asked first.
TEST(PrunedSearch, EqualsTheReferenceOnTwoLevels) {
  auto random = generator(71);
  for (const std::uint32_t side : {129U, 140U, 160U}) {
    const ReferenceCodebook reference = random_codebook(side, 12, 0.2, 0.1, random);
    expect_all_equal(reference, random_rows(random, reference, 40, 6));
  }
}

TEST(PrunedSearch, AmongEqualNeuronsTheLowestWinsWhereverItBegins) {
  auto random = generator(72);
  for (const std::uint32_t side : {16U, 33U, 136U}) {
    ReferenceCodebook reference = random_codebook(side, 6, 0, 0, random);
    // A few values, in large patches: many neurons of many blocks share the best score.
    for (std::size_t cell = 0; cell < reference.weights.size(); ++cell) {
      const std::size_t neuron = cell % reference.neurons();
      reference.weights[cell] = static_cast<std::uint16_t>(
          1000 * ((neuron / side / 5 + neuron % side / 7 + cell / reference.neurons()) % 3));
    }
    reference_norms(reference);
    expect_all_equal(reference, random_rows(random, reference, 60, 6));
  }
}

TEST(PrunedSearch, ExtremeWeightsAndTheMostDescriptorsDoNotOverflow) {
  auto random = generator(73);
  ReferenceCodebook reference = random_codebook(20, max_descriptors, 0, 0.3, random);
  for (std::size_t cell = 0; cell < reference.weights.size(); ++cell) {
    const bool usable = reference.vacant[cell % reference.neurons()] == 0;
    reference.weights[cell] = usable && random() % 8 != 0 ? weight_one : 0;
  }
  reference_norms(reference);
  std::vector<Row> rows = random_rows(random, reference, 20, 3);
  rows[0].descriptors.resize(max_descriptors);
  std::iota(rows[0].descriptors.begin(), rows[0].descriptors.end(), 0U);
  rows[1].descriptors.clear();
  expect_all_equal(reference, rows);
}

}  // namespace
}  // namespace somatlas::gpu::testing
