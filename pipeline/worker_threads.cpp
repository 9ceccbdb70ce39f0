// Starts as many threads as there will be workers, and lets them go once all are there.
#include "pipeline/worker_threads.h"

#include <oneapi/tbb/global_control.h>
#include <sys/mman.h>

#include <latch>
#include <new>
#include <thread>
#include <vector>

namespace somatlas::pipeline {
namespace {

// oneTBB's workers have a stack of this size where those of other threads may be smaller.
constexpr std::size_t worker_stack_bytes = std::size_t{4} << 20;
constexpr std::size_t first_tasks_bytes = std::size_t{16} << 20;  // taken while workers start

void require_room(std::size_t bytes) {
  void* const room = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) {
    throw std::bad_alloc();
  }
  ::munmap(room, bytes);
}

}  // namespace

void require_threads(std::size_t count) {
  using oneapi::tbb::global_control;
  const std::size_t workers =
      (count != 0 ? count : global_control::active_value(global_control::max_allowed_parallelism)) -
      1;
  if (workers == 0) {
    return;
  }
  std::latch all_there(1);
  std::vector<std::jthread> threads;
  try {
    while (threads.size() < workers) {
      threads.emplace_back([&all_there] { all_there.wait(); });
    }
    require_room(workers * worker_stack_bytes + first_tasks_bytes);
  } catch (...) {
    all_there.count_down();
    throw;
  }
  all_there.count_down();
}

}  // namespace somatlas::pipeline
