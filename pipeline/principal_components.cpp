// Subspace iteration on eight vectors that lie side by side: one row of a Block is one descriptor,
// so a pass over the sample reads one cache line a descriptor. Always holds: the vectors of a basis
// are orthonormal, or zero where the data has fewer directions than vectors.
#include "pipeline/principal_components.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace somatlas::pipeline {

namespace {

constexpr std::size_t width = 8;  // the two that are wanted, and six that speed them up
using Lanes = std::array<double, width>;
using Block = std::vector<Lanes>;
using Matrix = std::array<Lanes, width>;

constexpr double residual_limit = 1e-10;     // of the largest eigenvalue
constexpr double no_variance = 1e-12;        // of the total variance
constexpr double dependent = 1e-10;          // what is left of a vector that adds no direction
constexpr double largest_growth = 1e6;       // of a filter, so that no vector drowns in the first
constexpr unsigned largest_degree = 10;      // of a filter
constexpr unsigned most_applications = 400;  // of the covariance matrix

/// The covariance matrix of the rows, as a function. It knows the rows of every descriptor too: so
/// threads can share rows and then descriptors, and each sum is one thread's, in the order of rows.
class Covariance {
 public:
  Covariance(const SampleRows& rows, std::uint32_t descriptors)
      : rows_(rows),
        mean_(descriptors),
        first_(descriptors + std::size_t{1}),
        with_(rows.descriptors.size()),
        projections_(rows.pmid.size()) {
    for (const gpu::DescriptorId v : rows.descriptors) {
      ++first_[v + std::size_t{1}];
    }
    for (std::size_t v = 0; v < descriptors; ++v) {
      mean_[v] = static_cast<double>(first_[v + 1]) / static_cast<double>(rows.pmid.size());
      total_ += mean_[v] * (1 - mean_[v]);
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::size_t> next = first_;
    for (std::size_t r = 0; r < rows.pmid.size(); ++r) {
      for (std::uint64_t p = rows.offsets[r]; p < rows.offsets[r + 1]; ++p) {
        with_[next[rows.descriptors[p]]++] = static_cast<std::uint32_t>(r);
      }
    }
  }

  /// The trace: the sum of all eigenvalues.
  [[nodiscard]] double total() const { return total_; }

  /// out = covariance * in.
  void apply(const Block& in, Block& out) {
    Lanes centre{};
    for (std::size_t v = 0; v < mean_.size(); ++v) {
      for (std::size_t j = 0; j < width; ++j) {
        centre[j] += mean_[v] * in[v][j];
      }
    }
    const auto over = [](std::size_t count, const auto& body) {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 256), [&](const auto& range) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          body(i);
        }
      });
    };
    over(projections_.size(), [&](std::size_t r) {
      Lanes projection{};
      for (std::uint64_t p = rows_.offsets[r]; p < rows_.offsets[r + 1]; ++p) {
        add(projection, in[rows_.descriptors[p]]);
      }
      for (std::size_t j = 0; j < width; ++j) {
        projections_[r][j] = projection[j] - centre[j];
      }
    });
    Lanes sum{};
    for (const Lanes& projection : projections_) {
      add(sum, projection);
    }
    const auto articles = static_cast<double>(rows_.pmid.size());
    over(mean_.size(), [&](std::size_t v) {
      Lanes target{};
      for (std::size_t i = first_[v]; i < first_[v + 1]; ++i) {
        add(target, projections_[with_[i]]);
      }
      for (std::size_t j = 0; j < width; ++j) {
        out[v][j] = (target[j] - mean_[v] * sum[j]) / articles;
      }
    });
  }

 private:
  static void add(Lanes& to, const Lanes& lanes) {
    for (std::size_t j = 0; j < width; ++j) {
      to[j] += lanes[j];
    }
  }

  const SampleRows& rows_;
  std::vector<double> mean_;
  std::vector<std::size_t> first_;   // of a descriptor, in with_
  std::vector<std::uint32_t> with_;  // rows that have it, ascending
  Block projections_;
  double total_ = 0;
};

