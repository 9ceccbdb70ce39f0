// Writes what a finished training leaves beside assignment and places: planes with their
// descriptors, cells, articles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "gpu/backend.h"
#include "pipeline/article_set.h"
#include "pipeline/cell_labels.h"
#include "pipeline/mesh_topics.h"
#include "pipeline/placement.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

/// Planes that are read, encoded and held at once.
[[nodiscard]] constexpr std::size_t planes_a_batch(std::size_t neurons) {
  constexpr std::size_t weights = std::size_t{1} << 21;
  return std::clamp<std::size_t>(weights / neurons, 48, 512);
}

/// Whoever waits for a pass over the planes: sees how far it is, and may end it.
struct PlanePassWatch {
  std::function<void(std::uint64_t planes)>
      progress;  // that are done, of twice as many as there are
  std::stop_token stop;
};

/// Writes the planes, and gathers labels and borders on the way, in one pass over the codebook;
/// then cells and their regions, in another.
class PlaneWriter {
 public:
  /// planes: whose planes are written. frequencies[i]: training articles with the descriptor of id
  /// i. articles: training articles. cells: of the codebook, which was made with that radius. What
  /// is referred to must outlive it.
  PlaneWriter(const MeshTopics& topics, gpu::Backend& backend, const DescriptorIndex& index,
              std::vector<gpu::DescriptorId> planes, const std::vector<std::uint64_t>& frequencies,
              std::uint64_t articles, const gpu::Cells& cells, std::uint32_t radius);

  /// False where it was asked to stop; nothing of it is then in the atlas.
  [[nodiscard]] bool write(store::Atlas& work, const PlanePassWatch& watch);
  /// Those of the planes' descriptors, if any.
  void write_entry_words(store::Atlas& work, std::vector<store::EntryWords> words) const;
  /// After write(), once. heights: of the cells, in place of those made here; or none. False as
  /// write().
  [[nodiscard]] bool write_cells(store::Atlas& work, const Placement& placement,
                                 std::span<const std::uint32_t> heights,
                                 const PlanePassWatch& watch);
  [[nodiscard]] std::uint64_t planes() const { return in_ui_order_.size(); }

 private:
  [[nodiscard]] std::span<const gpu::DescriptorId> read_batch(std::size_t number);
  std::vector<std::string> encode(std::span<const gpu::DescriptorId> ids);
  [[nodiscard]] LabelDescriptor label_descriptor(gpu::DescriptorId id) const;

  const MeshTopics& topics_;
  gpu::Backend& backend_;
  const DescriptorIndex& index_;
  const std::vector<std::uint64_t>& frequencies_;
  std::uint64_t articles_;
  const gpu::Cells& cells_;
  std::vector<gpu::DescriptorId> in_ui_order_;
  gpu::HostBlock block_;            // of a batch
  std::span<std::uint16_t> batch_;  // in it, the planes read last
  std::optional<CellCollector> collector_;
};

void write_cell_articles(store::Atlas& work, const Placement& placement);

}  // namespace somatlas::pipeline
