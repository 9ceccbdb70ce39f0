// The PCA start against dense arithmetic: components against Jacobi's method on the whole
// covariance matrix, neurons against ranks by sorting, and the degenerate samples.
#include "pipeline/pca_start.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

using Row = std::vector<gpu::DescriptorId>;
using Dense = std::vector<std::vector<double>>;

SampleRows make_sample(const std::vector<Row>& rows, std::uint32_t first_pmid = 1000,
                       std::uint32_t step = 3) {
  SampleRows sample;
  sample.offsets.push_back(0);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    sample.pmid.push_back(first_pmid + step * static_cast<std::uint32_t>(r));
    sample.descriptors.insert(sample.descriptors.end(), rows[r].begin(), rows[r].end());
    sample.offsets.push_back(sample.descriptors.size());
  }
  return sample;
}

Dense covariance_of(const std::vector<Row>& rows, std::size_t descriptors) {
  Dense x(rows.size(), std::vector<double>(descriptors));
  std::vector<double> mean(descriptors);
  const auto n = static_cast<double>(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (const gpu::DescriptorId v : rows[r]) {
      x[r][v] = 1;
      mean[v] += 1 / n;
    }
  }
  Dense covariance(descriptors, std::vector<double>(descriptors));
  for (std::size_t a = 0; a < descriptors; ++a) {
    for (std::size_t b = 0; b < descriptors; ++b) {
      for (const std::vector<double>& row : x) {
        covariance[a][b] += (row[a] - mean[a]) * (row[b] - mean[b]) / n;
      }
    }
  }
  return covariance;
}

/// Eigenvalues and eigenvectors, largest first, by the classical Jacobi method: the largest
/// off-diagonal element is turned away until all are nothing.
std::vector<std::pair<double, std::vector<double>>> eigen_by_jacobi(Dense a) {
  const std::size_t n = a.size();
  Dense turned(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    turned[i][i] = 1;
  }
  for (int turn = 0; turn < 20'000; ++turn) {
    std::size_t p = 0;
    std::size_t q = 0;
    double largest = 1e-15;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) {
        if (std::abs(a[i][j]) > largest) {
          largest = std::abs(a[i][j]);
          p = i;
          q = j;
        }
      }
    }
    if (p == q) {
      break;
    }
    const double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]);
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    for (std::size_t i = 0; i < n; ++i) {
      std::tie(a[i][p], a[i][q]) = std::pair(c * a[i][p] - s * a[i][q], s * a[i][p] + c * a[i][q]);
      std::tie(turned[i][p], turned[i][q]) =
          std::pair(c * turned[i][p] - s * turned[i][q], s * turned[i][p] + c * turned[i][q]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      std::tie(a[p][i], a[q][i]) = std::pair(c * a[p][i] - s * a[q][i], s * a[p][i] + c * a[q][i]);
    }
  }
  std::vector<std::pair<double, std::vector<double>>> result;
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<double> vector(n);
    for (std::size_t i = 0; i < n; ++i) {
      vector[i] = turned[i][j];
    }
    result.emplace_back(a[j][j], vector);
  }
  std::sort(result.begin(), result.end(),
            [](const auto& x, const auto& y) { return x.first > y.first; });
  return result;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::vector<Row> random_rows(std::mt19937_64& random, std::size_t articles,
                             std::uint32_t descriptors) {
  std::vector<Row> rows(articles);
  for (Row& row : rows) {
    // Frequencies fall; half the articles follow one of two topics, so that components stand out.
    const std::uint64_t topic = random() % 4;
    for (std::uint32_t v = 0; v < descriptors; ++v) {
      const double chance = 0.7 / (1 + 0.2 * v) + (v % 4 == topic ? 0.3 : 0.0);
      if (std::uniform_real_distribution<double>(0, 1)(random) < chance) {
        row.push_back(v);
      }
    }
  }
  return rows;
}

/// The rule written out: rank by (projection, pmid) among the sample, scaled to the side.
gpu::Neuron neuron_by_sorting(const PcaStart& start, const std::vector<Row>& rows,
                              const SampleRows& sample, std::uint32_t side, const Row& row,
                              std::uint32_t pmid) {
  std::array<std::uint64_t, 2> cell{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    // Backwards, to show that the order of descriptors does not matter.
    const auto project = [&](const Row& of) {
      double sum = 0;
      for (auto v = of.rbegin(); v != of.rend(); ++v) {
        sum += start.components()[axis][*v];
      }
      return sum;
    };
    std::uint64_t rank = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rank += std::pair(project(rows[r]), sample.pmid[r]) < std::pair(project(row), pmid) ? 1 : 0;
    }
    cell[axis] = std::min<std::uint64_t>(side - 1, rank * side / rows.size());
  }
  return static_cast<gpu::Neuron>(cell[0] * side + cell[1]);
}

