// Exact search on the CPU, in two ways that give the same: the score of every usable neuron, chunk
// by chunk; or down the plane tree, with the nodes left aside whose bound is above the best score
// so far. Always holds: the lowest (score, row-major neuron) wins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/cpu_codebook.h"
#include "gpu/tile.h"

namespace somatlas::gpu {

/// Finds BMU, score and, for rows that ask for it, second BMU of these rows of the tile, and writes
/// them there. One thread; disjoint rows of one tile may be searched at the same time. Section 2 of
/// the design, "Score" and "Second BMU". The more rows at once, the more often a chunk in the cache
/// is used.
void search_brute(const CpuCodebook& codebook, Tile& tile, std::span<const std::uint32_t> rows);

/// What a pruned search had to look at.
struct PruningWork {
  std::uint64_t rows = 0;
  std::uint64_t nodes = 0;    // whose bounds were made, on both levels
  std::uint64_t neurons = 0;  // whose scores were made
};

/// The same, pruned: section 6 of the design, "Exact pruning". What a row's bmu is beforehand is
/// where its search begins (no_neuron: nowhere); rows that lie together should follow one another.
/// Returns what it looked at.
PruningWork search_pruned(const CpuCodebook& codebook, Tile& tile,
                          std::span<const std::uint32_t> rows);

/// The same, by whichever of the two is expected to be quicker: pruned while its work, measured on
/// the first rows, stays below that of brute force.
void search_rows(const CpuCodebook& codebook, Tile& tile, std::span<const std::uint32_t> rows);

}  // namespace somatlas::gpu
