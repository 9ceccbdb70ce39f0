// The articles that an atlas was trained on and its codebook's descriptors, as the benches of
// search and update take them. Always holds: descriptors have the numbers that training gives them,
// by falling frequency; the store is the one that the atlas was made from, or nothing is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/backend.h"
#include "pipeline/article_set.h"
#include "store/atlas.h"
#include "store/store.h"

namespace somatlas::tools::bench {

[[nodiscard]] pipeline::DescriptorIndex descriptor_index(store::Atlas& atlas);
[[nodiscard]] gpu::MapShape shape_of(store::Atlas& atlas, const pipeline::DescriptorIndex& index);
/// A descriptor's plane. Throws std::runtime_error where the atlas lacks it.
[[nodiscard]] std::vector<std::uint16_t> plane_of(store::Atlas& atlas,
                                                  const pipeline::DescriptorIndex& index,
                                                  gpu::DescriptorId id);

/// Rows one after the other.
struct Articles {
  std::vector<std::uint32_t> offsets{0};
  std::vector<gpu::DescriptorId> descriptors;
  std::vector<gpu::Neuron> last;  // that the codebook was made from

  [[nodiscard]] std::size_t size() const { return last.size(); }
  [[nodiscard]] std::span<const gpu::DescriptorId> row(std::size_t r) const {
    return {descriptors.data() + offsets[r], offsets[r + 1] - offsets[r]};
  }
  [[nodiscard]] double mean_descriptors() const {
    return static_cast<double>(descriptors.size()) / static_cast<double>(size());
  }
  void add(std::span<const gpu::DescriptorId> row, gpu::Neuron neuron);
};

/// Training articles in the order of their PMIDs, so many at most. Throws std::runtime_error where
/// the store is another or has changed.
[[nodiscard]] Articles read_articles(store::Store& store, store::Atlas& atlas,
                                     const pipeline::DescriptorIndex& index, std::size_t most);

}  // namespace somatlas::tools::bench
