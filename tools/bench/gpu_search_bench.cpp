// bench search on a GPU: our brute force and our pruned search beside a node-major kernel, the
// brute-force kernel with that layout, and cuSPARSE. Always holds: before a figure is printed the
// integer methods have found the same unit for every article, and what the definition says for a
// sample; articles and codebook are in device memory before the clock starts.
#include <algorithm>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu/contract.h"
#include "gpu/plane_tree.h"
#include "pipeline/parallel_for.h"
#include "store/atlas.h"
#include "store/store.h"
#include "tools/bench/atlas_articles.h"
#include "tools/bench/bench.h"
#include "tools/bench/gpu_peers.h"
#include "tools/bench/search_bench.h"
#include "tools/figures.h"

namespace somatlas::tools::bench {
namespace {

using gpu::SearchMethod;

std::string name_of(Peer peer) {
  switch (peer) {
    case Peer::node_major:
      return "node-major";
    case Peer::brute_force_node_major:
      return "brute force, node-major";
    case Peer::cusparse_rows_fp32:
      return "cuSPARSE row order, fp32";
    case Peer::cusparse_rows_fp16:
      return "cuSPARSE row order, fp16";
    case Peer::cusparse_columns_fp32:
      return "cuSPARSE column order, fp32";
    case Peer::cusparse_columns_fp16:
      return "cuSPARSE column order, fp16";
  }
  return "";
}

/// A peer is timed on as many articles as take it some seconds at most: adds that it may make.
double affordable_adds(Peer peer) {
  switch (peer) {
    case Peer::node_major:
    case Peer::brute_force_node_major:
    case Peer::cusparse_columns_fp32:
    case Peer::cusparse_columns_fp16:
      return 4e11;
    case Peer::cusparse_rows_fp32:
    case Peer::cusparse_rows_fp16:
      break;
  }
  return 3e12;
}

/// Tile by tile in the order of their last neurons, as a search on the device takes them.
Articles as_searched(const Articles& articles, std::uint32_t side, std::size_t tile_rows) {
  std::vector<std::uint32_t> order(articles.size());
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t first = 0; first < order.size(); first += tile_rows) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(tile_rows, order.size() - first));
    std::stable_sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
      return gpu::tree_place(side, articles.last[a]) < gpu::tree_place(side, articles.last[b]);
    });
  }
  Articles ordered;
  std::vector<gpu::DescriptorId> row;
  for (const std::uint32_t article : order) {
    row.assign(articles.row(article).begin(), articles.row(article).end());
    std::sort(row.begin(), row.end());
    ordered.add(row, articles.last[article]);
  }
  return ordered;
}

/// Our own searches, on tiles whose articles stay on the device.
class OurSearch {
 public:
  OurSearch(gpu::Backend& backend, const Articles& articles, std::size_t tile_rows)
      : backend_(backend), articles_(articles) {
    for (std::size_t first = 0; first < articles.size(); first += tile_rows) {
      const std::size_t end = std::min(articles.size(), first + tile_rows);
      tiles_.push_back(
          backend.make_tile({end - first, articles.offsets[end] - articles.offsets[first]}));
      for (std::size_t r = first; r < end; ++r) {
        tiles_.back()->add_row(articles.row(r), gpu::row_use::trains, articles.last[r]);
      }
    }
  }

  /// Searches from the last neurons on; seconds of the device's time.
  double search(SearchMethod method) {
    std::size_t row = 0;
    for (const auto& tile : tiles_) {
      const auto from = articles_.last.begin() + static_cast<std::ptrdiff_t>(row);
      std::copy_n(from, tile->rows(), tile->bmu().begin());
      row += tile->rows();
    }
    backend_.search_by(method);
    const double before = backend_.busy_seconds();
    std::vector<std::promise<void>> done(tiles_.size());
    std::vector<std::future<void>> searched;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      searched.push_back(done[i].get_future());
      backend_.submit(*tiles_[i], gpu::Work::search, [&promise = done[i]](std::exception_ptr e) {
        e ? promise.set_exception(std::move(e)) : promise.set_value();
      });
    }
    // All have ended before one of them may throw.
    for (const std::future<void>& search : searched) {
      search.wait();
    }
    for (std::future<void>& search : searched) {
      search.get();
    }
    return backend_.busy_seconds() - before;
  }

  [[nodiscard]] std::vector<gpu::Neuron> found() const {
    std::vector<gpu::Neuron> all;
    for (const auto& tile : tiles_) {
      const std::span<const gpu::Neuron> bmu = std::as_const(*tile).bmu();
      all.insert(all.end(), bmu.begin(), bmu.end());
    }
    return all;
  }

 private:
  gpu::Backend& backend_;
  const Articles& articles_;
  std::vector<std::unique_ptr<gpu::Tile>> tiles_;
};

