// Times the GPU's search, statistics and update on rows of MEDLINE's shape, and checks every size
// against the CPU backend before it prints a number: the whole codebook after an update, and the
// places of a sample of rows. Always holds: a wrong result ends the program with exit 1.
// Arguments: rows, then sides. Not run by CTest; needs a GPU.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gpu/backend.h"

namespace somatlas::gpu {
namespace {

constexpr std::uint32_t descriptors = 30'000;
constexpr std::size_t tile_rows = 262'144;
constexpr std::size_t sample_rows = 2'048;
constexpr int repeats = 5;

struct Rows {
  std::vector<std::uint32_t> offsets{0};
  std::vector<DescriptorId> ids;
  std::vector<std::uint32_t> topic;
  [[nodiscard]] std::size_t size() const { return topic.size(); }
};

/// Lengths of mean 11.8; half of a row's descriptors come from its topic's own hundred, the others
/// from all, by a law between 1/rank and flat.
[[nodiscard]] Rows draw_rows(std::size_t count) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto zipf = [&](double limit) {
    return static_cast<std::uint32_t>(10.0 * (std::pow(limit / 10.0 + 1.0, unit(random)) - 1.0));
  };
  constexpr std::uint32_t topics = 4'000;
  constexpr std::uint32_t topic_size = 100;
  std::vector<DescriptorId> of_topic(std::size_t{topics} * topic_size);
  for (DescriptorId& id : of_topic) {
    id = zipf(descriptors);
  }
  Rows rows;
  std::poisson_distribution<int> extra(7.3);
  for (std::size_t r = 0; r < count; ++r) {
    const std::uint32_t topic = std::min(topics - 1, zipf(topics));
    const int wanted = 5 + extra(random);
    const auto begin = static_cast<std::ptrdiff_t>(rows.ids.size());
    for (int k = 0; k < wanted; ++k) {
      const DescriptorId id =
          std::min(descriptors - 1,
                   k % 2 == 0 ? of_topic[std::size_t{topic} * topic_size + zipf(topic_size - 1)]
                              : zipf(descriptors));
      if (std::find(rows.ids.begin() + begin, rows.ids.end(), id) == rows.ids.end()) {
        rows.ids.push_back(id);
      }
    }
    rows.offsets.push_back(static_cast<std::uint32_t>(rows.ids.size()));
    rows.topic.push_back(topic);
  }
  return rows;
}

[[nodiscard]] ParallelFor all_threads() {
  return [](std::size_t count, const std::function<void(std::size_t, std::size_t)>& body) {
    const std::size_t workers = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t step = std::max<std::size_t>(1, count / (8 * workers));
    std::atomic<std::size_t> next{0};
    std::vector<std::jthread> threads;
    for (std::size_t w = 0; w < workers; ++w) {
      threads.emplace_back([&] {
        for (std::size_t begin = next.fetch_add(step); begin < count;
             begin = next.fetch_add(step)) {
          body(begin, std::min(count, begin + step));
        }
      });
    }
  };
}

[[nodiscard]] std::vector<std::unique_ptr<Tile>> make_tiles(Backend& backend, const Rows& rows,
                                                            const std::vector<Neuron>& places,
                                                            std::size_t second_every) {
  std::vector<std::unique_ptr<Tile>> tiles;
  for (std::size_t begin = 0; begin < rows.size(); begin += tile_rows) {
    const std::size_t end = std::min(rows.size(), begin + tile_rows);
    tiles.push_back(backend.make_tile({end - begin, rows.offsets[end] - rows.offsets[begin]}));
    for (std::size_t r = begin; r < end; ++r) {
      std::uint8_t use = row_use::trains;
      if (r % second_every == 0) {
        use = static_cast<std::uint8_t>(use | row_use::second);
      }
      tiles.back()->add_row(
          {rows.ids.data() + rows.offsets[r], rows.offsets[r + 1] - rows.offsets[r]}, use,
          places[r]);
    }
  }
  return tiles;
}

/// Seconds from the first submit to the last completion.
double run(Backend& backend, std::vector<std::unique_ptr<Tile>>& tiles, Work work) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::promise<void>> promises(tiles.size());
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    backend.submit(*tiles[i], work, [&promise = promises[i]](std::exception_ptr failure) {
      if (failure) {
        promise.set_exception(failure);
      } else {
        promise.set_value();
      }
    });
  }
  for (auto& promise : promises) {
    promise.get_future().get();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

[[nodiscard]] double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void require(bool right, const char* what) {
  if (!right) {
    throw std::runtime_error(std::string("the GPU and the CPU differ in ") + what);
  }
}

void compare_codebooks(Backend& gpu, Backend& cpu) {
  const std::size_t neurons = gpu.shape().neurons();
  const std::size_t step = std::max<std::size_t>(1, (std::size_t{64} << 20) / neurons);
  std::vector<std::uint16_t> left(step * neurons);
  std::vector<std::uint16_t> right(step * neurons);
  for (std::size_t first = 0; first < descriptors; first += step) {
    const std::size_t values = std::min(step, descriptors - first) * neurons;
    std::vector<DescriptorId> some(values / neurons);
    std::iota(some.begin(), some.end(), static_cast<DescriptorId>(first));
    gpu.read_planes(some, {left.data(), values});
    cpu.read_planes(some, {right.data(), values});
    require(
        std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(values), right.begin()),
        "the planes");
  }
  const Cells a = gpu.read_cells();
  const Cells b = cpu.read_cells();
  require(
      a.norm == b.norm && a.square_sum == b.square_sum && a.vacant == b.vacant && a.hits == b.hits,
      "the cells");
}

