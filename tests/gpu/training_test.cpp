// Whole trainings: several epochs of search and update, every figure of every epoch in one hash.
// Always holds: the hash is the reference's, whatever the backend, the tiles and the order of rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/gpu/backends.h"
#include "tests/gpu/reference.h"

namespace somatlas::gpu::testing {
namespace {

/// FNV-1a over the values' low 32 bits.
class Hash {
 public:
  template <class Values>
  void add(const Values& values) {
    for (const auto value : values) {
      state_ = (state_ ^ static_cast<std::uint32_t>(value)) * 0x100'0000'01B3U;
    }
  }
  void add_places(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      add(std::initializer_list<std::uint32_t>{row.bmu, row.second,
                                               static_cast<std::uint32_t>(row.score)});
    }
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xCBF2'9CE4'8422'2325U;
};

/// A random corpus with a random start, and the radius of every epoch.
struct Training {
  MapShape shape;
  std::vector<Row> rows;
  std::vector<std::uint32_t> radii;
};

Training random_training(MapShape shape, std::size_t rows, std::vector<std::uint32_t> radii,
                         std::uint64_t purpose) {
  auto random = generator(purpose);
  Training training{shape, random_rows(rows, shape.descriptors, 14, random), std::move(radii)};
  for (Row& row : training.rows) {
    row.bmu = static_cast<Neuron>(random() % shape.neurons());
  }
  return training;
}

/// Start, then an update and a search for each radius; rows are given in the order named.
std::uint64_t train(Backend& backend, const Training& training, std::size_t tile_rows,
                    const std::vector<std::size_t>& order) {
  std::vector<Row> rows;
  for (const std::size_t r : order) {
    rows.push_back(training.rows[r]);
  }
  Hash hash;
  backend.clear_statistics();
  run_rows(backend, rows, Work::accumulate, tile_rows);
  std::vector<Row> places(rows.size());
  for (const std::uint32_t radius : training.radii) {
    backend.update(radius);
    backend.clear_statistics();
    run_rows(backend, rows, Work::search_and_accumulate, tile_rows);
    for (std::size_t i = 0; i < order.size(); ++i) {
      places[order[i]] = rows[i];
    }
    hash.add_places(places);
    const Cells cells = backend.read_cells();
    hash.add(cells.norm);
    hash.add(cells.vacant);
    hash.add(cells.hits);
  }
  hash.add(all_planes(backend));
  return hash.value();
}

std::uint64_t reference_training(const Training& training) {
  auto rows = training.rows;
  Hash hash;
  ReferenceStatistics statistics;
  reference_accumulate(statistics, rows);
  ReferenceCodebook codebook;
  for (const std::uint32_t radius : training.radii) {
    codebook =
        reference_update(statistics, training.shape.side, training.shape.descriptors, radius);
    statistics = {};
    reference_search(codebook, rows);
    reference_accumulate(statistics, rows);
    hash.add_places(rows);
    hash.add(codebook.norm);
    hash.add(codebook.vacant);
    std::vector<std::uint32_t> hits(codebook.neurons());
    for (const auto& [neuron, count] : statistics.hits) {
      hits[neuron] = count;
    }
    hash.add(hits);
  }
  hash.add(codebook.weights);
  return hash.value();
}

std::vector<std::size_t> as_given(const Training& training) {
  std::vector<std::size_t> order(training.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

class TrainingTest : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Backends, TrainingTest, all_backends, parameter_name);

TEST_P(TrainingTest, EqualsTheReference) {
  std::uint64_t purpose = 40;
  for (const std::uint32_t side : {1U, 3U, 16U, 33U}) {
    SCOPED_TRACE("side " + std::to_string(side));
    const auto training = random_training({side, 120}, 800, {side / 2, 2, 1, 0, 1}, purpose++);
    const auto backend = make(training.shape);
    EXPECT_EQ(train(*backend, training, 300, as_given(training)), reference_training(training));
    // A backend that has trained once starts again like a fresh one.
    EXPECT_EQ(train(*backend, training, 300, as_given(training)), reference_training(training));
  }
}

TEST_P(TrainingTest, ArticlesOfOneAndOfTheMostDescriptorsEqualTheReference) {
  auto random = generator(54);
  auto training = random_training({7, 1'400}, 60, {3, 1, 0}, 55);
  std::vector<DescriptorId> all(training.shape.descriptors);
  std::iota(all.begin(), all.end(), DescriptorId{0});
  for (std::size_t r = 0; r < training.rows.size(); r += 2) {
    std::shuffle(all.begin(), all.end(), random);
    training.rows[r].descriptors.assign(all.begin(), all.begin() + (r % 4 == 0 ? 1'023 : 1));
    training.rows[r].use = row_use::trains | row_use::second;
  }
  for (const std::size_t tile_rows : {1U, 7U, 100U}) {
    SCOPED_TRACE("tiles of " + std::to_string(tile_rows));
    const auto backend = make(training.shape);
    EXPECT_EQ(train(*backend, training, tile_rows, as_given(training)),
              reference_training(training));
  }
}

TEST_P(TrainingTest, TilesAndOrderDoNotMatter) {
  auto random = generator(50);
  const auto training = random_training({16, 90}, 500, {8, 4, 2, 1, 1}, 51);
  const std::uint64_t expected = reference_training(training);
  auto order = as_given(training);
  for (const std::size_t tile_rows : {1U, 7U, 100U, 100'000U}) {
    SCOPED_TRACE("tiles of " + std::to_string(tile_rows));
    const auto backend = make(training.shape);
    EXPECT_EQ(train(*backend, training, tile_rows, order), expected);
    std::shuffle(order.begin(), order.end(), random);
  }
}

TEST_P(TrainingTest, ALargeMapEqualsTheSerialBackend) {
  const auto training = random_training({101, 700}, 4'000, {25, 6, 1}, 52);
  const auto serial = make_cpu_backend(training.shape, threads(1));
  const auto backend = make(training.shape);
  EXPECT_EQ(train(*backend, training, 1'500, as_given(training)),
            train(*serial, training, 100'000, as_given(training)));
}

TEST_P(TrainingTest, GoingOnFromLoadedPlanesChangesNothing) {
  const auto training = random_training({16, 90}, 600, {5}, 53);
  const auto first = make(training.shape);
  (void)train(*first, training, 200, as_given(training));
  const auto planes = all_planes(*first);
  const auto second = make(training.shape);
  load_planes(*second, planes, first->read_cells().vacant);
  auto rows = training.rows;
  auto again = training.rows;
  first->clear_statistics();
  run_rows(*first, rows, Work::search_and_accumulate, 256);
  run_rows(*second, again, Work::search_and_accumulate, 100);
  expect_places(again, rows);
  first->update(2);
  second->update(2);
  EXPECT_EQ(all_planes(*first), all_planes(*second));
  EXPECT_EQ(first->read_cells().norm, second->read_cells().norm);
}

}  // namespace
}  // namespace somatlas::gpu::testing
