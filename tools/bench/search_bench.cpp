// somatlas bench search, on the CPU: how quickly this processor finds best-matching units on a real
// atlas, by the layouts and methods there are, one core each. Always holds: every method has found
// the same units as the plain loop before it is timed on more articles, or nothing is printed.
#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/contract.h"
#include "gpu/cpu_codebook.h"
#include "gpu/cpu_search.h"
#include "pipeline/stopwatch.h"
#include "store/atlas.h"
#include "store/store.h"
#include "tools/bench/atlas_articles.h"
#include "tools/bench/bench.h"
#include "tools/bench/search_bench.h"
#include "tools/command.h"
#include "tools/figures.h"

namespace somatlas::tools::bench {
namespace {

using pipeline::Stopwatch;

/// The atlas's map, feature-major row by row as it is stored, and as a search has it.
struct Map {
  explicit Map(store::Atlas& atlas);

  pipeline::DescriptorIndex index;
  gpu::CpuCodebook codebook;
  std::uint32_t side;
  std::vector<std::uint16_t> planes;  // [descriptor][neuron]
};

Map::Map(store::Atlas& atlas)
    : index(descriptor_index(atlas)), codebook(shape_of(atlas, index)), side(codebook.shape.side) {
  planes.reserve(codebook.shape.neurons() * index.size());
  for (gpu::DescriptorId id = 0; id < index.size(); ++id) {
    const std::vector<std::uint16_t> plane = plane_of(atlas, index, id);
    gpu::store_plane(codebook, id, plane);
    planes.insert(planes.end(), plane.begin(), plane.end());
  }
  const store::AtlasCells cells = atlas.cells();
  codebook.square_sum = cells.square_sum;
  codebook.vacant = cells.vacant;
  gpu::make_norms(codebook);
}

/// Rows taken by their last neuron, as a training takes them.
class Rows {
 public:
  Rows(const Articles& articles, const gpu::PlaneTree& tree, std::size_t most) {
    std::vector<std::uint32_t> by_place(articles.size());
    std::iota(by_place.begin(), by_place.end(), 0U);
    std::stable_sort(by_place.begin(), by_place.end(), [&](std::uint32_t a, std::uint32_t b) {
      return tree.place_of(articles.last[a]) < tree.place_of(articles.last[b]);
    });
    // Fewer rows lie as far apart as all of them do, only with fewer on a neuron.
    const std::size_t step = std::max<std::size_t>(1, by_place.size() / most);
    gpu::TileCapacity capacity;
    std::vector<std::uint32_t> chosen;
    for (std::size_t i = 0; i < by_place.size() && chosen.size() < most; i += step) {
      chosen.push_back(by_place[i]);
      capacity.descriptors += articles.row(by_place[i]).size();
    }
    capacity.rows = chosen.size();
    tile_ = std::make_unique<gpu::Tile>(capacity, gpu::host_block(gpu::Tile::bytes(capacity)));
    for (const std::uint32_t row : chosen) {
      tile_->add_row(articles.row(row), gpu::row_use::trains, articles.last[row]);
      last_.push_back(articles.last[row]);
    }
    order_.resize(chosen.size());
    std::iota(order_.begin(), order_.end(), 0U);
  }

  /// Seconds of one search from the last neurons on.
  double time(const std::function<void(gpu::Tile&, std::span<const std::uint32_t>)>& search) {
    std::copy(last_.begin(), last_.end(), tile_->bmu().begin());
    const Stopwatch watch;
    search(*tile_, order_);
    return watch.seconds();
  }
  [[nodiscard]] gpu::Tile& tile() { return *tile_; }
  [[nodiscard]] std::size_t size() const { return order_.size(); }

