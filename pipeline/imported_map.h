// What another program left of a map that it trained: the weights, or the places of the articles.
// An atlas is made of either without an epoch of its own. Always holds: neurons are row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/descriptor_code.h"

namespace somatlas::pipeline {

/// Weights: those of codes[i] are planes[i], a value from 0 to 16383 a neuron. A neuron whose
/// weights are all 0 is vacant.
struct Codebook {
  std::uint32_t side = 0;
  std::vector<store::DescriptorCode> codes;  // distinct
  std::vector<std::vector<std::uint16_t>> planes;

  [[nodiscard]] std::size_t bytes() const {
    return planes.size() * side * side * sizeof(std::uint16_t);
  }
};

/// Places: that of the article of pmid[i] is neuron[i].
struct BestMatches {
  std::uint32_t side = 0;
  std::vector<std::uint32_t> pmid;  // ascending
  std::vector<std::uint32_t> neuron;

  [[nodiscard]] std::size_t bytes() const { return 2 * pmid.size() * sizeof(std::uint32_t); }
};

/// One of the two.
struct ImportedMap {
  const Codebook* codebook = nullptr;
  const BestMatches* matches = nullptr;
  std::vector<std::uint32_t> heights;  // in place of the U-matrix, units of 2^-20; empty: none

  explicit operator bool() const { return codebook != nullptr || matches != nullptr; }
  [[nodiscard]] std::uint32_t side() const {
    return codebook != nullptr ? codebook->side : matches->side;
  }
  [[nodiscard]] std::size_t bytes() const {
    return codebook != nullptr ? codebook->bytes() : matches->bytes();
  }
};

}  // namespace somatlas::pipeline
