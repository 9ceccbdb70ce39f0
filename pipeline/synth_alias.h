// Draws an index with given weights in constant time: Walker's alias table, in integers, so that
// the same weights give the same draws everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/synth_stream.h"

namespace somatlas::pipeline {

class AliasTable {
 public:
  AliasTable() = default;
  /// At least one weight; their sum times their number stays below 2^64.
  /// Method: Vose, "A linear algorithm for generating random numbers with a given distribution",
  /// 1991; a share is off by at most 2^-32 of a cell.
  explicit AliasTable(std::span<const std::uint64_t> weights) : cells_(weights.size()) {
    std::uint64_t total = 0;
    for (const std::uint64_t weight : weights) {
      total += weight;
    }
    std::vector<std::uint64_t> scaled(weights.size());
    std::vector<std::uint32_t> small;
    std::vector<std::uint32_t> large;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      scaled[i] = weights[i] * weights.size();
      (scaled[i] < total ? small : large).push_back(static_cast<std::uint32_t>(i));
    }
    while (!small.empty() && !large.empty()) {
      const std::uint32_t less = small.back();
      const std::uint32_t more = large.back();
      small.pop_back();
      cells_[less] = {static_cast<std::uint32_t>((Wide{scaled[less]} << 32) / total), more};
      scaled[more] -= total - scaled[less];
      if (scaled[more] < total) {
        large.pop_back();
        small.push_back(more);
      }
    }
    for (const auto* rest : {&small, &large}) {
      for (const std::uint32_t i : *rest) {
        cells_[i] = {0, i};  // a full cell: its alias is itself
      }
    }
  }

  [[nodiscard]] std::uint32_t draw(SynthStream& stream) const {
    const Wide product = Wide{stream.next()} * cells_.size();
    const auto i = static_cast<std::uint32_t>(product >> 64);
    const auto fraction = static_cast<std::uint32_t>(static_cast<std::uint64_t>(product) >> 32);
    return fraction < cells_[i].threshold ? i : cells_[i].alias;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  struct Cell {
    std::uint32_t threshold;  // of 2^32: below it the cell itself
    std::uint32_t alias;
  };
  std::vector<Cell> cells_;
};

}  // namespace somatlas::pipeline
