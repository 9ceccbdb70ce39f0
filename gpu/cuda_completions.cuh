// One thread that waits for submitted tiles and reports them. Always holds: reports come in the
// order of submission, each exactly once, also when the work failed; destruction waits for all of
// them.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "gpu/backend.h"
#include "gpu/cuda_tile.cuh"

namespace somatlas::gpu {

class Completions {
 public:
  /// device: the one whose events are waited for.
  explicit Completions(int device);
  ~Completions();
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  /// Calls done once the tile's results are on the host, with what went wrong if something did.
  void when_downloaded(CudaTile& tile, Completion done);
  /// Calls done with the failure, after the reports that stand before it.
  void failed(std::exception_ptr failure, Completion done);
  /// Seconds that the device has worked on the tiles that were reported.
  [[nodiscard]] double busy_seconds() const {
    const std::lock_guard lock(mutex_);
    return busy_seconds_;
  }

 private:
  struct Item {
    CudaTile* tile;
    std::exception_ptr failure;
    Completion done;
  };
  void push(Item item);
  void work(int device);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool closing_ = false;
  double busy_seconds_ = 0;
  std::thread worker_;
};

}  // namespace somatlas::gpu
