// The search down the plane tree on the device, and the choice between it and brute force. Always
// holds: the result is the contract's minimum of (score, neuron), since a node is left aside only
// when its bound is above the best score found so far; the choice decides time alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/cuda_buffer.cuh"
#include "gpu/cuda_codebook.cuh"
#include "gpu/cuda_stream.cuh"
#include "gpu/cuda_walk.cuh"

namespace somatlas::gpu {

/// What pruned searches had to look at.
struct PruningCount {
  unsigned long long nodes;  // supers and blocks whose sixteen children were bounded or scored
};

/// Enqueues the search of rows down the tree: the best key of each, or the best that is not the
/// excluded neuron's. work, on the device, grows by what was looked at.
void launch_pruned_search(CodebookView book, SearchRows rows, PruningCount* work,
                          StreamView stream);

/// Counts what the pruned search of one tile looked at, and says whether the next should be pruned.
/// A new codebook is tried by pruning again.
class PruningChoice {
 public:
  /// Bytes on the device.
  [[nodiscard]] static constexpr std::size_t bytes() { return sizeof(PruningCount); }
  PruningChoice() = default;
  explicit PruningChoice(MemoryAccount& account);

  /// Whether to prune the search of the next tile.
  [[nodiscard]] bool prunes(CodebookView book);
  /// Zero at the start of a tile; the counter to hand to launch_pruned_search().
  [[nodiscard]] PruningCount* start(StreamView stream);
  /// After a tile of so many rows: what was counted comes back when the stream gets there.
  void finish(std::uint32_t rows, StreamView stream);

 private:
  DeviceBuffer<PruningCount> work_;
  HostBlock counted_;  // the PruningCount of the last tile
  Event arrived_;
  std::uint32_t rows_ = 0;     // of the tile counted; 0: none under way
  std::uint64_t version_ = 0;  // of the codebook that was last searched
  bool pays_ = true;
};

}  // namespace somatlas::gpu
