// The thread that reports tiles. Always holds: it calls into the runtime only to wait for events,
// and calls done with no lock held.
#include "gpu/cuda_completions.cuh"

#include <utility>

#include "gpu/cuda_check.cuh"

namespace somatlas::gpu {

Completions::Completions(int device) : worker_([this, device] { work(device); }) {}

Completions::~Completions() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  worker_.join();
}

void Completions::when_downloaded(CudaTile& tile, Completion done) {
  push({&tile, nullptr, std::move(done)});
}

void Completions::failed(std::exception_ptr failure, Completion done) {
  push({nullptr, std::move(failure), std::move(done)});
}

void Completions::push(Item item) {
  {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
  }
  changed_.notify_one();
}

void Completions::work(int device) {
  const cudaError_t chosen = cudaSetDevice(device);
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closing_ || !items_.empty(); });
    if (items_.empty()) {
      return;
    }
    const Item item = std::move(items_.front());
    items_.pop_front();
    lock.unlock();
    std::exception_ptr failure = item.failure;
    if (failure == nullptr) {
      try {
        check(chosen);
        item.tile->downloaded().synchronize();
        const double busy = item.tile->computed().seconds_since(item.tile->begun());
        lock.lock();
        busy_seconds_ += busy;
        lock.unlock();
        item.tile->check_fault();
      } catch (...) {
        failure = std::current_exception();
      }
    }
    item.done(failure);
  }
}

}  // namespace somatlas::gpu
