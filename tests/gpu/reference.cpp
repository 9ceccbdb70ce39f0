// The contract's formulas, each as literally as it is written.
#include "tests/gpu/reference.h"

#include <algorithm>
#include <tuple>

namespace somatlas::gpu::testing {
namespace {

__extension__ using Wide = __int128;

}  // namespace

void reference_norms(ReferenceCodebook& codebook) {
  const std::size_t neurons = codebook.neurons();
  codebook.norm.assign(neurons, 0);
  codebook.square_sum.assign(neurons, 0);
  for (std::size_t i = 0; i < neurons; ++i) {
    Wide squares = 0;
    for (std::size_t v = 0; v < codebook.descriptors; ++v) {
      const Wide q = codebook.weights[v * neurons + i];
      squares += q * q;
    }
    codebook.square_sum[i] = static_cast<std::uint64_t>(squares);
    if (codebook.vacant[i] == 0) {
      codebook.norm[i] = static_cast<std::int32_t>((64 * squares + 8191) / 16383);
    }
  }
}

void reference_search(const ReferenceCodebook& codebook, std::vector<Row>& rows) {
  const std::size_t neurons = codebook.neurons();
  for (Row& row : rows) {
    std::vector<std::pair<Wide, Neuron>> order;
    for (std::size_t i = 0; i < neurons; ++i) {
      if (codebook.vacant[i] != 0) {
        continue;
      }
      Wide sum = 0;
      for (const DescriptorId v : row.descriptors) {
        sum += codebook.weights[v * neurons + i];
      }
      order.emplace_back(codebook.norm[i] - 128 * sum, static_cast<Neuron>(i));
    }
    const std::size_t best = std::min<std::size_t>(2, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(best),
                      order.end());
    row.bmu = order.empty() ? no_neuron : order[0].second;
    row.score = order.empty() ? INT32_MAX : static_cast<std::int32_t>(order[0].first);
    const bool wanted = (row.use & row_use::second) != 0;
    row.second = wanted && order.size() > 1 ? order[1].second : no_neuron;
  }
}

void reference_accumulate(ReferenceStatistics& statistics, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if ((row.use & row_use::trains) == 0 || row.bmu == no_neuron) {
      continue;
    }
    ++statistics.hits[row.bmu];
    for (const DescriptorId v : row.descriptors) {
      ++statistics.counts[{v, row.bmu}];
    }
  }
}

std::vector<std::uint64_t> reference_blur(std::vector<std::uint64_t> plane, std::uint32_t side,
                                          std::uint32_t radius) {
  const std::int64_t s = side;
  const std::int64_t r = radius;
  const auto cell = [s](std::int64_t y, std::int64_t x) {
    return static_cast<std::size_t>(y * s + x);
  };
  for (int pass = 0; pass < 3; ++pass) {
    std::vector<std::uint64_t> rows(plane.size());
    for (std::int64_t y = 0; y < s; ++y) {
      for (std::int64_t x = 0; x < s; ++x) {
        for (std::int64_t at = std::max<std::int64_t>(0, x - r); at <= std::min(s - 1, x + r);
             ++at) {
          rows[cell(y, x)] += plane[cell(y, at)];
        }
      }
    }
    std::fill(plane.begin(), plane.end(), 0);
    for (std::int64_t y = 0; y < s; ++y) {
      for (std::int64_t at = std::max<std::int64_t>(0, y - r); at <= std::min(s - 1, y + r); ++at) {
        for (std::int64_t x = 0; x < s; ++x) {
          plane[cell(y, x)] += rows[cell(at, x)];
        }
      }
    }
  }
  return plane;
}

std::uint16_t reference_weight(std::uint64_t count, std::uint64_t hits) {
  if (hits == 0) {
    return 0;
  }
  return static_cast<std::uint16_t>((2 * Wide{16383} * count + hits) / (2 * Wide{hits}));
}