/// Numbers in [-1, 1) that depend on the position alone (the finalizer of SplitMix64).
double start_value(std::uint64_t position) {
  std::uint64_t x = (position + 1) * 0x9E37'79B9'7F4A'7C15;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-52 - 1.0;
}

double dot(const Block& a, std::size_t i, const Block& b, std::size_t j) {
  double sum = 0;
  for (std::size_t v = 0; v < a.size(); ++v) {
    sum += a[v][i] * b[v][j];
  }
  return sum;
}

/// Of one vector with all of the other block.
Lanes dots(const Block& a, std::size_t i, const Block& b) {
  Lanes sum{};
  for (std::size_t v = 0; v < a.size(); ++v) {
    for (std::size_t j = 0; j < width; ++j) {
      sum[j] += a[v][i] * b[v][j];
    }
  }
  return sum;
}

/// Gram-Schmidt, each vector twice; one that adds no direction becomes zero.
void orthonormalize(Block& block) {
  for (std::size_t j = 0; j < width; ++j) {
    const double before = std::sqrt(dot(block, j, block, j));
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t i = 0; i < j; ++i) {
        const double share = dot(block, i, block, j);
        for (Lanes& lanes : block) {
          lanes[j] -= share * lanes[i];
        }
      }
    }
    const double norm = std::sqrt(dot(block, j, block, j));
    const double scale = norm > dependent * before ? 1 / norm : 0;
    for (Lanes& lanes : block) {
      lanes[j] *= scale;
    }
  }
}

/// Eigenvalues, largest first, and eigenvectors (columns) of a symmetric matrix: cyclic Jacobi.
struct Eigen {
  Lanes value{};
  Matrix vector{};
};
Eigen eigen(Matrix a) {
  Matrix turned{};
  for (std::size_t i = 0; i < width; ++i) {
    turned[i][i] = 1;
  }
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (std::size_t p = 0; p < width; ++p) {
      for (std::size_t q = p + 1; q < width; ++q) {
        if (a[p][q] == 0) {
          continue;
        }
        const double ratio = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const double tangent =
            (ratio < 0 ? -1 : 1) / (std::abs(ratio) + std::sqrt(ratio * ratio + 1));
        const double cosine = 1 / std::sqrt(tangent * tangent + 1);
        const double sine = tangent * cosine;
        for (std::size_t i = 0; i < width; ++i) {
          const double x = a[i][p];
          const double y = a[i][q];
          a[i][p] = cosine * x - sine * y;
          a[i][q] = sine * x + cosine * y;
        }
        for (std::size_t i = 0; i < width; ++i) {
          const double x = a[p][i];
          const double y = a[q][i];
          a[p][i] = cosine * x - sine * y;
          a[q][i] = sine * x + cosine * y;
        }
        a[p][q] = a[q][p] = 0;
        for (std::size_t i = 0; i < width; ++i) {
          const double x = turned[i][p];
          const double y = turned[i][q];
          turned[i][p] = cosine * x - sine * y;
          turned[i][q] = sine * x + cosine * y;
        }
      }
    }
  }
  std::array<std::size_t, width> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&a](std::size_t i, std::size_t j) { return a[i][i] > a[j][j]; });
  Eigen result;
  for (std::size_t j = 0; j < width; ++j) {
    result.value[j] = a[order[j]][order[j]];
    for (std::size_t i = 0; i < width; ++i) {
      result.vector[i][j] = turned[i][order[j]];
    }
  }
  return result;
}

/// block = block * m.
void rotate(Block& block, const Matrix& m) {
  for (Lanes& lanes : block) {
    Lanes turned{};
    for (std::size_t i = 0; i < width; ++i) {
      for (std::size_t j = 0; j < width; ++j) {
        turned[j] += lanes[i] * m[i][j];
      }
    }
    lanes = turned;
  }
}

