// From components to neurons: ranks within the sample. Always holds: loadings are multiples of
// 2^-40, so a projection is an exact sum, whatever the order of an article's descriptors, and a
// sampled article finds exactly its own mark.
#include "pipeline/pca_start.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "pipeline/principal_components.h"

namespace somatlas::pipeline {

namespace {

double project(const std::vector<double>& component, std::span<const gpu::DescriptorId> row) {
  double sum = 0;
  for (const gpu::DescriptorId v : row) {
    sum += component[v];
  }
  return sum;
}

/// Rounds the loadings and makes the largest of them (the first of equal ones) positive.
void settle(std::vector<double>& component) {
  double largest = 0;
  for (double& loading : component) {
    loading = std::round(loading * 0x1p40) * 0x1p-40;
    largest = std::abs(loading) > std::abs(largest) ? loading : largest;
  }
  if (largest < 0) {
    for (double& loading : component) {
      loading = -loading;
    }
  }
}

}  // namespace

PcaStart::PcaStart(const SampleRows& sample, std::uint32_t descriptors, std::uint32_t side)
    : side_(side) {
  if (sample.pmid.empty() || side == 0) {
    throw std::invalid_argument("a PCA start needs at least one article and a side of at least 1");
  }
  components_ = principal_components(sample, descriptors);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    settle(components_[axis]);
    marks_[axis].reserve(sample.pmid.size());
    for (std::size_t r = 0; r < sample.pmid.size(); ++r) {
      const std::span<const gpu::DescriptorId> row(
          sample.descriptors.data() + sample.offsets[r],
          static_cast<std::size_t>(sample.offsets[r + 1] - sample.offsets[r]));
      marks_[axis].push_back({project(components_[axis], row), sample.pmid[r]});
    }
    std::sort(marks_[axis].begin(), marks_[axis].end(), [](const Mark& a, const Mark& b) {
      return std::tie(a.projection, a.pmid) < std::tie(b.projection, b.pmid);
    });
  }
}

gpu::Neuron PcaStart::neuron(std::span<const gpu::DescriptorId> row, std::uint32_t pmid) const {
  std::array<std::uint32_t, 2> cell{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::vector<Mark>& marks = marks_[axis];
    const Mark own{project(components_[axis], row), pmid};
    const auto place =
        std::lower_bound(marks.begin(), marks.end(), own, [](const Mark& a, const Mark& b) {
          return std::tie(a.projection, a.pmid) < std::tie(b.projection, b.pmid);
        });
    const auto rank = static_cast<std::uint64_t>(place - marks.begin());
    cell[axis] =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(side_ - 1, rank * side_ / marks.size()));
  }
  return cell[0] * side_ + cell[1];
}

}  // namespace somatlas::pipeline
