// A tile's layout and its refusals; one body for every backend's tiles.
#include "gpu/tile.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "gpu/contract.h"
#include "tests/gpu/backends.h"

namespace somatlas::gpu::testing {
namespace {

class TileTest : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Backends, TileTest, all_backends, parameter_name);

TEST_P(TileTest, HoldsWhatWasAdded) {
  const auto backend = make({.side = 3, .descriptors = 2000});
  const auto tile = backend->make_tile({.rows = 4, .descriptors = 1030});
  std::vector<DescriptorId> most(max_descriptors);
  std::iota(most.begin(), most.end(), DescriptorId{5});
  const std::vector<DescriptorId> few{1999, 0, 7};
  for (int round = 0; round < 2; ++round) {
    tile->clear();
    EXPECT_EQ(tile->rows(), 0U);
    EXPECT_TRUE(tile->descriptors().empty());
    tile->add_row(few, row_use::trains, 8);
    tile->add_row({}, row_use::none);
    tile->add_row(most, row_use::second, 3);
    ASSERT_EQ(tile->rows(), 3U);
    EXPECT_EQ(std::vector<DescriptorId>(tile->row(0).begin(), tile->row(0).end()), few);
    EXPECT_TRUE(tile->row(1).empty());
    EXPECT_EQ(std::vector<DescriptorId>(tile->row(2).begin(), tile->row(2).end()), most);
    EXPECT_EQ(tile->offsets().back(), 1026U);
    EXPECT_EQ(tile->bmu()[0], 8U);
    EXPECT_EQ(tile->bmu()[1], no_neuron);
    EXPECT_EQ(tile->use()[2], row_use::second);
  }
}

TEST_P(TileTest, RefusesWhatDoesNotFit) {
  const auto backend = make({.side = 1, .descriptors = 10});
  const auto tile = backend->make_tile({.rows = 2, .descriptors = 5});
  const std::vector<DescriptorId> three{1, 2, 3};
  tile->add_row(three, row_use::trains);
  EXPECT_THROW(tile->add_row(three, row_use::trains), std::length_error);
  EXPECT_EQ(tile->rows(), 1U);
  tile->add_row(std::span(three).first(2), row_use::trains);
  EXPECT_THROW(tile->add_row({}, row_use::trains), std::length_error);
  EXPECT_EQ(tile->rows(), 2U);
}

TEST_P(TileTest, RefusesMoreDescriptorsThanAScoreHolds) {
  const auto backend = make({.side = 1, .descriptors = 2000});
  const auto tile = backend->make_tile({.rows = 2, .descriptors = 2000});
  const std::vector<DescriptorId> too_many(max_descriptors + 1);
  EXPECT_THROW(tile->add_row(too_many, row_use::trains), std::length_error);
}

}  // namespace
}  // namespace somatlas::gpu::testing
