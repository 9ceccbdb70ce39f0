#include "pipeline/memory_plan.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "gpu/backend.h"
#include "gpu/tile.h"
#include "pipeline/atlas_writer.h"
#include "pipeline/map_regions.h"
#include "pipeline/region_weights.h"
#include "pipeline/schedule.h"

namespace somatlas::pipeline {
namespace {

/// A number in a file of the kernel's; nothing where there is no file or it says "max".
std::optional<std::size_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

std::size_t threads_of(const TrainingOptions& options) {
  return options.threads != 0 ? options.threads
                              : std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

gpu::MemoryNeed backend_need(Device device, gpu::MapShape shape, const gpu::TileCapacity& capacity,
                             std::uint64_t most_descriptors, const TrainingOptions& options) {
  return device == Device::cuda
             ? gpu::cuda_memory(shape, capacity, options.tiles, most_descriptors)
             : gpu::cpu_memory(shape, capacity, options.tiles, threads_of(options));
}

/// Puts into the plan as many of the first tiles as there is room for beside everything else on the
/// device, and then, where that is a GPU, in host memory. most: on the device.
void keep_tiles(MemoryPlan& plan, const TilePlan& tiles, Device device,
                std::optional<std::size_t> most) {
  if (!plan.fits()) {
    return;
  }
  // Part of the room is left to what is not counted: the driver's, the allocator's.
  const auto room = [](std::size_t available, std::size_t needed) {
    return (available - needed) / 8 * 7;
  };
  const bool on_gpu = device == Device::cuda;
  const std::size_t host_room = room(plan.host_available, plan.host_bytes);
  const std::size_t device_room = std::min(
      most.value_or(SIZE_MAX), on_gpu ? room(plan.device_available, plan.device_bytes) : host_room);
  gpu::MemoryPart there{.name = "tiles that stay"};
  gpu::MemoryPart sent{.name = "tiles that are sent anew"};
  for (const PlannedTile& tile : tiles.tiles) {
    const std::size_t bytes = gpu::RowArrays::bytes(tile.capacity());
    // The host knows of a row its article's descriptors, and what it is used for.
    const std::size_t known = tile.rows * (sizeof(std::uint16_t) + sizeof(std::uint8_t));
    const std::size_t host = there.host_bytes + sent.host_bytes + known;
    if (plan.kept_on_host == 0 && plan.kept_bytes + bytes <= device_room &&
        host + (on_gpu ? 0 : bytes) <= host_room) {
      ++plan.kept_tiles;
      plan.kept_bytes += bytes;
      there.host_bytes += known + (on_gpu ? 0 : bytes);
      there.device_bytes += on_gpu ? bytes : 0;
    } else if (on_gpu && host + bytes <= host_room) {
      ++plan.kept_on_host;
      sent.host_bytes += known + bytes;
    } else {
      break;
    }
  }
  for (gpu::MemoryPart& part : {std::ref(there), std::ref(sent)}) {
    if (&part == &there || part.host_bytes != 0) {
      plan.host_bytes += part.host_bytes;
      plan.device_bytes += part.device_bytes;
      plan.parts.push_back(part);
    }
  }
}

}  // namespace

std::size_t available_host_memory() {
  std::size_t available = 0;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string name; meminfo >> name;) {
    std::size_t kibibytes = 0;
    if (name == "MemAvailable:" && meminfo >> kibibytes) {
      available = kibibytes * 1024;
      break;
    }
    meminfo.ignore(1 << 10, '\n');
  }
  if (available == 0) {
    available = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  if (rlimit space{}; ::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    const std::size_t taken =
        number_in("/proc/self/statm").value_or(0) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto most = static_cast<std::size_t>(space.rlim_cur);
    available = std::min(available, most - std::min(most, taken));
  }
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (limit && used) {
    available = std::min(available, *limit - std::min(*limit, *used));
  }
  return available;
}

Device choose_device(Device asked) {
  if (asked == Device::cpu) {
    return Device::cpu;
  }
  if (!gpu::cuda_devices().empty()) {
    return Device::cuda;
  }
  if (asked == Device::cuda) {
    throw TrainingError("--device cuda: " + gpu::cuda_unavailable_reason());
  }
  return Device::cpu;
}

MemoryPlan plan_memory(const TrainingOptions& options, Device device, const ArticleSet& training,
                       const ArticleSet& placement, const TilePlan& tiles,
                       const gpu::TileCapacity& capacity, std::uint32_t descriptors) {
  const std::size_t threads = threads_of(options);
  const auto need = [&](std::uint32_t side) {
    gpu::MemoryNeed result =
        backend_need(device, {side, descriptors}, capacity, training.descriptors, options);
    // A decoded shard, its columns as they grow, and the bytes that it comes from.
    result.add(
        {.name = "decoded shards", .host_bytes = options.tiles * 3 * training.largest_shard});
    // Two copies of 17 bytes a neuron; while planes are written 101 of what cells gather, and a
    // batch as it is, encoded, and the one before it. Regions take less of a map when those are
    // gone, but for what each weighs of each descriptor.
    const std::size_t neurons = std::size_t{side} * side;
    result.add(
        {.name = "cells",
         .host_bytes = neurons * (2 * 17 + 101 + 6 * planes_a_batch(neurons)) +
                       std::size_t{region_targets(side)[0]} * descriptors * sizeof(RegionWeight)});
    // First what the codebook was made from and what the search finds, then the articles of every
    // cell; where a training goes on from an atlas, also which articles are as they were.
    const std::uint64_t places = std::max(training.training, placement.rows);
    result.add({.name = "places of articles",
                .host_bytes = 8 * places + (options.from.empty() ? 0 : training.training)});
    if (options.imported) {
      result.add({.name = "the map that was read", .host_bytes = options.imported.bytes()});
    }
    // A thread's counts of descriptors and stack; the store's caches and tables; the program.
    result.add({.name = "threads, store, program",
                .host_bytes = threads * (std::size_t{12} << 20) + (std::size_t{48} << 20)});
    return result;
  };
  MemoryPlan plan;
  plan.side = options.settings.side;
  plan.articles = training.training;
  plan.descriptors = descriptors;
  plan.largest_radius = largest_radius(training.training);
  plan.host_available = options.host_memory != 0 ? options.host_memory
                        : options.imported ? available_host_memory() + options.imported.bytes()
                                           : available_host_memory();
  if (device == Device::cuda) {
    const gpu::CudaDevice gpu = gpu::cuda_devices().front();
    plan.device = gpu.name;
    plan.device_available = options.device_memory != 0
                                ? std::min(options.device_memory, gpu.free_bytes)
                                : gpu.free_bytes;
  } else {
    plan.device = "cpu";
  }
  gpu::MemoryNeed asked = need(options.settings.side);
  plan.parts = std::move(asked.parts);
  plan.host_bytes = asked.host_bytes;
  plan.device_bytes = asked.device_bytes;

  const auto fits = [&](std::uint32_t side) {
    const gpu::MemoryNeed some = need(side);
    return some.host_bytes <= plan.host_available && some.device_bytes <= plan.device_available;
  };
  std::uint32_t low = 0;
  std::uint32_t high = 1U << 15;
  while (low + 1 < high) {
    const std::uint32_t middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  plan.largest_side = low;
  plan.tiles = tiles.tiles.size();
  keep_tiles(plan, tiles, device, options.device_cache);
  return plan;
}

}  // namespace somatlas::pipeline