/// The basis of Ritz vectors, their images under the covariance matrix, and the Ritz values.
struct Ritz {
  Block basis;
  Block image;
  Lanes value{};
};

void rayleigh_ritz(Ritz& ritz) {
  Matrix projected{};
  for (std::size_t i = 0; i < width; ++i) {
    const Lanes row = dots(ritz.basis, i, ritz.image);
    for (std::size_t j = 0; j <= i; ++j) {
      projected[i][j] = projected[j][i] = row[j];
    }
  }
  const Eigen turned = eigen(projected);
  rotate(ritz.basis, turned.vector);
  rotate(ritz.image, turned.vector);
  ritz.value = turned.value;
}

/// Whether the two leading Ritz vectors are eigenvectors, as far as is asked.
bool converged(const Ritz& ritz) {
  for (std::size_t j = 0; j < 2; ++j) {
    double square = 0;
    for (std::size_t v = 0; v < ritz.basis.size(); ++v) {
      const double residual = ritz.image[v][j] - ritz.value[j] * ritz.basis[v][j];
      square += residual * residual;
    }
    if (std::sqrt(square) > residual_limit * ritz.value[0]) {
      return false;
    }
  }
  return true;
}

/// basis = T(2 covariance / cut - 1) * basis, T a Chebyshev polynomial: small on [0, cut], steep
/// above. Returns how often the covariance matrix was applied.
unsigned filter(Covariance& covariance, Ritz& ritz, double cut) {
  const auto step = [cut](Block& image, const Block& now, const Block* before) {
    const double factor = before != nullptr ? 2 : 1;
    for (std::size_t v = 0; v < image.size(); ++v) {
      for (std::size_t j = 0; j < width; ++j) {
        const double mapped = factor * (2 / cut * image[v][j] - now[v][j]);
        image[v][j] = before != nullptr ? mapped - (*before)[v][j] : mapped;
      }
    }
  };
  const double top = 2 * ritz.value[0] / cut - 1;
  double growth_before = 1;
  double growth = top;
  Block before = ritz.basis;
  Block now = ritz.image;
  step(now, before, nullptr);
  unsigned applications = 0;
  for (unsigned degree = 2; degree <= largest_degree; ++degree) {
    const double next = 2 * top * growth - growth_before;
    if (next > largest_growth) {
      break;
    }
    growth_before = growth;
    growth = next;
    covariance.apply(now, ritz.image);
    ++applications;
    step(ritz.image, now, &before);
    std::swap(before, now);
    std::swap(now, ritz.image);
  }
  ritz.basis = std::move(now);
  return applications;
}

}  // namespace

std::array<std::vector<double>, 2> principal_components(const SampleRows& rows,
                                                        std::uint32_t descriptors) {
  std::array<std::vector<double>, 2> components;
  components.fill(std::vector<double>(descriptors));
  Covariance covariance(rows, descriptors);
  const double none = no_variance * covariance.total();
  if (!(none > 0)) {
    return components;
  }
  Ritz ritz{Block(descriptors), Block(descriptors), {}};
  for (std::size_t v = 0; v < descriptors; ++v) {
    for (std::size_t j = 0; j < width; ++j) {
      ritz.basis[v][j] = start_value(v * width + j);
    }
  }
  for (unsigned applications = 0;;) {
    orthonormalize(ritz.basis);
    covariance.apply(ritz.basis, ritz.image);
    rayleigh_ritz(ritz);
    if (converged(ritz) || ++applications >= most_applications) {
      break;
    }
    const double cut = ritz.value[width - 1];
    if (cut > none) {
      applications += filter(covariance, ritz, cut);
    } else {
      std::swap(ritz.basis, ritz.image);  // a plain step: there is no range to damp
    }
  }
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t v = 0; v < descriptors && ritz.value[j] > none; ++v) {
      components[j][v] = ritz.basis[v][j];
    }
  }
  return components;
}

}  // namespace somatlas::pipeline
