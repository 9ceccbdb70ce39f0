// The two leading principal components of sparse binary rows. Always holds: a fixed start, a fixed
// order of every sum and only correctly rounded operations, so the same rows give the same bits on
// every machine and with any number of threads; the rows are never made dense.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pipeline/pca_start.h"

namespace somatlas::pipeline {

/// Loadings of the components, largest variance first, `descriptors` values each, of unit length;
/// all zero where no variance is left. Eigenvectors of the covariance matrix by subspace iteration
/// with Rayleigh-Ritz steps (Rutishauser 1970), sped up by Chebyshev filters (Zhou and Saad 2007),
/// until the residuals are below 1e-10 of the largest eigenvalue.
[[nodiscard]] std::array<std::vector<double>, 2> principal_components(const SampleRows& rows,
                                                                      std::uint32_t descriptors);

}  // namespace somatlas::pipeline
