// Reads whole atlases back for the tests of training.
#include "tests/pipeline/training_fixture.h"

#include <memory>

#include "gpu/backend.h"
#include "pipeline/atlas_meta.h"
#include "store/shard.h"

namespace somatlas::pipeline {

std::string device_name(Device device) {
  return device == Device::cuda ? "cuda" : "cpu";
}

void skip_without(Device device) {
  if (device == Device::cuda && gpu::cuda_devices().empty()) {
    GTEST_SKIP() << gpu::cuda_unavailable_reason();
  }
}

AtlasContent read_content(const std::string& directory) {
  const auto atlas = store::Atlas::open(directory, store::Atlas::Access::read);
  AtlasContent content;
  for (const std::uint32_t range : atlas->assignment_ranges()) {
    const auto shard = atlas->assignment(range);
    for (std::size_t i = 0; i < shard->low.size(); ++i) {
      content.assignment[range * store::pmids_per_shard + shard->low[i]] = shard->neuron[i];
    }
  }
  for (const std::uint32_t range : atlas->place_ranges()) {
    const auto shard = atlas->places(range);
    for (std::size_t i = 0; i < shard->low.size(); ++i) {
      content.places[range * store::pmids_per_shard + shard->low[i]] = {
          shard->neuron[i], shard->second[i], shard->distance[i]};
    }
  }
  for (const store::AtlasDescriptor& descriptor : atlas->descriptors()) {
    content.planes[descriptor.code] = *atlas->plane(descriptor.code);
  }
  content.cells = atlas->cells();
  for (std::uint32_t neuron = 0; neuron < content.cells.hits.size(); ++neuron) {
    content.articles[neuron] = atlas->articles(neuron);
  }
  content.meta = to_json(read_atlas_meta(*atlas));
  return content;
}

}  // namespace somatlas::pipeline
