// How the tests make and drive backends.
#include "tests/gpu/backends.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/seed.h"

namespace somatlas::gpu::testing {

std::string kind_name(BackendKind kind) {
  switch (kind) {
    case BackendKind::cpu_one_thread:
      return "cpu_one_thread";
    case BackendKind::cpu_two_threads:
      return "cpu_two_threads";
    case BackendKind::cuda:
      return "cuda";
  }
  throw std::logic_error("no such backend kind");
}

ParallelFor threads(std::size_t count) {
  return [count](std::size_t items,
                 const std::function<void(std::size_t begin, std::size_t end)>& body) {
    if (count <= 1) {
      if (items > 0) {
        body(0, items);
      }
      return;
    }
    // Pieces of 1, 2, 3, ... items, dealt round, so that ranges of every size occur.
    std::vector<std::pair<std::size_t, std::size_t>> pieces;
    for (std::size_t begin = 0, size = 1; begin < items; ++size) {
      const std::size_t end = std::min(items, begin + size);
      pieces.emplace_back(begin, end);
      begin = end;
    }
    std::mutex mutex;
    std::exception_ptr error;
    {
      std::vector<std::jthread> workers;
      for (std::size_t worker = 0; worker < count; ++worker) {
        workers.emplace_back([&, worker] {
          try {
            for (std::size_t i = worker; i < pieces.size(); i += count) {
              body(pieces[i].first, pieces[i].second);
            }
          } catch (...) {
            const std::lock_guard lock(mutex);
            error = std::current_exception();
          }
        });
      }
    }
    if (error) {
      std::rethrow_exception(error);
    }
  };
}

std::mt19937_64 generator(std::uint64_t purpose) {
  std::seed_seq sequence{test_seed(), purpose};
  return std::mt19937_64(sequence);
}

namespace {

/// Counts tiles in flight and keeps the first failure.
class Flight {
 public:
  Completion start() {
    const std::lock_guard lock(mutex_);
    ++started_;
    return [this](std::exception_ptr error) {
      const std::lock_guard inner(mutex_);
      ++done_;
      if (error && !error_) {
        error_ = std::move(error);
      }
      changed_.notify_all();
    };
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_ == started_; });
    if (error_) {
      std::rethrow_exception(std::exchange(error_, nullptr));
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t started_ = 0;
  std::size_t done_ = 0;
  std::exception_ptr error_;
};

}  // namespace

void run_rows(Backend& backend, std::vector<Row>& rows, Work work, std::size_t tile_rows) {
  constexpr std::size_t tiles_in_flight = 3;
  std::size_t descriptors = 0;
  for (std::size_t begin = 0; begin < rows.size(); begin += tile_rows) {
    std::size_t here = 0;
    for (std::size_t r = begin; r < std::min(rows.size(), begin + tile_rows); ++r) {
      here += rows[r].descriptors.size();
    }
    descriptors = std::max(descriptors, here);
  }
  std::vector<std::unique_ptr<Tile>> tiles;
  for (std::size_t i = 0; i < tiles_in_flight; ++i) {
    tiles.push_back(backend.make_tile({std::min(tile_rows, rows.size()), descriptors}));
  }
  Flight flight;
  std::size_t begin = 0;
  while (begin < rows.size()) {
    std::vector<std::size_t> firsts;
    for (auto& tile : tiles) {
      if (begin == rows.size()) {
        break;
      }
      firsts.push_back(begin);
      tile->clear();
      const std::size_t end = std::min(rows.size(), begin + tile_rows);
      for (; begin < end; ++begin) {
        tile->add_row(rows[begin].descriptors, rows[begin].use, rows[begin].bmu);
      }
      backend.submit(*tile, work, flight.start());
    }
    flight.wait();
    if (work == Work::accumulate) {
      continue;
    }
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      const Tile& tile = *tiles[i];
      for (std::size_t r = 0; r < tile.rows(); ++r) {
        Row& row = rows[firsts[i] + r];
        row.bmu = tile.bmu()[r];
        row.score = tile.score()[r];
        row.second = tile.second()[r];
      }
    }
  }
}

std::vector<Row> random_rows(std::size_t count, std::uint32_t descriptors, std::size_t most,
                             std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<Row> rows(count);
  for (Row& row : rows) {
    const auto wanted = std::min<std::size_t>(random() % (most + 1), descriptors);
    std::set<DescriptorId> drawn;
    while (drawn.size() < wanted) {
      const double u = unit(random);
      // Every second draw is even over all, so that the last descriptors are met too.
      const double skewed = random() % 2 == 0 ? u : u * u * u * u;
      drawn.insert(static_cast<DescriptorId>(skewed * descriptors));
    }
    row.descriptors.assign(drawn.begin(), drawn.end());
    std::shuffle(row.descriptors.begin(), row.descriptors.end(), random);
    row.use = static_cast<std::uint8_t>(random() % 8 == 0 ? random() % 4
                                                          : row_use::trains | row_use::second);
  }
  return rows;
}

std::vector<std::uint16_t> all_planes(Backend& backend) {
  return planes_of(backend, 0, backend.shape().descriptors);
}

std::vector<std::uint16_t> planes_of(Backend& backend, DescriptorId first, std::size_t count) {
  std::vector<DescriptorId> descriptors(count);
  std::iota(descriptors.begin(), descriptors.end(), first);
  std::vector<std::uint16_t> planes(count * backend.shape().neurons());
  backend.read_planes(descriptors, planes);
  return planes;
}

void load_planes(Backend& backend, const std::vector<std::uint16_t>& planes,
                 const std::vector<std::uint8_t>& vacant) {
  const std::size_t neurons = backend.shape().neurons();
  backend.load(
      [&](DescriptorId first, std::span<std::uint16_t> out) {
        const auto begin = planes.begin() + static_cast<std::ptrdiff_t>(first * neurons);
        std::copy(begin, begin + static_cast<std::ptrdiff_t>(out.size()), out.begin());
      },
      vacant);
}

void BackendTest::SetUp() {
  if (GetParam() == BackendKind::cuda && cuda_devices().empty()) {
    GTEST_SKIP() << cuda_unavailable_reason();
  }
}

std::unique_ptr<Backend> BackendTest::make(MapShape shape) const {
  switch (GetParam()) {
    case BackendKind::cpu_one_thread:
      return make_cpu_backend(shape, threads(1));
    case BackendKind::cpu_two_threads:
      return make_cpu_backend(shape, threads(2));
    case BackendKind::cuda:
      return make_cuda_backend(shape, {});
  }
  throw std::logic_error("no such backend kind");
}

std::string parameter_name(const ::testing::TestParamInfo<BackendKind>& info) {
  return kind_name(info.param);
}

}  // namespace somatlas::gpu::testing
