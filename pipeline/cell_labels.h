// What the cells of a finished map are called and how high their borders are: leading descriptors
// and the U-matrix, gathered plane by plane so that one pass over the codebook serves both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/descriptor_code.h"

namespace somatlas::pipeline {

/// Gathers planes in any order; several threads may add rows of their own.
/// Leading descriptors of a cell are those whose weight most exceeds the descriptor's share of all
/// training articles, q - round(16383 * articles / all), ties by UI, only positive ones.
class CellCollector {
 public:
  CellCollector(std::uint32_t side, std::span<const std::uint8_t> vacant);
  /// Adds the cells of rows [begin, end). plane: M weights, row-major; share: round(16383 *
  /// articles / all).
  void add_rows(store::DescriptorCode code, std::uint32_t share,
                std::span<const std::uint16_t> plane, std::size_t begin, std::size_t end);

  /// 5 codes a neuron, best first; 0xFFFFFFFF where there is none.
  [[nodiscard]] std::vector<std::uint32_t> leading() const;
  /// Mean distance of a neuron's weights to those of its usable neighbours (up to 8), units of
  /// 2^-20, rounded half up; 0 where vacant or alone.
  [[nodiscard]] std::vector<std::uint32_t> heights() const;

 private:
  struct Candidate {
    std::int32_t excess;
    store::DescriptorCode code;
  };
  void offer(std::size_t neuron, Candidate candidate);

  std::uint32_t side_;
  std::vector<std::uint8_t> vacant_;
  std::vector<Candidate> leading_;  // 5 a neuron
  // To the neighbours right, down-left, down, down-right: M values each.
  std::vector<std::uint64_t> square_difference_;
};

}  // namespace somatlas::pipeline
