// Brute force written from the numerical contract alone: maps, literal window sums and 128-bit
// integers. Always holds: it shares no line with the backends.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tests/gpu/backends.h"

namespace somatlas::gpu::testing {

/// A codebook as the contract has it.
struct ReferenceCodebook {
  std::uint32_t side = 0;
  std::uint32_t descriptors = 0;
  std::vector<std::uint16_t> weights;  // [V][M], row-major neurons
  std::vector<std::uint8_t> vacant;    // [M]
  std::vector<std::int32_t> norm;      // [M]; 0 where vacant
  std::vector<std::uint64_t> square_sum;

  [[nodiscard]] std::size_t neurons() const { return std::size_t{side} * side; }
};

struct ReferenceStatistics {
  std::map<Neuron, std::uint32_t> hits;
  std::map<std::pair<DescriptorId, Neuron>, std::uint32_t> counts;
};

/// Fills norm and square_sum from the weights.
void reference_norms(ReferenceCodebook& codebook);
/// Sets bmu, score and second of every row.
void reference_search(const ReferenceCodebook& codebook, std::vector<Row>& rows);
/// Adds the rows that train.
void reference_accumulate(ReferenceStatistics& statistics, const std::vector<Row>& rows);
[[nodiscard]] ReferenceCodebook reference_update(const ReferenceStatistics& statistics,
                                                 std::uint32_t side, std::uint32_t descriptors,
                                                 std::uint32_t radius);
/// Literal sums over clipped windows, three times along each axis.
[[nodiscard]] std::vector<std::uint64_t> reference_blur(std::vector<std::uint64_t> plane,
                                                        std::uint32_t side, std::uint32_t radius);
/// round-half-up(16383 * count / hits) by 128-bit division; 0 where hits is 0.
[[nodiscard]] std::uint16_t reference_weight(std::uint64_t count, std::uint64_t hits);

/// A random codebook whose norms fit: a share of its weights is not zero, neurons may be vacant.
[[nodiscard]] ReferenceCodebook random_codebook(std::uint32_t side, std::uint32_t descriptors,
                                                double filled, double vacant,
                                                std::mt19937_64& random);

/// Compares a backend's codebook, norms, vacancy and hits with the reference's.
void expect_codebook(Backend& backend, const ReferenceCodebook& expected);
void expect_hits(Backend& backend, const ReferenceStatistics& expected);
/// Compares what a search left in the rows.
void expect_places(const std::vector<Row>& actual, const std::vector<Row>& expected);

}  // namespace somatlas::gpu::testing
