// The compute backends' one interface: a codebook on a device, the search for BMUs over tiles,
// statistics, and the update that turns statistics into the next codebook. Always holds: every
// result is an integer fixed by the numerical contract, so all backends agree bit for bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gpu/row_cache.h"
#include "gpu/tile.h"

namespace somatlas::gpu {

/// Runs body(begin, end) over disjoint ranges that cover [0, count) and returns when all are done.
/// The caller brings the threads; a serial loop is a valid one.
using ParallelFor = std::function<void(
    std::size_t count, const std::function<void(std::size_t begin, std::size_t end)>& body)>;

/// Size of the map and of the feature axis.
struct MapShape {
  std::uint32_t side = 0;         // neurons a row and a column
  std::uint32_t descriptors = 0;  // V
  [[nodiscard]] std::size_t neurons() const { return std::size_t{side} * side; }
};

/// What to do with a tile.
enum class Work : std::uint8_t {
  accumulate,             // add the rows that train to the statistics at the BMUs given
  search,                 // find BMU, score and (where asked) second BMU
  search_and_accumulate,  // both, in that order
};

/// How the BMUs of a tile are found; all ways find the same.
enum class SearchMethod : std::uint8_t {
  automatic,    // whichever is expected to be quicker
  brute_force,  // every neuron's score is made
  pruned,       // down the plane tree
};

/// Called exactly once per submitted tile, from any thread, possibly before submit() returns;
/// the argument is null on success.
using Completion = std::function<void(std::exception_ptr)>;

/// The state of every neuron, row-major, M values each.
struct Cells {
  std::vector<std::int32_t> norm;         // n_i; 0 where vacant
  std::vector<std::uint64_t> square_sum;  // sum of q^2 over descriptors, exact
  std::vector<std::uint8_t> vacant;       // 1: never a BMU
  std::vector<std::uint32_t> hits;        // of the statistics gathered since clear_statistics()
};

/// Bytes that something will take, and what it is.
struct MemoryPart {
  std::string name;
  std::size_t host_bytes = 0;
  std::size_t device_bytes = 0;
};

/// Bytes that several parts take together.
struct MemoryNeed {
  std::vector<MemoryPart> parts;
  std::size_t host_bytes = 0;
  std::size_t device_bytes = 0;

  void add(MemoryPart part) {
    host_bytes += part.host_bytes;
    device_bytes += part.device_bytes;
    parts.push_back(std::move(part));
  }
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// "cpu" or the device's own name.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual MapShape shape() const = 0;

  /// A tile in this backend's host memory (pinned for a GPU). It must not outlive the backend.
  [[nodiscard]] virtual std::unique_ptr<Tile> make_tile(TileCapacity capacity) = 0;

  /// A cache of so many slots on this backend's device, all empty. It must not outlive the backend.
  /// Throws std::runtime_error or std::bad_alloc where there is no room for it.
  [[nodiscard]] virtual std::unique_ptr<RowCache> make_row_cache(
      std::span<const TileCapacity> slots) = 0;
  /// The same in host memory, for what the device has no room for: a GPU is sent the rows each
  /// time, but nobody reads and decodes them again.
  [[nodiscard]] virtual std::unique_ptr<RowCache> make_host_row_cache(
      std::span<const TileCapacity> slots) = 0;

  /// Hits and counts become zero.
  virtual void clear_statistics() = 0;

  /// Starts work on a tile, which belongs to the backend until done is called. One caller at a
  /// time; tiles may complete in any order. A failure reaches done, not the caller.
  /// Where no neuron is usable a search gives no_neuron and score INT32_MAX; rows whose BMU is
  /// no_neuron enter no statistics.
  virtual void submit(Tile& tile, Work work, Completion done) = 0;

  /// Has later searches go this way alone; automatic to begin with. No tile may be in flight.
  virtual void search_by(SearchMethod method) = 0;

  /// Seconds that the device has worked on the tiles that are done, since the backend was made.
  [[nodiscard]] virtual double busy_seconds() const = 0;

  /// Makes the codebook from the statistics, with a box of half-width radius (section 2,
  /// Neighbourhood and Update). No tile may be in flight. The statistics stay until
  /// clear_statistics().
  virtual void update(std::uint32_t radius) = 0;

  /// Replaces the codebook. planes(first, out) fills out with consecutive planes from descriptor
  /// first on, M row-major weights each; vacant has M flags. Norms are made from the weights;
  /// those of a vacant neuron are taken as 0. Throws std::invalid_argument on a weight above
  /// weight_one or a sum of squares above max_square_sum; the codebook is then unspecified.
  virtual void load(
      const std::function<void(DescriptorId first, std::span<std::uint16_t> out)>& planes,
      std::span<const std::uint8_t> vacant) = 0;

  /// Host memory that read_planes() fills quickest: pinned for a GPU. Throws std::runtime_error or
  /// std::bad_alloc where there is no room for it.
  [[nodiscard]] virtual HostBlock make_block(std::size_t bytes) = 0;

  /// Copies these descriptors' planes, one after the other; out has M values for each. Throws
  /// std::invalid_argument where the map lacks one, or out has another size.
  virtual void read_planes(std::span<const DescriptorId> descriptors,
                           std::span<std::uint16_t> out) = 0;
  [[nodiscard]] virtual Cells read_cells() = 0;
};

/// For backends: throws what read_planes() promises, of room for so many values.
inline void require_planes(MapShape shape, std::span<const DescriptorId> descriptors,
                           std::size_t values) {
  if (values != descriptors.size() * shape.neurons() ||
      std::any_of(descriptors.begin(), descriptors.end(),
                  [&](DescriptorId descriptor) { return descriptor >= shape.descriptors; })) {
    throw std::invalid_argument("planes were asked for that the map does not have");
  }
}

/// The CPU backend: pure functions over ranges, spread by the caller's threads.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(MapShape shape, ParallelFor parallel_for);
[[nodiscard]] MemoryNeed cpu_memory(MapShape shape, TileCapacity tile, std::size_t tiles,
                                    std::size_t threads);

struct CudaDevice {
  std::string name;
  std::size_t total_bytes = 0;
  std::size_t free_bytes = 0;
};
/// The GPUs that can be used; empty where there is no driver, no device, or no CUDA in this build.
[[nodiscard]] std::vector<CudaDevice> cuda_devices();
/// Why cuda_devices() is empty, in a sentence for the user.
[[nodiscard]] std::string cuda_unavailable_reason();

struct CudaOptions {
  int device = 0;
  std::size_t device_memory_bytes = 0;  // cap on what is used; 0: what is free
  // The most descriptors that all rows accumulated between two clear_statistics() have together,
  // so that sparse statistics can be held as a list; 0: not known, which may take more memory.
  std::uint64_t most_descriptors = 0;
};
/// Throws CudaError (cuda) or std::runtime_error (no CUDA in this build).
[[nodiscard]] std::unique_ptr<Backend> make_cuda_backend(MapShape shape, CudaOptions options);
/// most_descriptors as in CudaOptions.
[[nodiscard]] MemoryNeed cuda_memory(MapShape shape, TileCapacity tile, std::size_t tiles,
                                     std::uint64_t most_descriptors = 0);

}  // namespace somatlas::gpu
