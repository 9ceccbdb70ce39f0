// Writes what a finished training leaves beside assignment and places: planes with their
// descriptors, cells, articles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu/backend.h"
#include "pipeline/article_set.h"
#include "pipeline/cell_labels.h"
#include "pipeline/placement.h"
#include "store/atlas.h"
#include "store/store.h"

namespace somatlas::pipeline {

/// Planes that are read, encoded and held at once.
[[nodiscard]] constexpr std::size_t planes_a_batch(std::size_t neurons) {
  constexpr std::size_t weights = std::size_t{1} << 21;
  return std::clamp<std::size_t>(weights / neurons, 48, 512);
}

/// Writes the planes, and gathers labels and heights on the way, in one pass over the codebook.
class PlaneWriter {
 public:
  /// frequencies[i]: training articles with the descriptor of id i; descriptors of none have no
  /// plane. articles: training articles. What is referred to must outlive it.
  PlaneWriter(store::Store& store, gpu::Backend& backend, const DescriptorIndex& index,
              const std::vector<std::uint64_t>& frequencies, std::uint64_t articles,
              std::span<const std::uint8_t> vacant);

  void write(store::Atlas& work);
  /// After write().
  [[nodiscard]] std::uint64_t planes() const { return in_ui_order_.size(); }
  [[nodiscard]] const CellCollector& cells() const { return cells_; }

 private:
  std::vector<std::string> encode(std::span<const gpu::DescriptorId> ids);

  gpu::Backend& backend_;
  const DescriptorIndex& index_;
  const std::vector<std::uint64_t>& frequencies_;
  std::uint64_t articles_;
  std::unordered_map<store::DescriptorCode, store::DescriptorEntry> named_;
  std::vector<gpu::DescriptorId> in_ui_order_;
  std::vector<std::uint16_t> batch_;
  CellCollector cells_;
};

/// collector: has gathered every plane.
void write_cells(store::Atlas& work, const gpu::Cells& cells, const CellCollector& collector,
                 const Placement& placement);

void write_cell_articles(store::Atlas& work, const Placement& placement);

}  // namespace somatlas::pipeline
