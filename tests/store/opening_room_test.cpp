// Opening a store under limits on the process's addresses, from too little on up to enough: it
// opens or there is an exception, and RocksDB never gets as far as a null pointer. No sanitizer's
// build has this test: sanitizers take address space without end.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <new>
#include <string>
#include <utility>

#include "store/store.h"
#include "tests/repetitions.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

std::size_t addresses_taken() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// All that malloc has to give under the limit, in pieces that get smaller.
class AllOfTheHeap {
 public:
  AllOfTheHeap() {
    for (std::size_t bytes = std::size_t{1} << 20; bytes >= sizeof(Piece); bytes /= 2)
      while (auto* piece = static_cast<Piece*>(std::malloc(bytes))) {
        piece->next = first_;
        first_ = piece;
      }
  }
  ~AllOfTheHeap() {
    while (first_ != nullptr)
      std::free(std::exchange(first_, first_->next));
  }
  AllOfTheHeap(const AllOfTheHeap&) = delete;
  AllOfTheHeap& operator=(const AllOfTheHeap&) = delete;

 private:
  struct Piece {
    Piece* next;
  };
  Piece* first_ = nullptr;
};

/// Opens the store under one limit after another, says what came of it, and ends.
[[noreturn]] void open_in_little_room(const std::string& path) {
  constexpr std::size_t most = std::size_t{26} << 20;
  const std::size_t step = most / static_cast<std::size_t>(repetitions(150, 3'000));
  ::mallopt(M_ARENA_MAX, 1);
  (void)Store::open(path, Store::Access::write);  // RocksDB's threads are there from here on
  int refused = 0;
  int opened = 0;
  rlimit usual{};
  ::getrlimit(RLIMIT_AS, &usual);
  const auto limit_to = [&usual](std::size_t bytes) {
    rlimit limit = usual;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_AS, &limit);
  };
  for (std::size_t room = 0; room <= most; room += step) {
    const std::size_t taken = addresses_taken();
    limit_to(taken);
    const AllOfTheHeap heap;
    limit_to(taken + room);
    try {
      (void)Store::open(path, Store::Access::write);
      ++opened;
    } catch (const std::bad_alloc&) {
      ++refused;
    }
    ::setrlimit(RLIMIT_AS, &usual);
  }
  std::cerr << (refused > 0 && opened > 0 ? "both came" : "one came alone") << ": " << refused
            << " refused, " << opened << " opened\n";
  std::exit(0);
}

TEST(OpeningRoom, TooLittleIsAnExceptionAndNeverTheEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TemporaryDirectory directory;
  {
    Random random(test_seed());
    const auto store = Store::open(directory / "store", Store::Access::create);
    const PlainFile file = random_file(random, baseline_key(1), 3, 20);
    store->commit(deltas_of(file), entry_of(file));
  }
  EXPECT_EXIT(open_in_little_room(directory / "store"), testing::ExitedWithCode(0), "both came");
}

}  // namespace
}  // namespace somatlas::store