void compare_places(Backend& cpu, const Rows& rows,
                    const std::vector<std::unique_ptr<Tile>>& tiles) {
  auto sample = cpu.make_tile({sample_rows, sample_rows * 64});
  const Tile& first = *tiles.front();
  const std::size_t count = std::min(sample_rows, first.rows());
  for (std::size_t r = 0; r < count; ++r) {
    sample->add_row({rows.ids.data() + rows.offsets[r], rows.offsets[r + 1] - rows.offsets[r]},
                    first.use()[r]);
  }
  std::promise<void> promise;
  cpu.submit(*sample, Work::search, [&](std::exception_ptr failure) {
    failure ? promise.set_exception(failure) : promise.set_value();
  });
  promise.get_future().get();
  for (std::size_t r = 0; r < count; ++r) {
    require(sample->bmu()[r] == first.bmu()[r] && sample->score()[r] == first.score()[r] &&
                sample->second()[r] == first.second()[r],
            "a place");
  }
}

void measure(std::uint32_t side, const Rows& rows) {
  const MapShape shape{.side = side, .descriptors = descriptors};
  const auto gpu = make_cuda_backend(shape, {});
  const auto cpu = make_cpu_backend(shape, all_threads());
  std::mt19937_64 random(2);
  std::vector<Neuron> topic_place(8'000);
  for (Neuron& place : topic_place) {
    place = static_cast<Neuron>(random() % shape.neurons());
  }
  std::vector<Neuron> start(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    start[r] = topic_place[2 * rows.topic[r] + random() % 2];
  }
  const std::uint32_t radius = side / 16;
  for (Backend* backend : {gpu.get(), cpu.get()}) {
    auto tiles = make_tiles(*backend, rows, start, 100);
    backend->clear_statistics();
    run(*backend, tiles, Work::accumulate);
    backend->update(radius);
  }
  compare_codebooks(*gpu, *cpu);

  std::vector<double> cold;
  std::vector<double> placed;
  std::vector<double> seconds;
  std::vector<double> accumulate;
  std::vector<double> update;
  const std::vector<Neuron> unknown(rows.size(), no_neuron);
  {
    auto tiles = make_tiles(*gpu, rows, unknown, rows.size());
    run(*gpu, tiles, Work::search);
  }
  {
    // A search leaves its BMUs in the tile, so only the first of these has none to sort by.
    for (int i = 0; i < 3; ++i) {
      auto tiles = make_tiles(*gpu, rows, unknown, rows.size());
      cold.push_back(run(*gpu, tiles, Work::search));
    }
    auto tiles = make_tiles(*gpu, rows, unknown, rows.size());
    run(*gpu, tiles, Work::search);
    compare_places(*cpu, rows, tiles);
    for (int i = 0; i < repeats; ++i) {
      placed.push_back(run(*gpu, tiles, Work::search));
    }
    compare_places(*cpu, rows, tiles);
    gpu->clear_statistics();
    for (int i = 0; i < repeats; ++i) {
      accumulate.push_back(run(*gpu, tiles, Work::accumulate));
    }
  }
  {
    auto tiles = make_tiles(*gpu, rows, unknown, 1);
    run(*gpu, tiles, Work::search);
    compare_places(*cpu, rows, tiles);
    for (int i = 0; i < repeats; ++i) {
      seconds.push_back(run(*gpu, tiles, Work::search));
    }
  }
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    gpu->update(1);
    update.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  const double adds = static_cast<double>(rows.ids.size()) * static_cast<double>(shape.neurons());
  std::printf("%4u  %8zu  %5.2f  %8.2f  %6.2f  %8.2f  %6.2f  %8.2f  %8.2f  %8.2f\n", side,
              rows.size(), static_cast<double>(rows.ids.size()) / static_cast<double>(rows.size()),
              1e3 * median(cold), adds / median(cold) / 1e12, 1e3 * median(placed),
              adds / median(placed) / 1e12, 1e3 * median(seconds), 1e3 * median(accumulate),
              1e3 * median(update));
  std::fflush(stdout);
}

}  // namespace
}  // namespace somatlas::gpu

int main(int argc, char** argv) {
  try {
    const std::size_t count = argc > 1 ? std::stoull(argv[1]) : 1'000'000;
    const auto rows = somatlas::gpu::draw_rows(count);
    std::printf(
        "search: ms and T adds/s, in the order of rarest descriptors, then of old BMUs; "
        "with second BMUs; accumulate; update. Wall clock, copies included.\n");
    std::printf(
        "side      rows   mean   rarest  T/s       old  T/s      second       acc    update\n");
    for (int i = 2; i < argc; ++i) {
      somatlas::gpu::measure(static_cast<std::uint32_t>(std::stoul(argv[i])), rows);
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "search_bench: " << error.what() << '\n';
    return 1;
  }
}