void load(gpu::Backend& backend, store::Atlas& atlas, const pipeline::DescriptorIndex& index) {
  const std::size_t neurons = backend.shape().neurons();
  const gpu::ParallelFor parallel_for = pipeline::tbb_parallel_for();
  backend.load(
      [&](gpu::DescriptorId first, std::span<std::uint16_t> out) {
        parallel_for(out.size() / neurons, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            const auto plane = plane_of(atlas, index, first + static_cast<gpu::DescriptorId>(i));
            std::copy(plane.begin(), plane.end(),
                      out.begin() + static_cast<std::ptrdiff_t>(i * neurons));
          }
        });
      },
      atlas.cells().vacant);
}

void give_planes(gpu::Backend& backend, GpuPeers& peers) {
  const std::size_t neurons = backend.shape().neurons();
  const std::size_t descriptors = backend.shape().descriptors;
  const std::size_t at_once = std::max<std::size_t>(1, (std::size_t{256} << 20) / neurons);
  std::vector<std::uint16_t> planes(at_once * neurons);
  for (std::size_t first = 0; first < descriptors; first += at_once) {
    std::vector<gpu::DescriptorId> ids(std::min(at_once, descriptors - first));
    std::iota(ids.begin(), ids.end(), static_cast<gpu::DescriptorId>(first));
    const std::span<std::uint16_t> part(planes.data(), ids.size() * neurons);
    backend.read_planes(ids, part);
    peers.put_planes(static_cast<gpu::DescriptorId>(first), part);
  }
}

/// The definition on a sample of the articles, with the atlas's own planes.
void require_definition(store::Atlas& atlas, const pipeline::DescriptorIndex& index,
                        const Articles& articles, const std::vector<gpu::Neuron>& found) {
  constexpr std::size_t sample = 64;
  const store::AtlasCells cells = atlas.cells();
  const std::size_t step = std::max<std::size_t>(1, articles.size() / sample);
  for (std::size_t r = 0; r < articles.size(); r += step) {
    std::vector<std::int32_t> sums(cells.vacant.size());
    for (const gpu::DescriptorId descriptor : articles.row(r)) {
      const std::vector<std::uint16_t> plane = plane_of(atlas, index, descriptor);
      std::transform(sums.begin(), sums.end(), plane.begin(), sums.begin(),
                     [](std::int32_t sum, std::uint16_t weight) { return sum + weight; });
    }
    std::int32_t best = gpu::padded_norm;
    gpu::Neuron bmu = gpu::no_neuron;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::int32_t score = gpu::norm_of(cells.square_sum[i]) - 128 * sums[i];
      if (cells.vacant[i] == 0 && score < best) {
        best = score;
        bmu = static_cast<gpu::Neuron>(i);
      }
    }
    if (found[r] != bmu) {
      throw std::runtime_error("a search on the GPU is not what the definition says: a fault");
    }
  }
}

struct Method {
  std::string name;
  std::optional<Peer> peer;  // none: our own
  SearchMethod ours = SearchMethod::automatic;
  std::size_t rows = 0;
  std::string why_not;  // empty where it ran
  std::optional<double> differing;
  std::vector<double> seconds;
  double adds = 0;

  [[nodiscard]] std::optional<double> adds_a_second() const {
    return why_not.empty() ? std::optional(adds / median(seconds)) : std::nullopt;
  }
};

std::vector<Method> methods_for(const Articles& articles, std::size_t neurons, bool with_peers) {
  std::vector<Method> methods;
  const double adds_an_article = articles.mean_descriptors() * static_cast<double>(neurons);
  const auto add = [&](const std::string& name, std::optional<Peer> peer, SearchMethod ours) {
    Method& method = methods.emplace_back();
    method.name = name;
    method.peer = peer;
    method.ours = ours;
    method.rows = articles.size();
    if (peer) {
      const auto affordable = static_cast<std::size_t>(affordable_adds(*peer) / adds_an_article);
      method.rows = std::clamp<std::size_t>(affordable, 1, articles.size());
    }
    method.adds = static_cast<double>(articles.offsets[method.rows]) * static_cast<double>(neurons);
  };
  if (with_peers) {
    for (const Peer peer : all_peers) {
      add(name_of(peer), peer, SearchMethod::automatic);
    }
  }
  add("brute force", std::nullopt, SearchMethod::brute_force);
  add("pruned", std::nullopt, SearchMethod::pruned);
  return methods;
}

double differing_share(const std::vector<gpu::Neuron>& some, const std::vector<gpu::Neuron>& all) {
  std::size_t differing = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    differing += some[i] != all[i] ? 1 : 0;
  }
  return static_cast<double>(differing) / static_cast<double>(some.size());
}

