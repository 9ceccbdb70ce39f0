// Exact search on the CPU: the score of every usable neuron for every row of a range, chunk by
// chunk. Always holds: the lowest (score, row-major neuron) wins, whatever the range.
#pragma once

#include <cstddef>

#include "gpu/cpu_codebook.h"
#include "gpu/tile.h"

namespace somatlas::gpu {

/// Finds BMU, score and, for rows that ask for it, second BMU of rows [begin, end) of the tile, and
/// writes them there. One thread; ranges of one tile may be searched at the same time.
/// Section 2 of the design, "Score" and "Second BMU". The larger the range, the more often a chunk
/// in the cache is used.
void search_rows(const CpuCodebook& codebook, Tile& tile, std::size_t begin, std::size_t end);

}  // namespace somatlas::gpu
