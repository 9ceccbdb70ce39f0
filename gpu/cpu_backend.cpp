// The CPU backend: checks what it is given and spreads the pure functions over the caller's
// threads. Always holds: a tile is done when submit() returns.
#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "gpu/backend.h"
#include "gpu/contract.h"
#include "gpu/cpu_codebook.h"
#include "gpu/cpu_plane_batch.h"
#include "gpu/cpu_search.h"
#include "gpu/cpu_statistics.h"
#include "gpu/cpu_update.h"
#include "gpu/host_row_cache.h"

namespace somatlas::gpu {
namespace {

/// Rows are dealt to threads in units of this many.
constexpr std::size_t rows_a_unit = 256;
/// The largest map whose neurons 32 bits number, no_neuron left out.
constexpr std::uint32_t largest_side = 65'535;

class CpuBackend final : public Backend {
 public:
  CpuBackend(MapShape shape, ParallelFor parallel_for)
      : parallel_for_(std::move(parallel_for)), codebook_(shape), statistics_(shape) {}

  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] MapShape shape() const override { return codebook_.shape; }

  [[nodiscard]] std::unique_ptr<Tile> make_tile(TileCapacity capacity) override {
    return std::make_unique<Tile>(capacity, host_block(Tile::bytes(capacity)));
  }

  [[nodiscard]] std::unique_ptr<RowCache> make_row_cache(
      std::span<const TileCapacity> slots) override {
    return make_host_row_cache(slots);
  }
  // Memory is taken as slots are filled.
  [[nodiscard]] std::unique_ptr<RowCache> make_host_row_cache(
      std::span<const TileCapacity> slots) override {
    const auto array = std::make_shared<LargeArray<std::byte>>(RowCache::bytes(slots));
    return std::make_unique<HostRowCache>(slots, HostBlock(array->data(), [array](std::byte*) {}));
  }

  void clear_statistics() override { statistics_.clear(parallel_for_); }

  void submit(Tile& tile, Work work, Completion done) override {
    const auto start = std::chrono::steady_clock::now();
    std::exception_ptr error;
    try {
      check(tile, work);
      const std::size_t units = (tile.rows() + rows_a_unit - 1) / rows_a_unit;
      const std::vector<std::uint32_t> order = row_order(tile, work);
      parallel_for_(units, [&](std::size_t begin, std::size_t end) {
        const std::size_t first = begin * rows_a_unit;
        const std::size_t last = std::min(tile.rows(), end * rows_a_unit);
        const std::span<const std::uint32_t> rows = std::span(order).subspan(first, last - first);
        if (work != Work::accumulate) {
          search(tile, rows);
        }
        if (work != Work::search) {
          statistics_.add_rows(tile, rows);
        }
      });
    } catch (...) {
      error = std::current_exception();
    }
    busy_ += std::chrono::steady_clock::now() - start;
    done(error);
  }

  void search_by(SearchMethod method) override { method_ = method; }

  [[nodiscard]] double busy_seconds() const override {
    return std::chrono::duration<double>(busy_).count();
  }

  void update(std::uint32_t radius) override {
    statistics_.settle();
    const Neighbourhood neighbourhood(statistics_.hits(), codebook_.shape, radius);
    const std::vector<std::uint64_t>& blurred = neighbourhood.blurred.hits;
    std::transform(
        blurred.begin(), blurred.end(), codebook_.vacant.begin(),
        [](std::uint64_t hits) { return hits == 0 ? std::uint8_t{1} : std::uint8_t{0}; });
    spread_planes([&](DescriptorId begin, DescriptorId end, std::span<ChunkSquares> squares) {
      make_planes(statistics_, neighbourhood, begin, end, codebook_, squares);
    });
  }

  void load(const std::function<void(DescriptorId first, std::span<std::uint16_t> out)>& planes,
            std::span<const std::uint8_t> vacant) override {
    if (vacant.size() != shape().neurons()) {
      throw std::invalid_argument("load was given " + std::to_string(vacant.size()) +
                                  " vacancy flags for " + std::to_string(shape().neurons()) +
                                  " neurons");
    }
    std::transform(vacant.begin(), vacant.end(), codebook_.vacant.begin(),
                   [](std::uint8_t flag) { return flag != 0 ? std::uint8_t{1} : std::uint8_t{0}; });
    std::vector<ChunkSquares> squares(codebook_.norms.size());
    std::vector<std::uint16_t> plane(shape().neurons());
    for (DescriptorId descriptor = 0; descriptor < shape().descriptors; ++descriptor) {
      planes(descriptor, plane);
      for (std::size_t i = 0; i < plane.size(); ++i) {
        if (plane[i] > weight_one) {
          throw std::invalid_argument("a weight of " + std::to_string(plane[i]) + " is above " +
                                      std::to_string(weight_one) + "; the codebook is damaged");
        }
        if (vacant[i] != 0) {
          plane[i] = 0;
        }
      }
      store_plane(codebook_, descriptor, plane);
      add_squares(codebook_, descriptor, squares);
    }
    set_square_sums(codebook_, squares);
    make_norms(codebook_);
  }

  [[nodiscard]] HostBlock make_block(std::size_t bytes) override { return host_block(bytes); }