 private:
  std::unique_ptr<gpu::Tile> tile_;
  std::vector<gpu::Neuron> last_;
  std::vector<std::uint32_t> order_;
};

/// The definition: every neuron's score, one after the other, weights found at
/// neuron * by_neuron + descriptor * by_descriptor.
void search_literally(const Map& map, const std::vector<std::uint16_t>& weights,
                      std::size_t by_neuron, std::size_t by_descriptor, gpu::Tile& tile) {
  for (std::size_t r = 0; r < tile.rows(); ++r) {
    std::int32_t best = gpu::padded_norm;
    gpu::Neuron bmu = gpu::no_neuron;
    for (gpu::Neuron neuron = 0; neuron < map.codebook.shape.neurons(); ++neuron) {
      std::int32_t sum = 0;
      for (const gpu::DescriptorId descriptor : tile.row(r)) {
        sum += weights[neuron * by_neuron + descriptor * by_descriptor];
      }
      const std::int32_t score = map.codebook.norm(neuron) - 128 * sum;
      if (map.codebook.vacant[neuron] == 0 && score < best) {
        best = score;
        bmu = neuron;
      }
    }
    tile.bmu()[r] = bmu;
  }
}

/// Feature-major without vectors of our own: a plane's weights added to sums of all neurons.
void search_by_planes(const Map& map, gpu::Tile& tile) {
  const std::size_t neurons = map.codebook.shape.neurons();
  std::vector<std::int32_t> norm(neurons);
  for (gpu::Neuron neuron = 0; neuron < neurons; ++neuron) {
    norm[neuron] = map.codebook.vacant[neuron] != 0 ? gpu::padded_norm : map.codebook.norm(neuron);
  }
  std::vector<std::int32_t> sums(neurons);
  for (std::size_t r = 0; r < tile.rows(); ++r) {
    std::fill(sums.begin(), sums.end(), 0);
    for (const gpu::DescriptorId descriptor : tile.row(r)) {
      const std::uint16_t* const plane = map.planes.data() + descriptor * neurons;
      for (std::size_t i = 0; i < neurons; ++i) {
        sums[i] += plane[i];
      }
    }
    std::int32_t best = gpu::padded_norm;
    gpu::Neuron bmu = gpu::no_neuron;
    for (gpu::Neuron neuron = 0; neuron < neurons; ++neuron) {
      const std::int32_t score = norm[neuron] - 128 * sums[neuron];
      if (score < best) {
        best = score;
        bmu = neuron;
      }
    }
    tile.bmu()[r] = bmu;
  }
}

/// Weights a second that the widest loads bring from the first-level cache: what no search that
/// reads every weight can pass.
double cached_weights_a_second() {
  constexpr std::size_t weights = 8192;  // 16 KiB
  constexpr int rounds = 20'000;
  const std::vector<std::uint16_t> table(weights, 1);
  std::uint64_t sum = 0;
  const Stopwatch watch;
  for (int round = 0; round < rounds; ++round) {
    sum += gpu::kernels().add_up(table.data(), weights);
  }
  const double seconds = watch.seconds();
  if (sum == 0) {
    throw std::logic_error("nothing was read");
  }
  return static_cast<double>(weights) * rounds / seconds;
}

struct Method {
  std::string name;
  std::size_t rows;
  std::function<void(gpu::Tile&, std::span<const std::uint32_t>)> search;
};

struct Result {
  std::string name;
  std::size_t rows = 0;
  double seconds = 0;
  double adds_a_second = 0;
};

std::vector<Result> measure(const SearchBenchOptions& options, const Map& map,
                            const Articles& articles) {
  const std::size_t neurons = map.codebook.shape.neurons();
  const std::size_t descriptors = map.index.size();
  // The slow ones are timed on as many articles as take them about a second.
  const auto affordable = [&](double adds_a_second) {
    return std::clamp<std::size_t>(
        static_cast<std::size_t>(adds_a_second / (static_cast<double>(neurons) * 11)), 16,
        options.rows);
  };
  std::vector<std::uint16_t> by_neuron(neurons * descriptors);
  constexpr std::size_t at_once = 64;  // planes, so that what is written lies side by side
  for (std::size_t first = 0; first < descriptors; first += at_once) {
    for (std::size_t i = 0; i < neurons; ++i) {
      for (std::size_t v = first; v < std::min(descriptors, first + at_once); ++v) {
        by_neuron[i * descriptors + v] = map.planes[v * neurons + i];
      }
    }
  }
  const std::vector<Method> methods{
      {"node-major, plain loop", affordable(1e9),
       [&](gpu::Tile& tile, auto) { search_literally(map, by_neuron, descriptors, 1, tile); }},
      {"feature-major, plain loop", affordable(3e9),
       [&](gpu::Tile& tile, auto) { search_by_planes(map, tile); }},
      {"brute force", affordable(60e9),
       [&](gpu::Tile& tile, auto rows) { gpu::search_brute(map.codebook, tile, rows); }},
      {"pruned", options.rows,
       [&](gpu::Tile& tile, auto rows) {
         static_cast<void>(gpu::search_pruned(map.codebook, tile, rows));
       }},
  };
  constexpr std::size_t checked = 16;
  Rows expected(articles, map.codebook.tree, checked);
  search_literally(map, map.planes, 1, neurons, expected.tile());
  std::vector<Rows> rows;
  for (const Method& method : methods) {
    Rows few(articles, map.codebook.tree, checked);
    static_cast<void>(few.time(method.search));
    if (!std::equal(few.tile().bmu().begin(), few.tile().bmu().end(),
                    expected.tile().bmu().begin())) {
      throw std::runtime_error("a search (" + method.name + ") is wrong: this is a fault");
    }
    rows.emplace_back(articles, map.codebook.tree, method.rows);
  }
  std::vector<std::vector<double>> seconds(methods.size());
  for (unsigned repeat = 0; repeat < options.repeats; ++repeat) {
    for (std::size_t m = 0; m < methods.size(); ++m) {
      seconds[m].push_back(rows[m].time(methods[m].search));
    }
  }
  std::vector<Result> results;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const double middle = median(seconds[m]);
    const auto uses = static_cast<double>(rows[m].tile().descriptors().size());
    results.push_back(
        {methods[m].name, rows[m].size(), middle, uses * static_cast<double>(neurons) / middle});
  }
  return results;
}

int search_on_cpu(Session& session, const SearchBenchOptions& options) {
  const auto atlas = store::Atlas::open(options.atlas, store::Atlas::Access::read);
  const auto store = store::Store::open(options.store, store::Store::Access::read);
  const Map map(*atlas);
  const Articles articles = read_articles(*store, *atlas, map.index, options.rows);
  const std::vector<Result> results = measure(options, map, articles);
  const double ceiling = cached_weights_a_second();
  if (options.json) {
    nlohmann::ordered_json json{{"side", map.side},
                                {"descriptors", map.index.size()},
                                {"mean_descriptors", articles.mean_descriptors()},
                                {"processor", gpu::kernels().name},
                                {"cached_loads_a_second", ceiling}};
    for (const Result& result : results) {
      json["methods"].push_back({{"name", result.name},
                                 {"articles", result.rows},
                                 {"seconds", result.seconds},
                                 {"adds_a_second", result.adds_a_second}});
    }
    session.out() << json.dump(2) << '\n';
    return exit_done;
  }
  session.out() << "side " << std::to_string(map.side) << ", " << std::to_string(map.index.size())
                << " descriptors, " << fixed(articles.mean_descriptors(), 2)
                << " an article; one core, " << gpu::kernels().name << "; first-level cache "
                << fixed(ceiling / 1e9, 0) << " G weights/s\n";
  session.out() << "method\tarticles\tG adds/s\tof the cache's\ttimes the first\n";
  for (const Result& result : results) {
    session.out() << result.name << '\t' << std::to_string(result.rows) << '\t'
                  << fixed(result.adds_a_second / 1e9, 2) << '\t'
                  << fixed(100 * result.adds_a_second / ceiling, 1) << " %\t"
                  << fixed(result.adds_a_second / results.front().adds_a_second, 1) << '\n';
  }
  return exit_done;
}

}  // namespace

