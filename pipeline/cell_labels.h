// What the cells of a finished map are called and how high their borders are: leading descriptors
// and the U-matrix, gathered plane by plane so that one pass over the codebook serves both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/descriptor_code.h"

namespace somatlas::pipeline {

/// How many articles the weights of each cell speak for, in sixteenths, at most 2^32 - 1: the hits
/// around it as the update weighs them, three box passes of half-width radius along each axis, over
/// the weight of the cell's own. hits: side * side, that the codebook was made from. Cells share
/// articles, so this counts an article of a neighbouring cell for less than one.
[[nodiscard]] std::vector<std::uint32_t> cell_evidence(std::span<const std::uint32_t> hits,
                                                       std::uint32_t side, std::uint32_t radius);

/// A descriptor as labels see it.
struct LabelDescriptor {
  store::DescriptorCode code = 0;
  std::uint64_t articles = 0;  // training articles with it; of none: it leads nowhere
  bool topic = true;           // others come after every topic
};

/// Leading descriptors of the cells: topics first, then the greater gain (pipeline/lift.h), ties by
/// UI; none that gains nothing.
struct CellLabels {
  std::vector<std::uint32_t> leading;  // 5 codes a neuron, store::no_descriptor where there is none
  std::vector<std::uint16_t> weight;   // as leading
};

/// What the U-matrix and the regions are made of.
struct CellBorders {
  /// Mean distance of a neuron's weights to those of its usable neighbours (up to 8), units of
  /// 2^-20, rounded half up; 0 where vacant or alone.
  std::vector<std::uint32_t> height;
  /// Distance to the neighbour on the right and to the one below; no_distance where there is none,
  /// or one of the two is vacant.
  std::vector<std::uint32_t> right;
  std::vector<std::uint32_t> down;
  static constexpr std::uint32_t no_distance = 0xFFFF'FFFF;
};

/// Gathers planes in any order; several threads may add rows of their own.
class CellCollector {
 public:
  /// evidence: cell_evidence(); articles: training articles.
  CellCollector(std::uint32_t side, std::span<const std::uint8_t> vacant,
                std::vector<std::uint32_t> evidence, std::uint64_t articles);
  /// Adds the cells of rows [begin, end). plane: M weights, row-major.
  void add_rows(const LabelDescriptor& descriptor, std::span<const std::uint16_t> plane,
                std::size_t begin, std::size_t end);

  [[nodiscard]] CellLabels labels() const;
  [[nodiscard]] CellBorders borders() const;

 private:
  struct Candidate {
    std::uint32_t rank;  // the gain, and rank_of_topics where it is a topic's
    store::DescriptorCode code;
    std::uint16_t weight;
  };
  void offer(std::size_t neuron, const Candidate& candidate);
  void offer_row(const LabelDescriptor& descriptor, std::span<const std::uint16_t> plane,
                 std::size_t begin, std::size_t end);

  void add_differences(std::span<const std::uint16_t> plane, std::size_t begin, std::size_t end);

  std::uint32_t side_;
  std::uint64_t articles_;
  std::vector<std::uint8_t> vacant_;
  std::vector<std::uint32_t> evidence_;
  std::vector<Candidate> leading_;   // 5 a neuron
  std::vector<std::uint32_t> last_;  // the rank of the fifth
  // To the neighbours right, down-left, down, down-right: M values each.
  std::vector<std::uint64_t> square_difference_;
};

}  // namespace somatlas::pipeline
