// The search for BMUs on the device. Always holds: the result is the contract's minimum of (score,
// neuron) whatever the order of rows and blocks; a row that the map cannot take is marked in the
// tile's fault word and gets no place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gpu/backend.h"
#include "gpu/cuda_buffer.cuh"
#include "gpu/cuda_codebook.cuh"
#include "gpu/cuda_pruned_search.cuh"
#include "gpu/cuda_stream.cuh"
#include "gpu/cuda_tile.cuh"

namespace somatlas::gpu {

/// Scratch for searches, shared by all tiles: a tile's rows in the order of likeness and the best
/// found so far, twice, so that one tile is put in order while the one before it is searched.
class SearchScratch {
 public:
  [[nodiscard]] static std::size_t bytes(TileCapacity capacity);
  SearchScratch() = default;
  SearchScratch(TileCapacity capacity, MemoryAccount& account);

  /// Enqueues the search of a tile that fits the capacity: BMU and score of every row, the second
  /// BMU of the seconds rows that ask for one. preparing: where the rows are put in order, once
  /// what was enqueued there before is done; searching: everything else. Both are the same in all
  /// calls.
  void search(CodebookView book, TileView tile, std::size_t seconds, SearchMethod method,
              StreamView preparing, StreamView searching);

 private:
  /// What is made of a tile before it is searched.
  struct Prepared {
    DeviceBuffer<std::uint32_t> words;  // sort keys and row numbers, twice each, and row lists
    DeviceBuffer<uint4> groups;         // descriptors, four by four
    DeviceBuffer<std::uint32_t> units;  // of their bounds
    DeviceBuffer<RowPlace> places;
    DeviceBuffer<unsigned long long> best;  // rank keys, then those of the second BMU
    const std::uint32_t* order = nullptr;   // row numbers
    SearchRows rows;
    Event made;
    Event searched;
  };
  void prepare(CodebookView book, TileView tile, Prepared& prepared, StreamView stream);

  std::array<Prepared, 2> prepared_;  // taken in turn
  std::size_t next_ = 0;
  DeviceBuffer<std::byte> sorting_;
  PruningChoice choice_;
  std::size_t capacity_rows_ = 0;
};

}  // namespace somatlas::gpu
