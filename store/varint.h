// Integers as bytes: LEB128 varints, zigzag for signed ones, and a reader that knows where its
// bytes end. Always holds: a reader never passes its end, takes only the shortest form of a number,
// and throws StoreError where bytes are not what a writer makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/store_error.h"

namespace somatlas::store {

/// Appends value in groups of seven bits, lowest first.
inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

/// 0, -1, 1, -2 ... as 0, 1, 2, 3 ...
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t code) {
  return static_cast<std::int64_t>(code >> 1) ^ -static_cast<std::int64_t>(code & 1);
}

/// Appends count bytes of value, lowest first.
inline void put_little_endian(std::string& out, std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    out.push_back(static_cast<char>(value >> (8 * i)));
}

/// Appends count bytes of value, highest first: keys, so that they sort as numbers do.
inline void put_big_endian(std::string& out, std::uint64_t value, unsigned count) {
  for (unsigned i = count; i-- > 0;)
    out.push_back(static_cast<char>(value >> (8 * i)));
}

/// Reads what the functions above wrote. Every member throws StoreError past the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes)
      : next_(reinterpret_cast<const unsigned char*>(bytes.data())), end_(next_ + bytes.size()) {}

  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - next_); }

  [[nodiscard]] std::uint8_t byte() {
    need(1);
    return *next_++;
  }

  /// limit: the largest value that makes sense here.
  [[nodiscard]] std::uint64_t varint(std::uint64_t limit) {
    need(1);
    std::uint64_t value = *next_++;
    if (value >= 0x80)
      value = long_varint(value & 0x7F);
    if (value > limit)
      throw StoreError("a number is larger than it can be");
    return value;
  }

  [[nodiscard]] std::string_view text(std::size_t size) {
    need(size);
    const std::string_view view(reinterpret_cast<const char*>(next_), size);
    next_ += size;
    return view;
  }

  [[nodiscard]] std::uint64_t little_endian(unsigned count) {
    need(count);
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i)
      value |= std::uint64_t{*next_++} << (8 * i);
    return value;
  }

  [[nodiscard]] std::uint64_t big_endian(unsigned count) {
    need(count);
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i)
      value = value << 8 | *next_++;
    return value;
  }

  void expect_end() const {
    if (next_ != end_)
      throw StoreError("there are bytes behind its end");
  }

 private:
  void need(std::size_t size) const {
    if (left() < size)
      throw StoreError("it is cut short");
  }
  [[nodiscard]] std::uint64_t long_varint(std::uint64_t value);

  const unsigned char* next_;
  const unsigned char* end_;
};

}  // namespace somatlas::store
