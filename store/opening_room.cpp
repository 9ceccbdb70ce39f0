// Takes what an opening may take, and gives it back.
#include "store/opening_room.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <cstddef>
#include <new>

namespace somatlas::store {
namespace {

// Making a store, opening it and its compaction take 10 MiB.
constexpr std::size_t opening_bytes = std::size_t{24} << 20;

std::size_t stack_bytes() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (::pthread_getattr_default_np(&attributes) == 0) {
    ::pthread_attr_getstacksize(&attributes, &bytes);
    ::pthread_attr_destroy(&attributes);
  }
  return bytes;
}

}  // namespace

void require_opening_room(int threads) {
  static std::atomic<int> started = 0;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const std::size_t bytes =
        opening_bytes + static_cast<std::size_t>(threads - started) * stack_bytes();
    void* const room = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
      throw std::bad_alloc();
    ::munmap(room, bytes);
  }
  started = threads;
}

}  // namespace somatlas::store
