// The CUDA backend: one codebook on one GPU, five streams (to the device, preparing, work,
// counting, back to the host) ordered by events, so that a tile is copied, or put in order, while
// the one before it is searched, and the one before that, which waits for memory as a search does
// not, is counted. Always holds: tiles are worked on in the order of submission; the search's
// scratch is used on the preparing and the work stream alone; what reads or clears the statistics
// comes after all counting submitted before it, and before all submitted later; every call makes
// its device current first, so any thread may call.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "gpu/backend.h"
#include "gpu/contract.h"
#include "gpu/cuda_buffer.cuh"
#include "gpu/cuda_codebook.cuh"
#include "gpu/cuda_completions.cuh"
#include "gpu/cuda_row_cache.cuh"
#include "gpu/cuda_search.cuh"
#include "gpu/cuda_statistics.cuh"
#include "gpu/cuda_stream.cuh"
#include "gpu/cuda_tile.cuh"
#include "gpu/cuda_update.cuh"
#include "gpu/host_row_cache.h"

namespace somatlas::gpu {
namespace {

constexpr std::uint32_t most_side = 65'520;  // places of the tree are numbered in 32 bits

/// Checks the shape and the device number, and makes the device current.
[[nodiscard]] int open_device(MapShape shape, int device) {
  if (shape.side == 0 || shape.side > most_side) {
    throw std::invalid_argument("a map of side " + std::to_string(shape.side) +
                                " cannot be made; the side is 1 to " + std::to_string(most_side));
  }
  const std::size_t count = cuda_devices().size();
  if (count == 0) {
    throw std::runtime_error("there is no GPU to use: " + cuda_unavailable_reason());
  }
  if (device < 0 || static_cast<std::size_t>(device) >= count) {
    throw std::runtime_error("there is no GPU number " + std::to_string(device) +
                             "; this machine has " + std::to_string(count));
  }
  check(cudaSetDevice(device));
  // The pruned search reads scattered sectors of 32 bytes: a wish, which some devices do not know.
  static_cast<void>(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32));
  static_cast<void>(cudaGetLastError());
  return device;
}

/// Bytes that may be used: what is free, or less if a cap says so.
[[nodiscard]] std::size_t cap_of(std::size_t wanted) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes));
  return wanted == 0 ? free_bytes : std::min(wanted, free_bytes);
}

class CudaBackend final : public Backend {
 public:
  CudaBackend(MapShape shape, CudaOptions options)
      : shape_(shape),
        device_(open_device(shape, options.device)),
        account_(cap_of(options.device_memory_bytes)),
        book_(require_room(options), account_, work_.view()),
        updater_(shape, account_),
        statistics_(shape, options.most_descriptors, account_, work_.view()),
        completions_(device_) {
    work_.view().synchronize();
  }

  ~CudaBackend() override { make_current_or_report(); }

