// Finds articles on a finished atlas: places by exact search with the planes of the descriptors
// that occur, and no other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/atlas_meta.h"
#include "pipeline/quality.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

struct Place {
  std::uint32_t neuron = 0;
  std::uint32_t second = 0;  // gpu::no_neuron: none
  Distance distance = 0;
};

class AtlasMapper {
 public:
  explicit AtlasMapper(store::Atlas& atlas);

  /// Descriptors by name, exact; nothing where the atlas has none of that name.
  [[nodiscard]] std::optional<store::DescriptorCode> find_name(const std::string& name) const;
  [[nodiscard]] bool knows(store::DescriptorCode code) const;

  /// Places a batch: each article's distinct descriptors; the planes of all of them are read once.
  /// unnamed[i]: further descriptors of article i that have no code; they count in its k. Nothing
  /// for an article none of whose descriptors the atlas has.
  [[nodiscard]] std::vector<std::optional<Place>> place(
      std::span<const std::vector<store::DescriptorCode>> articles,
      std::span<const std::uint32_t> unnamed);

  /// The recorded place of an article that was in the store at training.
  [[nodiscard]] std::optional<Place> recorded(std::uint32_t pmid);

  /// The cell's leading descriptor's name; empty where it has none.
  [[nodiscard]] std::string label(std::uint32_t neuron) const;
  [[nodiscard]] const AtlasMeta& meta() const { return meta_; }

 private:
  store::Atlas& atlas_;
  AtlasMeta meta_;
  std::vector<store::AtlasDescriptor> descriptors_;  // UI order
  store::AtlasCells cells_;
};

}  // namespace somatlas::pipeline
