// Rows that stay on a device, and tiles that are submitted again: whatever was sent before, results
// are those of rows sent anew. One body for every backend.
#include "gpu/row_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <future>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/gpu/backends.h"
#include "tests/gpu/reference.h"

namespace somatlas::gpu::testing {
namespace {

void fill(Tile& tile, const std::vector<Row>& rows) {
  tile.clear();
  for (const Row& row : rows) {
    tile.add_row(row.descriptors, row.use, row.bmu);
  }
}

void work_on(Backend& backend, Tile& tile, Work work) {
  std::promise<std::exception_ptr> done;
  backend.submit(tile, work, [&](std::exception_ptr failure) { done.set_value(failure); });
  if (const std::exception_ptr failure = done.get_future().get()) {
    std::rethrow_exception(failure);
  }
}

/// What a search left in a tile of these rows.
[[nodiscard]] std::vector<Row> places_in(const Tile& tile, std::vector<Row> rows) {
  EXPECT_EQ(tile.rows(), rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    EXPECT_EQ(tile.use()[r], rows[r].use);
    rows[r].bmu = tile.bmu()[r];
    rows[r].score = tile.score()[r];
    rows[r].second = tile.second()[r];
  }
  return rows;
}

[[nodiscard]] TileCapacity capacity_of(const std::vector<Row>& rows) {
  TileCapacity capacity{.rows = rows.size()};
  for (const Row& row : rows) {
    capacity.descriptors += row.descriptors.size();
  }
  return capacity;
}

class RowCacheTest : public BackendTest {
 protected:
  static constexpr MapShape shape_{.side = 33, .descriptors = 80};

  /// So many rows on random neurons, some on none. Of those that ask for a second BMU none or some.
  std::vector<Row> rows(std::size_t count, bool seconds) {
    auto rows = random_rows(count, shape_.descriptors, 12, random_);
    for (Row& row : rows) {
      row.bmu = random_() % 9 == 0 ? no_neuron : static_cast<Neuron>(random_() % shape_.neurons());
      row.use = static_cast<std::uint8_t>(seconds ? row.use : row.use & row_use::trains);
    }
    return rows;
  }
  [[nodiscard]] ReferenceCodebook load_random(Backend& backend) {
    auto codebook = random_codebook(shape_.side, shape_.descriptors, 0.3, 0.1, random_);
    load_planes(backend, codebook.weights, codebook.vacant);
    return codebook;
  }

  /// On the device or in host memory.
  [[nodiscard]] std::unique_ptr<RowCache> make_cache(Backend& backend,
                                                     std::span<const TileCapacity> slots) {
    return random_() % 2 == 0 ? backend.make_row_cache(slots) : backend.make_host_row_cache(slots);
  }