TEST(PcaStart, ComponentsEqualThoseOfTheDenseMatrix) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 60; ++trial) {
    const auto descriptors = static_cast<std::uint32_t>(2 + random() % 40);
    const std::vector<Row> rows = random_rows(random, 2 + random() % 150, descriptors);
    const Dense covariance = covariance_of(rows, descriptors);
    const auto expected = eigen_by_jacobi(covariance);
    const double total = std::accumulate(expected.begin(), expected.end(), 0.0,
                                         [](double t, const auto& e) { return t + e.first; });
    const PcaStart start(make_sample(rows), descriptors, 16);
    for (std::size_t c = 0; c < 2; ++c) {
      const std::vector<double>& component = start.components()[c];
      ASSERT_EQ(component.size(), descriptors);
      if (expected[c].first < 1e-10 * total || total < 1e-10) {
        EXPECT_EQ(component, std::vector<double>(descriptors, 0.0)) << "trial " << trial;
        continue;
      }
      // An eigenvector of that eigenvalue: this holds where eigenvalues are equal too.
      EXPECT_NEAR(dot(component, component), 1, 1e-9);
      for (std::size_t a = 0; a < descriptors; ++a) {
        ASSERT_NEAR(dot(covariance[a], component), expected[c].first * component[a], 1e-9)
            << "trial " << trial << ", component " << c << ", descriptor " << a;
      }
      // The vector itself where it is the only one.
      const double gap = std::min(
          c == 0 ? 1 : expected[c - 1].first - expected[c].first,
          c + 1 < descriptors ? expected[c].first - expected[c + 1].first : expected[c].first);
      if (gap > 1e-3) {
        EXPECT_NEAR(std::abs(dot(component, expected[c].second)), 1, 1e-10) << "trial " << trial;
      }
    }
    EXPECT_NEAR(dot(start.components()[0], start.components()[1]), 0, 1e-9);
  }
}

TEST(PcaStart, TheLargestLoadingIsPositive) {
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 40; ++trial) {
    const auto descriptors = static_cast<std::uint32_t>(1 + random() % 30);
    const PcaStart start(make_sample(random_rows(random, 50, descriptors)), descriptors, 4);
    for (const std::vector<double>& component : start.components()) {
      const auto largest = std::max_element(
          component.begin(), component.end(),
          [](double a, double b) { return std::abs(a) < std::abs(b); });  // the first of equals
      EXPECT_GE(*largest, 0) << "trial " << trial;
    }
  }
}

TEST(PcaStart, NeuronsAreThoseOfTheRanks) {
  std::mt19937_64 random(test_seed());
  for (const std::uint32_t side : {1U, 2U, 3U, 16U, 33U, 500U}) {
    for (int trial = 0; trial < 5; ++trial) {
      const auto descriptors = static_cast<std::uint32_t>(1 + random() % 20);
      const std::vector<Row> rows = random_rows(random, 1 + random() % 120, descriptors);
      const SampleRows sample = make_sample(rows);
      const PcaStart start(sample, descriptors, side);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        Row shuffled = rows[r];
        std::shuffle(shuffled.begin(), shuffled.end(), random);
        ASSERT_EQ(start.neuron(shuffled, sample.pmid[r]),
                  neuron_by_sorting(start, rows, sample, side, rows[r], sample.pmid[r]));
      }
      for (const Row& row : random_rows(random, 50, descriptors)) {
        // Articles outside the sample, many with the projection of one inside.
        const auto pmid = static_cast<std::uint32_t>(999 + random() % 400);
        ASSERT_EQ(start.neuron(row, pmid), neuron_by_sorting(start, rows, sample, side, row, pmid));
      }
    }
  }
}

TEST(PcaStart, ASampledArticleHasExactlyItsRank) {
  std::mt19937_64 random(test_seed());
  const std::vector<Row> rows = random_rows(random, 700, 25);
  const SampleRows sample = make_sample(rows);
  const PcaStart start(sample, 25, 700);  // a side of the sample's size: a cell a rank
  std::vector<int> row_taken(700);
  std::vector<int> column_taken(700);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const gpu::Neuron neuron = start.neuron(rows[r], sample.pmid[r]);
    ++row_taken[neuron / 700];
    ++column_taken[neuron % 700];
  }
  EXPECT_EQ(row_taken, std::vector<int>(700, 1));
  EXPECT_EQ(column_taken, std::vector<int>(700, 1));
}

