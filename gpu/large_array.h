// Memory for tables that are read all over, zero at first: in large pages where the system lends
// them, since with small ones a search spends its time on finding pages. Always holds: what was
// never written takes no memory.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

namespace somatlas::gpu {

template <class T>
class LargeArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  /// Throws std::bad_alloc where there is no such memory.
  explicit LargeArray(std::size_t size) : size_(size) {
    if (size > (SIZE_MAX - 2 * page) / sizeof(T)) {
      throw std::bad_alloc();
    }
    // Room to begin at a large page.
    std::size_t room = size * sizeof(T) + page;
    void* first = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (first == MAP_FAILED) {
      throw std::bad_alloc();
    }
    mapping_ = {first, Unmap{room}};
    // Only a wish: where it is not granted the array is slower.
    static_cast<void>(::madvise(first, room, MADV_HUGEPAGE));
    first_ = static_cast<T*>(std::align(page, size * sizeof(T), first, room));
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T* data() { return first_; }
  [[nodiscard]] const T* data() const { return first_; }
  [[nodiscard]] T* begin() { return first_; }
  [[nodiscard]] T* end() { return first_ + size_; }
  [[nodiscard]] T& operator[](std::size_t i) { return first_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return first_[i]; }

 private:
  static constexpr std::size_t page = std::size_t{2} << 20;
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(void* mapping) const { ::munmap(mapping, bytes); }
  };

  std::size_t size_;
  std::unique_ptr<void, Unmap> mapping_;
  T* first_ = nullptr;
};

}  // namespace somatlas::gpu
