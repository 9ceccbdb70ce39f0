// Finds articles on a finished atlas: places by exact search with the planes of the descriptors
// that occur, and no other. Always holds: a place is the one training would give the article under
// the final codebook, bit for bit; memory is bounded however large the batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/atlas_meta.h"
#include "pipeline/plane_cache.h"
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
  /// memory_bytes bounds the planes that are kept, but for those of one article. Throws
  /// store::StoreError where the atlas is not complete or its parts do not fit.
  explicit AtlasMapper(store::Atlas& atlas, std::size_t memory_bytes = std::size_t{1} << 30);

  AtlasMapper(const AtlasMapper&) = delete;
  AtlasMapper& operator=(const AtlasMapper&) = delete;

  /// In UI order.
  [[nodiscard]] std::span<const store::AtlasDescriptor> descriptors() const { return descriptors_; }
  /// Of the atlas, read now.
  [[nodiscard]] std::vector<store::EntryWords> entry_words() const { return atlas_.entry_words(); }
  [[nodiscard]] bool knows(store::DescriptorCode code) const;

  /// Places a batch, given each article's distinct descriptors. Codes that the atlas lacks count in
  /// k, as do the unnamed[i] further descriptors of article i that have no code. Nothing for an
  /// article none of whose descriptors the atlas has. Planes are kept from call to call. Throws
  /// std::invalid_argument for an article with more than 1,023 descriptors (it is the caller's to
  /// leave out, by name), or where the sizes differ; store::StoreError where a plane cannot be
  /// read.
  [[nodiscard]] std::vector<std::optional<Place>> place(
      std::span<const std::vector<store::DescriptorCode>> articles,
      std::span<const std::uint32_t> unnamed);

  /// The recorded place of an article that was in the store at training; nothing where it was not,
  /// or has no place. Quick for ascending PMIDs: the last range is kept.
  [[nodiscard]] std::optional<Place> recorded(std::uint32_t pmid);

  /// The name of the region that the cell lies in.
  [[nodiscard]] const std::string& label(std::uint32_t neuron) const;
  /// The cell's leading descriptor's name, its UI where it has no name; empty where no descriptor
  /// leads.
  [[nodiscard]] std::string leading(std::uint32_t neuron) const;
  [[nodiscard]] const AtlasMeta& meta() const { return meta_; }
  /// Of the atlas.
  [[nodiscard]] const std::string& directory() const { return atlas_.directory(); }

 private:
  using Codes = std::vector<store::DescriptorCode>;
  [[nodiscard]] const store::AtlasDescriptor* find(store::DescriptorCode code) const;
  struct Group;
  void place_group(Group& group, std::span<std::optional<Place>> places);

  store::Atlas& atlas_;
  AtlasMeta meta_;
  std::vector<store::AtlasDescriptor> descriptors_;  // UI order
  store::AtlasCells cells_;
  std::optional<PlaneCache> planes_;
  std::optional<store::PlaceShard> recorded_;  // the range asked for last
};

}  // namespace somatlas::pipeline
