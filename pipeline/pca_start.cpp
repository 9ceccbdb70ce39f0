// From components to neurons: ranks within the sample. Always holds: loadings are multiples of
// 2^-40, so a projection is an exact sum, whatever the order of an article's descriptors, and a
// sampled article finds exactly its own mark.
#include "pipeline/pca_start.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

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
  tbb::parallel_for(std::size_t{0}, components_.size(), [&](std::size_t axis) {
    settle(components_[axis]);
    ends_[axis] = ends_of_cells(sample, axis);
  });
}

// An article is of cell c or behind it where its rank, which is the number of marks before it, is
// at least ceil(c * marks / side): where the mark of the rank before that lies before it.
std::vector<PcaStart::Mark> PcaStart::ends_of_cells(const SampleRows& sample,
                                                    std::size_t axis) const {
  const std::size_t count = sample.pmid.size();
  std::vector<Mark> marks;
  marks.reserve(count);
  for (std::size_t r = 0; r < count; ++r) {
    const std::span<const gpu::DescriptorId> row(
        sample.descriptors.data() + sample.offsets[r],
        static_cast<std::size_t>(sample.offsets[r + 1] - sample.offsets[r]));
    marks.push_back({project(components_[axis], row), sample.pmid[r]});
  }
  std::sort(marks.begin(), marks.end(), is_before);
  std::vector<Mark> ends;
  ends.reserve(side_ - 1);
  for (std::size_t cell = 1; cell < side_; ++cell) {
    ends.push_back(marks[(cell * count + side_ - 1) / side_ - 1]);
  }
  return ends;
}

gpu::Neuron PcaStart::neuron(std::span<const gpu::DescriptorId> row, std::uint32_t pmid) const {
  std::array<std::uint32_t, 2> cell{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::vector<Mark>& ends = ends_[axis];
    const Mark own{project(components_[axis], row), pmid};
    cell[axis] = static_cast<std::uint32_t>(
        std::lower_bound(ends.begin(), ends.end(), own, is_before) - ends.begin());
  }
  return cell[0] * side_ + cell[1];
}

}  // namespace somatlas::pipeline
