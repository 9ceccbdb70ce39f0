// somatlas bench update: how long it takes to make a codebook from the statistics of a store's
// articles, by radius, beside what the device's memory can take. Always holds: planes of a sample
// of descriptors have been compared with plain box sums before a figure is printed.
#include <algorithm>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/contract.h"
#include "gpu/cpu_box_blur.h"
#include "pipeline/memory_plan.h"
#include "pipeline/parallel_for.h"
#include "pipeline/schedule.h"
#include "pipeline/stopwatch.h"
#include "store/atlas.h"
#include "store/store.h"
#include "tools/bench/atlas_articles.h"
#include "tools/bench/bench.h"
#include "tools/bench/gpu_peers.h"
#include "tools/command.h"
#include "tools/figures.h"
#include "tools/training_options.h"

namespace somatlas::tools::bench {
namespace {

struct Options {
  std::string store;
  std::string atlas;
  std::string device = "auto";
  std::uint32_t side = 0;  // 0: the atlas's
  std::vector<std::uint32_t> radii;
  unsigned repeats = 5;
  bool json = false;
};

/// The same place on a map of another side; articles of one neuron are spread over the neurons that
/// it becomes.
gpu::Neuron scaled(gpu::Neuron neuron, std::uint32_t from, std::uint32_t to,
                   std::uint64_t article) {
  // Two fractions of 2^16 that fill the square evenly, one article after the other.
  const std::uint64_t down = article * 49'472 % 65'536;
  const std::uint64_t across = article * 37'345 % 65'536;
  const auto along = [&](std::uint64_t at, std::uint64_t fraction) {
    return static_cast<gpu::Neuron>(((at << 16) + fraction) * to / (std::uint64_t{from} << 16));
  };
  return along(neuron / from, down) * to + along(neuron % from, across);
}

std::unique_ptr<gpu::Backend> make_backend(const Options& options, gpu::MapShape shape,
                                           std::uint64_t descriptors) {
  return pipeline::choose_device(device_named(options.device)) == pipeline::Device::cuda
             ? gpu::make_cuda_backend(shape, {.device = 0, .most_descriptors = descriptors})
             : gpu::make_cpu_backend(shape, pipeline::tbb_parallel_for());
}

/// Gathers the statistics of all articles.
void accumulate(gpu::Backend& backend, const Articles& articles) {
  constexpr std::size_t tile_rows = 65'536;
  std::size_t most = 0;
  for (std::size_t first = 0; first < articles.size(); first += tile_rows) {
    const std::size_t end = std::min(articles.size(), first + tile_rows);
    most = std::max<std::size_t>(most, articles.offsets[end] - articles.offsets[first]);
  }
  const auto tile = backend.make_tile({std::min(tile_rows, articles.size()), most});
  backend.clear_statistics();
  for (std::size_t first = 0; first < articles.size(); first += tile_rows) {
    tile->clear();
    for (std::size_t r = first; r < std::min(articles.size(), first + tile_rows); ++r) {
      tile->add_row(articles.row(r), gpu::row_use::trains, articles.last[r]);
    }
    std::promise<void> done;
    backend.submit(*tile, gpu::Work::accumulate, [&done](std::exception_ptr failure) {
      failure ? done.set_exception(std::move(failure)) : done.set_value();
    });
    done.get_future().get();
  }
}

std::vector<std::uint64_t> box_sums(std::vector<std::uint64_t> counts, std::uint32_t side,
                                    std::uint32_t radius) {
  gpu::BoxBlur(side).run(counts, radius);
  return counts;
}

/// Compares the planes of a frequent, a middling and a rare descriptor with what the contract says.
void require_planes(gpu::Backend& backend, const Articles& articles, std::uint32_t radius) {
  const gpu::MapShape shape = backend.shape();
  std::vector<std::uint64_t> hits(shape.neurons());
  for (const gpu::Neuron neuron : articles.last) {
    ++hits[neuron];
  }
  hits = box_sums(std::move(hits), shape.side, radius);
  std::vector<std::uint16_t> plane(shape.neurons());
  for (const gpu::DescriptorId descriptor : {0U, shape.descriptors / 8, shape.descriptors - 1}) {
    std::vector<std::uint64_t> counts(shape.neurons());
    for (std::size_t r = 0; r < articles.size(); ++r) {
      const auto row = articles.row(r);
      if (std::find(row.begin(), row.end(), descriptor) != row.end()) {
        ++counts[articles.last[r]];
      }
    }
    counts = box_sums(std::move(counts), shape.side, radius);
    backend.read_planes({&descriptor, 1}, plane);
    for (std::size_t i = 0; i < plane.size(); ++i) {
      const std::uint16_t expected = hits[i] == 0 ? 0 : gpu::weight_of(counts[i], hits[i]);
      if (plane[i] != expected) {
        throw std::runtime_error("an update is not what the definition says: this is a fault");
      }
    }
  }
}

int run(Session& session, const Options& options) {
  const auto atlas = store::Atlas::open(options.atlas, store::Atlas::Access::read);
  const auto store = store::Store::open(options.store, store::Store::Access::read);
  const pipeline::DescriptorIndex index = descriptor_index(*atlas);
  gpu::MapShape shape = shape_of(*atlas, index);
  Articles articles = read_articles(*store, *atlas, index, SIZE_MAX);
  if (options.side != 0 && options.side != shape.side) {
    for (std::size_t r = 0; r < articles.size(); ++r) {
      articles.last[r] = scaled(articles.last[r], shape.side, options.side, r);
    }
    shape.side = options.side;
  }
  const std::uint32_t largest = pipeline::largest_radius(articles.size());
  for (const std::uint32_t radius : options.radii) {
    if (radius > largest) {
      throw std::runtime_error("a radius of " + std::to_string(radius) +
                               " is too large: these articles allow at most " +
                               std::to_string(largest));
    }
  }
  const auto backend = make_backend(options, shape, articles.descriptors.size());
  std::optional<double> copied_bytes_a_second;
  if (backend->name() != "cpu") {
    copied_bytes_a_second = measure_gpu_ceilings().copied_bytes_a_second;
  }
  accumulate(*backend, articles);
  for (const std::uint32_t radius : options.radii) {
    backend->update(radius);
    require_planes(*backend, articles, radius);
  }
  std::vector<std::vector<double>> seconds(options.radii.size());
  for (unsigned repeat = 0; repeat < options.repeats; ++repeat) {
    for (std::size_t i = 0; i < options.radii.size(); ++i) {
      const pipeline::Stopwatch watch;
      backend->update(options.radii[i]);
      seconds[i].push_back(watch.seconds());
    }
  }

  const double bytes =
      static_cast<double>(shape.neurons()) * shape.descriptors * sizeof(std::uint16_t);
  nlohmann::ordered_json json{{"side", shape.side},
                              {"descriptors", shape.descriptors},
                              {"articles", articles.size()},
                              {"device", backend->name()},
                              {"weight_bytes", bytes}};
  if (copied_bytes_a_second) {
    json["copied_bytes_a_second"] = *copied_bytes_a_second;
  }
  std::string table = "radius\tms\tGB/s of weights\tof copying\n";
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const double middle = median(seconds[i]);
    const double speed = bytes / middle;
    json["radii"].push_back(
        {{"radius", options.radii[i]}, {"seconds", middle}, {"bytes_a_second", speed}});
    table += std::to_string(options.radii[i]) + '\t' + fixed(1e3 * middle, 2) + '\t' +
             fixed(speed / 1e9, 1) + '\t' +
             (copied_bytes_a_second ? fixed(100 * speed / *copied_bytes_a_second, 1) + " %" : "-") +
             '\n';
  }
  if (options.json) {
    session.out() << json.dump(2) << '\n';
    return exit_done;
  }
  session.out() << "side " << shape.side << ", " << count_of(shape.descriptors, "descriptor")
                << ", " << count_of(articles.size(), "article") << "; " << backend->name();
  if (copied_bytes_a_second) {
    session.out() << "; copies " << fixed(*copied_bytes_a_second / 1e9, 0)
                  << " GB/s, read and written";
  }
  session.out() << '\n' << table;
  return exit_done;
}

}  // namespace

Run define_update_bench(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_atlas_option(command, options->atlas)->required();
  add_store_option(command, options->store)
      ->required()
      ->description("The store that the atlas was trained on");
  command
      .add_option("--side", options->side,
                  "Side of the map to make, with the articles at the same places (default: the "
                  "atlas's)")
      ->check(CLI::Range(1U, 32'768U).description(""))
      ->type_name("N");
  command.add_option("--radius", options->radii, "Radii, separated by commas")
      ->required()
      ->delimiter(',')
      ->check(CLI::Range(0U, 32'768U).description(""))
      ->type_name("R,...");
  add_device_option(command, options->device);
  command.add_option("--repeats", options->repeats, "Runs of each radius")
      ->capture_default_str()
      ->check(CLI::Range(1U, 1000U).description(""))
      ->type_name("N");
  add_json_option(command, options->json);
  return [options](Session& session) { return run(session, *options); };
}

}  // namespace somatlas::tools::bench