  [[nodiscard]] std::string name() const override {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device_));
    return properties.name;
  }
  [[nodiscard]] MapShape shape() const override { return shape_; }

  [[nodiscard]] std::unique_ptr<Tile> make_tile(TileCapacity capacity) override {
    make_current();
    const std::lock_guard lock(scratch_mutex_);
    if (capacity.rows > scratch_capacity_.rows ||
        capacity.descriptors > scratch_capacity_.descriptors) {
      const TileCapacity larger{std::max(capacity.rows, scratch_capacity_.rows),
                                std::max(capacity.descriptors, scratch_capacity_.descriptors)};
      prepare_.view().synchronize();
      work_.view().synchronize();
      scratch_ = SearchScratch();
      scratch_capacity_ = {};
      scratch_ = SearchScratch(larger, account_);
      scratch_capacity_ = larger;
    }
    return std::make_unique<CudaTile>(capacity, account_);
  }

  [[nodiscard]] std::unique_ptr<RowCache> make_row_cache(
      std::span<const TileCapacity> slots) override {
    make_current();
    return std::make_unique<CudaRowCache>(slots, account_);
  }
  [[nodiscard]] std::unique_ptr<RowCache> make_host_row_cache(
      std::span<const TileCapacity> slots) override {
    return std::make_unique<HostRowCache>(slots, make_block(RowCache::bytes(slots)));
  }

  void clear_statistics() override {
    make_current();
    count_.view().synchronize();
    statistics_.clear(work_.view());
    work_.view().synchronize();
  }

  void submit(Tile& tile, Work work, Completion done) override {
    try {
      make_current();
      auto* mine = dynamic_cast<CudaTile*>(&tile);
      if (mine == nullptr) {
        throw std::invalid_argument("a tile that this GPU did not make was submitted to it");
      }
      {
        const std::lock_guard lock(scratch_mutex_);
        enqueue(*mine, work);
      }
      completions_.when_downloaded(*mine, std::move(done));
    } catch (...) {
      // What was enqueued before the failure may still read the tile.
      for (const StreamView stream :
           {copy_in_.view(), prepare_.view(), work_.view(), count_.view(), copy_out_.view()}) {
        static_cast<void>(cudaStreamSynchronize(stream.value()));
      }
      static_cast<void>(cudaGetLastError());
      completions_.failed(std::current_exception(), std::move(done));
    }
  }

  void search_by(SearchMethod method) override { method_ = method; }

  [[nodiscard]] double busy_seconds() const override { return completions_.busy_seconds(); }

  void update(std::uint32_t radius) override {
    make_current();
    count_.view().synchronize();
    updater_.update(book_, statistics_, radius, work_.view());
    work_.view().record(updated_.view());
    count_.view().wait(updated_.view());
  }

  void load(const std::function<void(DescriptorId, std::span<std::uint16_t>)>& planes,
            std::span<const std::uint8_t> vacant) override;
  [[nodiscard]] HostBlock make_block(std::size_t bytes) override {
    make_current();
    return pinned_block(bytes);
  }
  void read_planes(std::span<const DescriptorId> descriptors,
                   std::span<std::uint16_t> out) override;

  [[nodiscard]] Cells read_cells() override {
    make_current();
    count_.view().synchronize();
    Cells cells = book_.read_cells(work_.view());
    cells.hits = statistics_.read_hits(work_.view());
    return cells;
  }

 private:
  void make_current() const { check(cudaSetDevice(device_)); }
  void make_current_or_report() const noexcept { report(cudaSetDevice(device_)); }

  /// Refuses a map that does not fit before any of it is allocated.
  [[nodiscard]] MapShape require_room(const CudaOptions& options) const {
    const std::size_t needed = cuda_memory(shape_, {}, 0, options.most_descriptors).device_bytes;
    if (needed > account_.cap_bytes()) {
      throw std::runtime_error("a map of side " + std::to_string(shape_.side) + " with " +
                               std::to_string(shape_.descriptors) + " descriptors needs " +
                               std::to_string(needed) + " bytes of device memory, and " +
                               std::to_string(account_.cap_bytes()) +
                               " may be used; take a smaller side or a larger cap");
    }
    return shape_;
  }

  void enqueue(CudaTile& tile, Work work) {
    const StreamView in = copy_in_.view();
    const StreamView compute = work_.view();
    const StreamView count = count_.view();
    const StreamView out = copy_out_.view();
    tile.upload(in);
    in.record(tile.uploaded());
    const TileView view = tile.view();
    if (work != Work::accumulate) {
      prepare_.view().wait(tile.uploaded());
      compute.wait(tile.uploaded());
      compute.record(tile.begun());
      scratch_.search(book_.view(), view, tile.seconds(), method_, prepare_.view(), compute);
      compute.record(tile.computed());
      out.wait(tile.computed());
    }
    if (work != Work::search) {
      count.wait(work == Work::accumulate ? tile.uploaded() : tile.computed());
      if (work == Work::accumulate) {
        count.record(tile.begun());
      }
      statistics_.accumulate(view, tile.descriptor_count(), count);
      if (work == Work::accumulate) {
        count.record(tile.computed());
      }
      count.record(tile.counted());
      out.wait(tile.counted());
    }
    tile.download(work != Work::accumulate, out);
    out.record(tile.downloaded());
  }

  /// Planes that fit the updater's room at once, at least one.
  [[nodiscard]] std::size_t planes_at_once() const {
    return updater_.room().bytes() / (shape_.neurons() * sizeof(std::uint16_t));
  }
  [[nodiscard]] std::uint16_t* plane_room() const {
    return reinterpret_cast<std::uint16_t*>(updater_.room().data());
  }

  MapShape shape_;
  int device_;
  MemoryAccount account_;
  Stream copy_in_;
  Stream prepare_{Stream::Priority::first};
  Stream work_;
  Stream count_;
  Stream copy_out_;
  Event updated_;
  Codebook book_;
  Updater updater_;
  Statistics statistics_;
  std::mutex scratch_mutex_;
  TileCapacity scratch_capacity_;
  SearchScratch scratch_;
  SearchMethod method_ = SearchMethod::automatic;
  // Last, so that it is destroyed first: it drains what was submitted.
  Completions completions_;
};

