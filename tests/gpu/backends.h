// One test body for every backend: makes a backend by kind, skips with the reason where it cannot
// be had, and drives it the way training does. Always holds: nothing here knows a backend's inside.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "gpu/backend.h"
#include "gpu/tile.h"

namespace somatlas::gpu::testing {

enum class BackendKind : std::uint8_t { cpu_one_thread, cpu_two_threads, cuda };
[[nodiscard]] std::string kind_name(BackendKind kind);
inline void PrintTo(BackendKind kind, std::ostream* out) {
  *out << kind_name(kind);
}

/// Cuts [0, count) into pieces of uneven sizes and runs them on that many threads.
[[nodiscard]] ParallelFor threads(std::size_t count);

/// A generator of its own for each purpose, from the test's seed (tests/seed.h).
[[nodiscard]] std::mt19937_64 generator(std::uint64_t purpose);

/// An article as the tests hold it.
struct Row {
  std::vector<DescriptorId> descriptors;
  std::uint8_t use = row_use::trains | row_use::second;
  Neuron bmu = no_neuron;  // before: read by accumulate; after: what the search found
  std::int32_t score = INT32_MAX;
  Neuron second = no_neuron;
};

/// Puts rows through a backend in tiles of at most tile_rows, several in flight, and brings the
/// results back into them. Rethrows a tile's failure.
void run_rows(Backend& backend, std::vector<Row>& rows, Work work, std::size_t tile_rows);

/// Random rows of distinct descriptors, low numbers the likelier, 0 to most descriptors each.
[[nodiscard]] std::vector<Row> random_rows(std::size_t count, std::uint32_t descriptors,
                                           std::size_t most, std::mt19937_64& random);

/// The whole codebook, V x M.
[[nodiscard]] std::vector<std::uint16_t> all_planes(Backend& backend);
/// The planes of consecutive descriptors, one after the other.
std::vector<std::uint16_t> planes_of(Backend& backend, DescriptorId first, std::size_t count);
/// Loads V x M weights given as one array.
void load_planes(Backend& backend, const std::vector<std::uint16_t>& planes,
                 const std::vector<std::uint8_t>& vacant);

/// Base of the tests that run once a backend.
class BackendTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override;
  [[nodiscard]] std::unique_ptr<Backend> make(MapShape shape) const;
};

/// Name of a parameter for INSTANTIATE_TEST_SUITE_P.
[[nodiscard]] std::string parameter_name(const ::testing::TestParamInfo<BackendKind>& info);
/// All kinds, those that are absent included: they are skipped with the reason.
inline const auto all_backends =
    ::testing::Values(BackendKind::cpu_one_thread, BackendKind::cpu_two_threads, BackendKind::cuda);

}  // namespace somatlas::gpu::testing