ReferenceCodebook reference_update(const ReferenceStatistics& statistics, std::uint32_t side,
                                   std::uint32_t descriptors, std::uint32_t radius) {
  ReferenceCodebook codebook;
  codebook.side = side;
  codebook.descriptors = descriptors;
  const std::size_t neurons = codebook.neurons();
  std::vector<std::uint64_t> hits(neurons);
  for (const auto& [neuron, count] : statistics.hits) {
    hits[neuron] = count;
  }
  hits = reference_blur(std::move(hits), side, radius);
  codebook.vacant.resize(neurons);
  for (std::size_t i = 0; i < neurons; ++i) {
    codebook.vacant[i] = hits[i] == 0 ? 1 : 0;
  }
  std::map<DescriptorId, std::vector<std::uint64_t>> planes;
  for (const auto& [cell, count] : statistics.counts) {
    auto& plane = planes[cell.first];
    plane.resize(neurons);
    plane[cell.second] = count;
  }
  codebook.weights.assign(descriptors * neurons, 0);
  for (auto& [descriptor, plane] : planes) {
    const auto blurred = reference_blur(std::move(plane), side, radius);
    for (std::size_t i = 0; i < neurons; ++i) {
      codebook.weights[descriptor * neurons + i] = reference_weight(blurred[i], hits[i]);
    }
  }
  reference_norms(codebook);
  return codebook;
}

ReferenceCodebook random_codebook(std::uint32_t side, std::uint32_t descriptors, double filled,
                                  double vacant, std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  ReferenceCodebook codebook;
  codebook.side = side;
  codebook.descriptors = descriptors;
  const std::size_t neurons = codebook.neurons();
  codebook.vacant.resize(neurons);
  for (auto& flag : codebook.vacant) {
    flag = unit(random) < vacant ? 1 : 0;
  }
  codebook.weights.resize(descriptors * neurons);
  for (std::size_t v = 0; v < descriptors; ++v) {
    for (std::size_t i = 0; i < neurons; ++i) {
      if (codebook.vacant[i] == 0 && unit(random) < filled) {
        codebook.weights[v * neurons + i] = static_cast<std::uint16_t>(random() % 16384);
      }
    }
  }
  reference_norms(codebook);
  return codebook;
}

void expect_codebook(Backend& backend, const ReferenceCodebook& expected) {
  EXPECT_EQ(backend.shape().side, expected.side);
  EXPECT_EQ(backend.shape().descriptors, expected.descriptors);
  const auto planes = all_planes(backend);
  ASSERT_EQ(planes.size(), expected.weights.size());
  const auto [at, there] = std::mismatch(planes.begin(), planes.end(), expected.weights.begin());
  EXPECT_TRUE(at == planes.end())
      << "descriptor " << static_cast<std::size_t>(at - planes.begin()) / expected.neurons()
      << ", neuron " << static_cast<std::size_t>(at - planes.begin()) % expected.neurons() << ": "
      << *at << " instead of " << *there;
  const Cells cells = backend.read_cells();
  EXPECT_EQ(cells.vacant, expected.vacant);
  EXPECT_EQ(cells.norm, expected.norm);
  EXPECT_EQ(cells.square_sum, expected.square_sum);
}

void expect_hits(Backend& backend, const ReferenceStatistics& expected) {
  std::vector<std::uint32_t> hits(backend.shape().neurons());
  for (const auto& [neuron, count] : expected.hits) {
    hits[neuron] = count;
  }
  EXPECT_EQ(backend.read_cells().hits, hits);
}

void expect_places(const std::vector<Row>& actual, const std::vector<Row>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t r = 0; r < actual.size(); ++r) {
    ASSERT_EQ(std::tie(actual[r].bmu, actual[r].score, actual[r].second),
              std::tie(expected[r].bmu, expected[r].score, expected[r].second))
        << "row " << r << " of " << actual.size() << ", " << actual[r].descriptors.size()
        << " descriptors, use " << int{actual[r].use};
  }
}

}  // namespace somatlas::gpu::testing
