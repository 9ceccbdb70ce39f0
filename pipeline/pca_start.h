// The PCA start of section 2: two principal components of the centred rows of a fixed sample, in
// double, in a fixed order, so that every machine and any number of threads find the same start.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/tile.h"

namespace somatlas::pipeline {

/// Sampled articles: the sample_size training articles of lowest hash (ties by PMID), in PMID
/// order.
inline constexpr std::size_t pca_sample_size = 100'000;

struct SampleRows {
  std::vector<std::uint32_t> pmid;             // ascending
  std::vector<std::uint64_t> offsets;          // pmid.size() + 1
  std::vector<gpu::DescriptorId> descriptors;  // dense ids
};

class PcaStart {
 public:
  /// side of the map; descriptors: V. Throws std::invalid_argument for an empty sample or side 0.
  PcaStart(const SampleRows& sample, std::uint32_t descriptors, std::uint32_t side);

  /// The neuron of any article: row from the first component, column from the second, each by the
  /// article's rank among the sample's projections (ties by PMID), rank * side / sample size.
  [[nodiscard]] gpu::Neuron neuron(std::span<const gpu::DescriptorId> row,
                                   std::uint32_t pmid) const;

  /// Loadings of the two components, V each, of unit length, the largest in magnitude positive
  /// (the lowest descriptor of equal ones); multiples of 2^-40. All zero where the sample has no
  /// variance left: then ranks are those of the PMIDs.
  [[nodiscard]] const std::array<std::vector<double>, 2>& components() const { return components_; }

 private:
  struct Mark {  // a sampled article on one axis
    double projection;
    std::uint32_t pmid;
  };
  [[nodiscard]] static bool is_before(const Mark& a, const Mark& b) {
    return a.projection != b.projection ? a.projection < b.projection : a.pmid < b.pmid;
  }
  /// The last mark of every cell of an axis but the last cell.
  [[nodiscard]] std::vector<Mark> ends_of_cells(const SampleRows& sample, std::size_t axis) const;

  std::uint32_t side_;
  std::array<std::vector<double>, 2> components_;
  std::array<std::vector<Mark>, 2> ends_;
};

}  // namespace somatlas::pipeline