void CudaBackend::load(const std::function<void(DescriptorId, std::span<std::uint16_t>)>& planes,
                       std::span<const std::uint8_t> vacant) {
  make_current();
  const std::size_t neurons = shape_.neurons();
  if (vacant.size() != neurons) {
    throw std::invalid_argument("a codebook of " + std::to_string(neurons) + " neurons came with " +
                                std::to_string(vacant.size()) + " vacant flags");
  }
  const StreamView stream = work_.view();
  const std::size_t step = std::min<std::size_t>(planes_at_once(), shape_.descriptors);
  std::vector<std::uint16_t> host(step * neurons);
  for (std::size_t first = 0; first < shape_.descriptors; first += step) {
    const std::size_t count = std::min<std::size_t>(step, shape_.descriptors - first);
    const std::span<std::uint16_t> part(host.data(), count * neurons);
    planes(static_cast<DescriptorId>(first), part);
    if (std::any_of(part.begin(), part.end(), [](std::uint16_t q) { return q > weight_one; })) {
      throw std::invalid_argument("a weight past 16383 was found in the planes from number " +
                                  std::to_string(first) + " on; the codebook is damaged");
    }
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] = vacant[i % neurons] != 0 ? std::uint16_t{0} : part[i];
    }
    copy_to_device(plane_room(), part.data(), part.size(), stream);
    book_.put_planes(static_cast<DescriptorId>(first), count, plane_room(), stream);
    stream.synchronize();
  }
  std::vector<std::uint8_t> usable(neurons);
  std::transform(vacant.begin(), vacant.end(), usable.begin(),
                 [](std::uint8_t flag) { return static_cast<std::uint8_t>(flag == 0 ? 1 : 0); });
  auto* const flags = reinterpret_cast<std::uint8_t*>(updater_.room().data());
  copy_to_device(flags, usable.data(), usable.size(), stream);
  book_.make_norms(flags, false, true, stream);
  const Cells cells = book_.read_cells(stream);
  if (std::any_of(cells.square_sum.begin(), cells.square_sum.end(),
                  [](std::uint64_t sum) { return sum > max_square_sum; })) {
    throw std::invalid_argument(
        "a neuron's weights are too many and too large for a 32-bit norm; the codebook is damaged");
  }
}

void CudaBackend::read_planes(std::span<const DescriptorId> descriptors,
                              std::span<std::uint16_t> out) {
  require_planes(shape_, descriptors, out.size());
  make_current();
  const std::size_t neurons = shape_.neurons();
  const StreamView stream = work_.view();
  for (std::size_t done = 0; done < descriptors.size();) {
    const std::size_t count = std::min(planes_at_once(), descriptors.size() - done);
    for (std::size_t i = 0; i < count;) {  // those that follow one another at once
      std::size_t run = 1;
      while (i + run < count && descriptors[done + i + run] == descriptors[done + i] + run) {
        ++run;
      }
      book_.get_planes(descriptors[done + i], run, plane_room() + i * neurons, stream);
      i += run;
    }
    copy_to_host(out.data() + done * neurons, plane_room(), count * neurons, stream);
    stream.synchronize();
    done += count;
  }
}

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(MapShape shape, CudaOptions options) {
  return std::make_unique<CudaBackend>(shape, options);
}

MemoryNeed cuda_memory(MapShape shape, TileCapacity tile, std::size_t tiles,
                       std::uint64_t most_descriptors) {
  MemoryNeed need;
  need.add({.name = "codebook and bounds", .device_bytes = Codebook::bytes(shape)});
  need.add({.name = "statistics", .device_bytes = Statistics::bytes(shape, most_descriptors)});
  need.add({.name = "update", .device_bytes = Updater::bytes(shape)});
  if (tiles != 0) {
    need.add({.name = "search", .device_bytes = SearchScratch::bytes(tile)});
    need.add({.name = "tiles in flight",
              .host_bytes = tiles * Tile::bytes(tile),
              .device_bytes = tiles * CudaTile::device_bytes(tile)});
  }
  return need;
}

}  // namespace somatlas::gpu