Run define_search_bench(CLI::App& command) {
  auto options = std::make_shared<SearchBenchOptions>();
  add_atlas_option(command, options->atlas)->required();
  add_store_option(command, options->store)
      ->required()
      ->description("The store that the atlas was trained on");
  command
      .add_option(
          "--articles", options->rows,
          "How many articles to search for at most (default: 50000 on the CPU, all on a GPU)")
      ->check(CLI::Range(std::size_t{1}, std::size_t{200'000'000}).description(""))
      ->type_name("N");
  command.add_option("--device", options->device, "What is measured: cpu or cuda")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpu", "cuda"}).description(""))
      ->type_name("DEVICE");
  command.add_option("--tile-rows", options->tile_rows, "Articles that a GPU takes at once")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 24U).description(""))
      ->type_name("N");
  command.add_flag("!--no-peers", options->peers,
                   "On a GPU, leave aside the searches that ours are compared with");
  command.add_option("--repeats", options->repeats, "Runs of each method")
      ->capture_default_str()
      ->check(CLI::Range(1U, 1000U).description(""))
      ->type_name("N");
  add_json_option(command, options->json);
  return [options](Session& session) {
    if (options->device == "cuda") {
      return search_on_gpu(session, *options);
    }
    if (options->rows == 0) {
      options->rows = 50'000;
    }
    return search_on_cpu(session, *options);
  };
}

}  // namespace somatlas::tools::bench
