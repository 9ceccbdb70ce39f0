// The order of neurons that exact search walks: a place for every neuron, and what the tree's nodes
// hold.
#include "gpu/plane_tree.h"

#include <gtest/gtest.h>

#include <set>

namespace somatlas::gpu::testing {
namespace {

TEST(PlaneTree, EveryNeuronHasOnePlaceAndEveryOtherPlaceIsBeyondTheEdge) {
  for (std::uint32_t side = 1; side <= 70; ++side) {
    const PlaneTree tree(side);
    std::set<std::size_t> places;
    for (Neuron neuron = 0; neuron < side * side; ++neuron) {
      const std::size_t place = tree.place_of(neuron);
      ASSERT_LT(place, tree.places());
      ASSERT_EQ(tree.neuron_of(place), neuron) << "side " << side;
      places.insert(place);
    }
    ASSERT_EQ(places.size(), std::size_t{side} * side);
    for (std::size_t place = 0; place < tree.places(); ++place) {
      ASSERT_EQ(tree.neuron_of(place) != no_neuron, places.contains(place));
    }
  }
}

TEST(PlaneTree, SupersAndBlocksAreSquaresOfTheMap) {
  const std::uint32_t side = 48;
  const PlaneTree tree(side);
  for (Neuron neuron = 0; neuron < side * side; ++neuron) {
    for (Neuron other = 0; other < side * side; ++other) {
      const auto in_one = [&](std::uint32_t width, std::size_t places) {
        const bool together = neuron / side / width == other / side / width &&
                              neuron % side / width == other % side / width;
        ASSERT_EQ(tree.place_of(neuron) / places == tree.place_of(other) / places, together);
      };
      in_one(4, tree_fanout);
      in_one(8, chunk_neurons);
      in_one(16, super_neurons);
    }
  }
}

TEST(PlaneTree, ChunksWithNeuronsAreNumberedInOrder) {
  for (const std::uint32_t side : {1U, 8U, 9U, 16U, 33U, 64U}) {
    const PlaneTree tree(side);
    std::set<std::uint32_t> filled;
    for (Neuron neuron = 0; neuron < side * side; ++neuron) {
      filled.insert(static_cast<std::uint32_t>(tree.place_of(neuron) / chunk_neurons));
    }
    EXPECT_EQ(std::vector<std::uint32_t>(filled.begin(), filled.end()), tree.filled_chunks());
    for (std::size_t chunk = 0; chunk < tree.chunks(); ++chunk) {
      const auto number = static_cast<std::uint32_t>(chunk);
      ASSERT_EQ(tree.slot(chunk) != PlaneTree::no_slot, filled.contains(number));
      if (filled.contains(number)) {
        ASSERT_EQ(tree.filled_chunks()[tree.slot(chunk)], number);
      }
    }
  }
}

}  // namespace
}  // namespace somatlas::gpu::testing
