// The search for BMUs on the device. Always holds: the result is the contract's minimum of (score,
// neuron) whatever the order of rows and blocks; a row that the map cannot take is marked in the
// tile's fault word and gets no place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/backend.h"
#include "gpu/cuda_buffer.cuh"
#include "gpu/cuda_codebook.cuh"
#include "gpu/cuda_pruned_search.cuh"
#include "gpu/cuda_stream.cuh"
#include "gpu/cuda_tile.cuh"

namespace somatlas::gpu {

/// Scratch for the search of one tile at a time: the rows in the order of likeness, and the best
/// found so far. Shared by all tiles, in the order of one stream.
class SearchScratch {
 public:
  [[nodiscard]] static std::size_t bytes(TileCapacity capacity);
  SearchScratch() = default;
  SearchScratch(TileCapacity capacity, MemoryAccount& account);

  /// Enqueues the search of a tile that fits the capacity: BMU and score of every row, the second
  /// BMU of the seconds rows that ask for one.
  void search(CodebookView book, TileView tile, std::size_t seconds, SearchMethod method,
              StreamView stream);

 private:
  DeviceBuffer<std::uint32_t> words_;  // sort keys and row numbers, twice each, and row lists
  DeviceBuffer<uint4> groups_;         // descriptors, four by four
  DeviceBuffer<RowPlace> places_;
  DeviceBuffer<unsigned long long> best_;  // rank keys, then those of the second BMU
  DeviceBuffer<std::byte> sorting_;
  PruningChoice choice_;
  std::size_t rows_ = 0;
};

}  // namespace somatlas::gpu