  void read_planes(std::span<const DescriptorId> descriptors,
                   std::span<std::uint16_t> out) override {
    require_planes(shape(), descriptors, out.size());
    const std::size_t neurons = shape().neurons();
    parallel_for_(descriptors.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        fetch_plane(codebook_, descriptors[i], out.subspan(i * neurons, neurons));
      }
    });
  }

  [[nodiscard]] Cells read_cells() override {
    const std::size_t neurons = shape().neurons();
    Cells cells;
    cells.norm.resize(neurons);
    for (std::size_t i = 0; i < neurons; ++i) {
      cells.norm[i] = codebook_.vacant[i] != 0 ? 0 : codebook_.norm(static_cast<Neuron>(i));
    }
    cells.square_sum = codebook_.square_sum;
    cells.vacant = codebook_.vacant;
    cells.hits.assign(statistics_.hits().begin(), statistics_.hits().end());
    return cells;
  }

 private:
  void search(Tile& tile, std::span<const std::uint32_t> rows) const {
    switch (method_) {
      case SearchMethod::automatic:
        return search_rows(codebook_, tile, rows);
      case SearchMethod::brute_force:
        return search_brute(codebook_, tile, rows);
      case SearchMethod::pruned:
        static_cast<void>(search_pruned(codebook_, tile, rows));
    }
  }

  /// The tile's rows, for a search those that were placed near one another side by side: they share
  /// descriptors and look at the same nodes.
  [[nodiscard]] std::vector<std::uint32_t> row_order(const Tile& tile, Work work) const {
    std::vector<std::uint32_t> order(tile.rows());
    std::iota(order.begin(), order.end(), 0U);
    if (work == Work::accumulate) {
      return order;
    }
    std::vector<std::uint64_t> keys(tile.rows());
    const std::span<const Neuron> bmu = tile.bmu();
    for (std::size_t r = 0; r < keys.size(); ++r) {
      const std::uint64_t place = bmu[r] < codebook_.shape.neurons()
                                      ? codebook_.tree.place_of(bmu[r])
                                      : std::uint64_t{no_neuron};
      keys[r] = place << 32 | r;
    }
    std::sort(keys.begin(), keys.end());
    std::transform(keys.begin(), keys.end(), order.begin(),
                   [](std::uint64_t key) { return static_cast<std::uint32_t>(key); });
    return order;
  }

  /// Throws std::out_of_range where the tile names a descriptor or a neuron that is not there.
  void check(const Tile& tile, Work work) const {
    for (const DescriptorId descriptor : tile.descriptors()) {
      if (descriptor >= codebook_.shape.descriptors) {
        throw std::out_of_range("a tile names descriptor " + std::to_string(descriptor) + " of " +
                                std::to_string(codebook_.shape.descriptors));
      }
    }
    if (work != Work::accumulate) {
      return;
    }
    for (const Neuron bmu : tile.bmu()) {
      if (bmu != no_neuron && bmu >= codebook_.shape.neurons()) {
        throw std::out_of_range("a tile places a row on neuron " + std::to_string(bmu) + " of " +
                                std::to_string(codebook_.shape.neurons()));
      }
    }
  }

  /// Runs make(begin, end, squares) over all descriptors and makes the norms from the sums.
  template <class Make>
  void spread_planes(const Make& make) {
    std::vector<ChunkSquares> total(codebook_.norms.size());
    std::mutex mutex;
    parallel_for_(shape().descriptors, [&](std::size_t begin, std::size_t end) {
      std::vector<ChunkSquares> part(total.size());
      make(static_cast<DescriptorId>(begin), static_cast<DescriptorId>(end), std::span(part));
      const std::lock_guard lock(mutex);
      for (std::size_t slot = 0; slot < total.size(); ++slot) {
        std::transform(total[slot].begin(), total[slot].end(), part[slot].begin(),
                       total[slot].begin(), std::plus<>());
      }
    });
    set_square_sums(codebook_, total);
    make_norms(codebook_);
  }

  ParallelFor parallel_for_;
  CpuCodebook codebook_;
  CpuStatistics statistics_;
  SearchMethod method_ = SearchMethod::automatic;
  std::chrono::steady_clock::duration busy_{};
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(MapShape shape, ParallelFor parallel_for) {
  if (shape.side == 0 || shape.side > largest_side) {
    throw std::invalid_argument("a map of side " + std::to_string(shape.side) +
                                " cannot be made; the side is 1 to " +
                                std::to_string(largest_side));
  }
  return std::make_unique<CpuBackend>(shape, std::move(parallel_for));
}

MemoryNeed cpu_memory(MapShape shape, TileCapacity tile, std::size_t tiles, std::size_t threads) {
  const std::size_t neurons = shape.neurons();
  MemoryNeed need;
  need.add({.name = "codebook and bounds", .host_bytes = codebook_bytes(shape)});
  // Counts and hits; and the carries of 30 million articles.
  constexpr std::size_t carries = std::size_t{16} << 20;
  need.add({.name = "statistics",
            .host_bytes = neurons * (std::size_t{shape.descriptors} + 4) + carries});
  // Blurred hits, their scale, the factors of an axis and the sums of squares; a thread's third
  // differences in both widths, batch of planes and sums of squares.
  need.add({.name = "update",
            .host_bytes = neurons * (8 + 4 + 4 + 8) +
                          neurons * (4 + 8 + PlaneBatch::most * 2 + 8) * threads});
  if (tiles != 0) {
    // Its order, its keys and best neurons.
    need.add({.name = "search", .host_bytes = tile.rows * (4 + 8 + 16)});
    need.add({.name = "tiles in flight", .host_bytes = tiles * Tile::bytes(tile)});
  }
  return need;
}

}  // namespace somatlas::gpu