/// Runs a peer once, checks it, and says in the method how it did or why it did not run.
void try_peer(GpuPeers* peers, const std::string& no_peers, Method& method,
              const std::vector<gpu::Neuron>& expected) {
  method.why_not = peers == nullptr ? no_peers : peers->why_not(*method.peer);
  if (!method.why_not.empty()) {
    return;
  }
  std::vector<gpu::Neuron> found;
  try {
    found = peers->run(*method.peer, method.rows).bmu;
  } catch (const std::runtime_error& error) {
    method.why_not = error.what();
    return;
  }
  const double differing = differing_share(found, expected);
  if (!is_exact(*method.peer)) {
    method.differing = differing;
  } else if (differing != 0) {
    throw std::runtime_error("a search (" + method.name + ") is wrong: this is a fault");
  }
}

void measure(OurSearch& ours, GpuPeers* peers, std::vector<Method>& methods, unsigned repeats) {
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    for (Method& method : methods) {
      if (!method.peer) {
        method.seconds.push_back(ours.search(method.ours));
      } else if (method.why_not.empty()) {
        method.seconds.push_back(peers->run(*method.peer, method.rows).seconds);
      }
    }
  }
}

nlohmann::ordered_json to_json(const Method& method) {
  nlohmann::ordered_json json{{"name", method.name}};
  if (!method.why_not.empty()) {
    json["why_not"] = method.why_not;
    return json;
  }
  json["articles"] = method.rows;
  json["seconds"] = median(method.seconds);
  json["adds_a_second"] = *method.adds_a_second();
  if (method.differing) {
    json["differing_share"] = *method.differing;
  }
  return json;
}

}  // namespace

int search_on_gpu(Session& session, const SearchBenchOptions& options) {
  const auto atlas = store::Atlas::open(options.atlas, store::Atlas::Access::read);
  const auto store = store::Store::open(options.store, store::Store::Access::read);
  const pipeline::DescriptorIndex index = descriptor_index(*atlas);
  const gpu::MapShape shape = shape_of(*atlas, index);
  const GpuCeilings ceilings = measure_gpu_ceilings();
  const std::size_t most = options.rows == 0 ? SIZE_MAX : options.rows;
  const Articles articles =
      as_searched(read_articles(*store, *atlas, index, most), shape.side, options.tile_rows);
  const auto backend = gpu::make_cuda_backend(shape, {.device = 0, .most_descriptors = 1});
  load(*backend, *atlas, index);
  OurSearch ours(*backend, articles, options.tile_rows);

  static_cast<void>(ours.search(SearchMethod::pruned));
  const std::vector<gpu::Neuron> expected = ours.found();
  require_definition(*atlas, index, articles, expected);
  static_cast<void>(ours.search(SearchMethod::brute_force));
  if (ours.found() != expected) {
    throw std::runtime_error("brute force and the pruned search differ: this is a fault");
  }
  std::unique_ptr<GpuPeers> peers;
  std::string no_peers;
  try {
    if (options.peers) {
      peers = make_gpu_peers(shape, backend->read_cells(), articles);
      give_planes(*backend, *peers);
    }
  } catch (const std::runtime_error& error) {
    peers.reset();
    no_peers = error.what();
  }
  std::vector<Method> methods = methods_for(articles, shape.neurons(), options.peers);
  for (Method& method : methods) {
    if (method.peer) {
      try_peer(peers.get(), no_peers, method, expected);
    }
  }
  measure(ours, peers.get(), methods, options.repeats);

  const double ceiling = ceilings.cached_weights_a_second;
  if (options.json) {
    nlohmann::ordered_json json{{"side", shape.side},
                                {"descriptors", shape.descriptors},
                                {"mean_descriptors", articles.mean_descriptors()},
                                {"device", backend->name()},
                                {"cached_loads_a_second", ceiling},
                                {"tile_rows", options.tile_rows}};
    for (const Method& method : methods) {
      json["methods"].push_back(to_json(method));
    }
    session.out() << json.dump(2) << '\n';
    return exit_done;
  }
  session.out() << "side " << shape.side << ", " << count_of(shape.descriptors, "descriptor")
                << ", " << fixed(articles.mean_descriptors(), 2) << " an article; "
                << backend->name() << "; first-level caches " << fixed(ceiling / 1e12, 2)
                << " T weights/s\n"
                << "method\tarticles\tms\tT adds/s\tof the caches'\ttimes node-major\tdiffers\n";
  const std::optional<double> node_major =
      options.peers ? methods.front().adds_a_second() : std::nullopt;
  for (const Method& method : methods) {
    if (!method.why_not.empty()) {
      session.out() << method.name << "\t-\t" << method.why_not << '\n';
      continue;
    }
    const double speed = *method.adds_a_second();
    session.out() << method.name << '\t' << method.rows << '\t'
                  << fixed(1e3 * median(method.seconds), 2) << '\t' << fixed(speed / 1e12, 3)
                  << '\t' << fixed(100 * speed / ceiling, 1) << " %\t"
                  << fixed(node_major ? std::optional(speed / *node_major) : std::nullopt, 1)
                  << '\t' << (method.differing ? fixed(100 * *method.differing, 3) + " %" : "no")
                  << '\n';
  }
  return exit_done;
}

}  // namespace somatlas::tools::bench
