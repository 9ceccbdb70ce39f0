#include "tools/bench/atlas_articles.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "store/descriptor_code.h"

namespace somatlas::tools::bench {

pipeline::DescriptorIndex descriptor_index(store::Atlas& atlas) {
  std::vector<store::AtlasDescriptor> descriptors = atlas.descriptors();  // by UI
  std::stable_sort(descriptors.begin(), descriptors.end(),
                   [](const store::AtlasDescriptor& a, const store::AtlasDescriptor& b) {
                     return a.articles > b.articles;
                   });
  std::vector<store::DescriptorCode> codes;
  for (const store::AtlasDescriptor& descriptor : descriptors) {
    codes.push_back(descriptor.code);
  }
  return pipeline::DescriptorIndex(std::move(codes));
}

gpu::MapShape shape_of(store::Atlas& atlas, const pipeline::DescriptorIndex& index) {
  const auto neurons = static_cast<double>(atlas.cells().hits.size());
  return {.side = static_cast<std::uint32_t>(std::lround(std::sqrt(neurons))),
          .descriptors = index.size()};
}

std::vector<std::uint16_t> plane_of(store::Atlas& atlas, const pipeline::DescriptorIndex& index,
                                    gpu::DescriptorId id) {
  auto plane = atlas.plane(index.codes()[id]);
  if (!plane) {
    throw std::runtime_error("the atlas lacks a plane; check it with somatlas verify");
  }
  return std::move(*plane);
}

void Articles::add(std::span<const gpu::DescriptorId> row, gpu::Neuron neuron) {
  descriptors.insert(descriptors.end(), row.begin(), row.end());
  if (descriptors.size() > UINT32_MAX) {
    throw std::length_error("these are more articles than can be measured at once; take fewer");
  }
  offsets.push_back(static_cast<std::uint32_t>(descriptors.size()));
  last.push_back(neuron);
}

Articles read_articles(store::Store& store, store::Atlas& atlas,
                       const pipeline::DescriptorIndex& index, std::size_t most) {
  Articles articles;
  std::vector<gpu::DescriptorId> known;
  for (const std::uint32_t range : atlas.assignment_ranges()) {
    if (articles.size() == most) {
      break;
    }
    const auto assigned = atlas.assignment(range);
    const auto shard = store.shard(range);
    if (!assigned || !shard) {
      throw std::runtime_error("the store is not the one that the atlas was trained on");
    }
    std::size_t row = 0;
    for (std::size_t i = 0; i < assigned->low.size() && articles.size() < most; ++i) {
      while (row < shard->rows() && shard->low[row] < assigned->low[i]) {
        ++row;
      }
      if (row == shard->rows() || shard->low[row] != assigned->low[i]) {
        throw std::runtime_error("the store has changed since the atlas was trained");
      }
      known.clear();
      for (const store::DescriptorCode code : shard->row(row)) {
        if (const auto id = index.id(code); id != pipeline::DescriptorIndex::unknown) {
          known.push_back(id);
        }
      }
      articles.add(known, assigned->neuron[i]);
    }
  }
  if (articles.size() == 0) {
    throw std::runtime_error("the atlas was trained on no article of the store");
  }
  return articles;
}

}  // namespace somatlas::tools::bench