// Two factors in every combination: eight descriptors that go together, and four; the rest of the
// variance is one descriptor. The components are the factors, so the map's corners are known.
TEST(PcaStart, FindsTheFactorsOfABuiltSample) {
  std::vector<Row> rows;
  for (int copy = 0; copy < 10; ++copy) {
    for (int combination = 0; combination < 8; ++combination) {
      Row row{12};  // a descriptor that all have
      for (gpu::DescriptorId v = 0; v < 13; ++v) {
        const int factor = v < 4 ? 1 : v < 12 ? 2 : 4;
        if (v != 12 && (combination & factor) != 0) {
          row.push_back(v);
        }
      }
      if ((combination & 4) != 0) {
        row.push_back(13);
      }
      rows.push_back(row);
    }
  }
  const PcaStart start(make_sample(rows), 14, 2);
  for (std::size_t v = 0; v < 14; ++v) {
    EXPECT_NEAR(start.components()[0][v], v >= 4 && v < 12 ? std::sqrt(1.0 / 8) : 0, 1e-9) << v;
    EXPECT_NEAR(start.components()[1][v], v < 4 ? 0.5 : 0, 1e-9) << v;
  }
  EXPECT_EQ(start.neuron(Row{12}, 1), 0U);
  EXPECT_EQ(start.neuron(Row{0, 1, 2, 3}, 1), 1U);
  EXPECT_EQ(start.neuron(Row{4, 5, 6, 7, 8, 9, 10, 11}, 1), 2U);
  EXPECT_EQ(start.neuron(Row{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 1), 3U);
}

TEST(PcaStart, WithNoVarianceRanksAreThoseOfThePmids) {
  for (const Row& same : {Row{0, 1, 2}, Row{2}, Row{}}) {
    const std::vector<Row> rows(10, same);
    const SampleRows sample = make_sample(rows);
    const PcaStart start(sample, 3, 10);
    EXPECT_EQ(start.components()[0], std::vector<double>(3, 0.0));
    EXPECT_EQ(start.components()[1], std::vector<double>(3, 0.0));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      EXPECT_EQ(start.neuron(rows[r], sample.pmid[r]), r * 10 + r);
    }
    EXPECT_EQ(start.neuron(Row{0}, 1), 0U);
    EXPECT_EQ(start.neuron(Row{0}, 1001), 11U);
    EXPECT_EQ(start.neuron(Row{0}, 999'999), 99U);  // rank 10 of 10: the last cell
  }
}

TEST(PcaStart, OneDirectionLeavesTheSecondComponentEmpty) {
  const std::vector<Row> rows{{0}, {1}, {0}, {1}, {0}, {1}};
  const PcaStart start(make_sample(rows), 2, 2);
  EXPECT_NEAR(start.components()[0][0], std::sqrt(0.5), 1e-9);
  EXPECT_NEAR(start.components()[0][1], -std::sqrt(0.5), 1e-9);
  EXPECT_EQ(start.components()[1], std::vector<double>(2, 0.0));
}

TEST(PcaStart, TakesTheSmallestSamples) {
  EXPECT_EQ(PcaStart(make_sample({{0, 1}}), 2, 16).neuron(Row{0, 1}, 1000), 0U);
  EXPECT_EQ(PcaStart(make_sample({{0, 1}}), 2, 16).neuron(Row{0, 1}, 1001), 16U * 16 - 1);
  EXPECT_EQ(PcaStart(make_sample({{0}}), 1, 1).neuron(Row{0}, 5), 0U);
  const std::vector<Row> one_descriptor{{0}, {}, {0}, {}};
  const PcaStart start(make_sample(one_descriptor), 1, 2);
  EXPECT_EQ(start.components()[0], std::vector<double>{1.0});
  EXPECT_EQ(start.components()[1], std::vector<double>{0.0});
  EXPECT_EQ(start.neuron(Row{0}, 1000), 2U);
  EXPECT_THROW(PcaStart(make_sample({}), 3, 4), std::invalid_argument);
  EXPECT_THROW(PcaStart(make_sample({{0}}), 3, 0), std::invalid_argument);
}

TEST(PcaStart, ConvergesOnAFlatSpectrum) {
  // Each article has one of 200 descriptors, some a little more often: eigenvalues lie side by
  // side, the hardest case of the iteration.
  std::vector<Row> rows;
  for (gpu::DescriptorId v = 0; v < 200; ++v) {
    for (int copy = 0; copy < (v == 7 ? 43 : v == 90 ? 42 : v % 2 == 0 ? 41 : 40); ++copy) {
      rows.push_back({v});
    }
  }
  std::vector<double> share(200);
  for (const Row& row : rows) {
    share[row[0]] += 1 / static_cast<double>(rows.size());
  }
  const PcaStart start(make_sample(rows), 200, 8);
  for (const std::vector<double>& component : start.components()) {
    // The covariance matrix is diag(share) - share * share'.
    std::vector<double> image(200);
    for (std::size_t a = 0; a < 200; ++a) {
      image[a] = share[a] * (component[a] - dot(share, component));
    }
    const double value = dot(image, component);
    for (std::size_t a = 0; a < 200; ++a) {
      ASSERT_NEAR(image[a], value * component[a], 1e-9 * value);
    }
  }
  EXPECT_GT(start.components()[0][7], 0.8);
  EXPECT_GT(start.components()[1][90], 0.8);
}

}  // namespace
}  // namespace somatlas::pipeline
