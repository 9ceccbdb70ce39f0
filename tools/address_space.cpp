// Asks for the least room that the program can begin in, before its libraries begin: their
// initializers end a process that has none, without a word.
#include "tools/address_space.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>

namespace somatlas::tools {
namespace {

// An ingest of small files with two threads runs within it.
constexpr std::size_t least_bytes = std::size_t{80} << 20;
constexpr rlim_t bytes_an_arena = rlim_t{512} << 20;

/// Nothing of the C++ library may be used here, which has not begun either.
void require_least_room(int, char**, char**) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return;
  void* const room = ::mmap(nullptr, least_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room != MAP_FAILED) {
    ::munmap(room, least_bytes);
    return;
  }
  constexpr char sentence[] =
      "somatlas: there is not enough memory: the limit on it (ulimit -v) leaves less than 80 MiB: "
      "raise it, then run the same command again\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, sentence, sizeof sentence - 1);
  ::_exit(1);
}

[[gnu::section(".preinit_array"),
  gnu::used]] void (*const before_libraries)(int, char**, char**) = require_least_room;

}  // namespace

void bound_malloc_arenas() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return;
  ::mallopt(M_ARENA_MAX, static_cast<int>(std::clamp<rlim_t>(limit.rlim_cur / bytes_an_arena, 1,
                                                             rlim_t{INT_MAX})));
}

}  // namespace somatlas::tools