  std::mt19937_64 random_ = generator(71);
};
INSTANTIATE_TEST_SUITE_P(Backends, RowCacheTest, all_backends, parameter_name);

TEST_P(RowCacheTest, RowsThatStayGiveWhatRowsSentAnewGive) {
  const auto backend = make(shape_);
  std::vector<std::vector<Row>> parts{rows(300, true), rows(0, true), rows(1, true),
                                      rows(257, false)};
  std::vector<TileCapacity> slots;
  TileCapacity capacity{.rows = 310, .descriptors = 4'000};
  for (const auto& part : parts) {
    slots.push_back(capacity_of(part));
    slots.back().descriptors += random_() % 50;
  }
  const auto cache = make_cache(*backend, slots);
  const std::vector<std::unique_ptr<Tile>> tiles = [&] {
    std::vector<std::unique_ptr<Tile>> made;
    made.push_back(backend->make_tile(capacity));
    made.push_back(backend->make_tile(capacity));
    return made;
  }();
  ReferenceStatistics statistics;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Tile& tile = *tiles[i % 2];
    fill(tile, parts[i]);
    cache->keep(i, tile);
    EXPECT_THROW(tile.add_row({}, row_use::none), std::logic_error);
    work_on(*backend, tile, Work::accumulate);
    reference_accumulate(statistics, parts[i]);
  }
  expect_hits(*backend, statistics);
  for (int epoch = 0; epoch < 3; ++epoch) {
    SCOPED_TRACE(epoch);
    const ReferenceCodebook codebook = load_random(*backend);
    backend->clear_statistics();
    statistics = {};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Tile& tile = *tiles[random_() % 2];
      if (random_() % 2 == 0) {  // a tile that streams, in between
        auto other = rows(random_() % 300, random_() % 2 == 0);
        fill(tile, other);
        work_on(*backend, tile, Work::search);
        auto expected = other;
        reference_search(codebook, expected);
        expect_places(places_in(tile, other), expected);
      }
      cache->lend(i, tile);
      work_on(*backend, tile, Work::search_and_accumulate);
      auto expected = parts[i];
      reference_search(codebook, expected);
      expect_places(places_in(tile, parts[i]), expected);
      reference_accumulate(statistics, expected);
      parts[i] = expected;
    }
    expect_hits(*backend, statistics);
    backend->update(1);
    expect_codebook(*backend, reference_update(statistics, shape_.side, shape_.descriptors, 1));
    // Counted once more where they are.
    for (std::size_t i = 0; i < parts.size(); ++i) {
      cache->lend(i, *tiles[0]);
      work_on(*backend, *tiles[0], Work::accumulate);
      reference_accumulate(statistics, parts[i]);
    }
    expect_hits(*backend, statistics);
  }
}

TEST_P(RowCacheTest, ASlotIsFilledAgain) {
  const auto backend = make(shape_);
  const ReferenceCodebook codebook = load_random(*backend);
  const std::vector<TileCapacity> slots{{.rows = 100, .descriptors = 1'200}};
  const auto cache = make_cache(*backend, slots);
  const auto tile = backend->make_tile(slots[0]);
  for (const std::size_t count : {100U, 40U, 99U}) {
    const auto some = rows(count, true);
    fill(*tile, some);
    cache->keep(0, *tile);
    auto expected = some;
    reference_search(codebook, expected);
    for (int round = 0; round < 2; ++round) {
      work_on(*backend, *tile, Work::search);
      expect_places(places_in(*tile, some), expected);
      cache->lend(0, *tile);
    }
  }
}

TEST_P(RowCacheTest, RefusesWhatASlotDoesNotHold) {
  const auto backend = make(shape_);
  const std::vector<TileCapacity> slots{{.rows = 2, .descriptors = 3}};
  const auto cache = make_cache(*backend, slots);
  const auto tile = backend->make_tile({.rows = 3, .descriptors = 9});
  fill(*tile, {{.descriptors = {1, 2}}, {.descriptors = {4, 5}}});
  EXPECT_THROW(cache->keep(0, *tile), std::length_error);
  fill(*tile, {{.descriptors = {1}}, {.descriptors = {4}}, {.descriptors = {2}}});
  EXPECT_THROW(cache->keep(0, *tile), std::length_error);
  fill(*tile, {{.descriptors = {1, 2}}, {.descriptors = {4}}});
  EXPECT_NO_THROW(cache->keep(0, *tile));
  const auto small = backend->make_tile({.rows = 1, .descriptors = 9});
  EXPECT_THROW(cache->lend(0, *small), std::length_error);
}

TEST_P(RowCacheTest, ATileIsSubmittedAgainUnchangedWithOtherPlacesLongerAndRefilled) {
  const auto backend = make(shape_);
  const auto tile = backend->make_tile({.rows = 400, .descriptors = 6'000});
  std::vector<Row> held = rows(200, true);
  fill(*tile, held);
  ReferenceStatistics statistics;
  const auto count = [&] {
    work_on(*backend, *tile, Work::accumulate);
    reference_accumulate(statistics, held);
    expect_hits(*backend, statistics);
  };
  count();
  count();
  for (std::size_t r = 0; r < held.size(); ++r) {
    held[r].bmu = static_cast<Neuron>(random_() % shape_.neurons());
    tile->bmu()[r] = held[r].bmu;
  }
  count();
  for (const Row& row : rows(150, false)) {
    tile->add_row(row.descriptors, row.use, row.bmu);
    held.push_back(row);
  }
  count();
  const ReferenceCodebook codebook = load_random(*backend);
  work_on(*backend, *tile, Work::search);
  auto expected = held;
  reference_search(codebook, expected);
  expect_places(places_in(*tile, held), expected);
  held = rows(350, true);  // as many as there were
  fill(*tile, held);
  count();
  work_on(*backend, *tile, Work::search);
  expected = held;
  reference_search(codebook, expected);
  expect_places(places_in(*tile, held), expected);
}

TEST_P(RowCacheTest, TheDeviceIsBusyWhileItWorks) {
  const auto backend = make(shape_);
  static_cast<void>(load_random(*backend));
  const auto tile = backend->make_tile({.rows = 2'000, .descriptors = 30'000});
  fill(*tile, rows(2'000, true));
  EXPECT_EQ(backend->busy_seconds(), 0);
  work_on(*backend, *tile, Work::search);
  const double once = backend->busy_seconds();
  EXPECT_GT(once, 0);
  work_on(*backend, *tile, Work::search);
  EXPECT_GT(backend->busy_seconds(), once);
}

}  // namespace
}  // namespace somatlas::gpu::testing
