// The three hashes of section 2: XXH3-64 of (salt, PMID, seed), each a little-endian 64-bit word.
// One salt each for the random start, the PCA sample and the held-out share.
#pragma once

#include <cstdint>

namespace somatlas::pipeline {

enum class Salt : std::uint64_t { start = 1, sample = 2, holdout = 3 };

[[nodiscard]] std::uint64_t article_hash(Salt salt, std::uint32_t pmid, std::uint64_t seed);

/// Whether an article is held out: its hash lies in the lowest share of the range. share in [0, 1).
[[nodiscard]] bool held_out(std::uint32_t pmid, std::uint64_t seed, double share);

/// The random start's neuron: the high half of hash * neurons.
[[nodiscard]] std::uint32_t random_neuron(std::uint32_t pmid, std::uint64_t seed,
                                          std::uint64_t neurons);

}  // namespace somatlas::pipeline
