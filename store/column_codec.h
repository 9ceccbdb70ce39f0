// Columns of fixed-width integers as byte planes: all lowest bytes, then all second ones, and so
// on. High bytes of neighbours are alike, so zstd finds them when they stand together. Always
// holds: a column is sized only after its bytes are known to be there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "store/varint.h"

namespace somatlas::store {

/// Appends sizeof(T) planes of column.size() bytes.
template <typename T>
void put_column(std::string& out, std::span<const T> column) {
  using Bits = std::make_unsigned_t<T>;
  const std::size_t first = out.size();
  out.resize(first + sizeof(T) * column.size());
  char* to = out.data() + first;
  for (std::size_t plane = 0; plane < sizeof(T); ++plane)
    for (const T value : column)
      *to++ = static_cast<char>(static_cast<Bits>(value) >> (8 * plane));
}

/// Reads rows values. Throws StoreError where there are not as many.
template <typename T>
[[nodiscard]] std::vector<T> get_column(ByteReader& in, std::size_t rows) {
  using Bits = std::make_unsigned_t<T>;
  if (rows > in.left() / sizeof(T))
    throw StoreError("it is cut short");
  const std::string_view bytes = in.text(sizeof(T) * rows);
  std::vector<T> column(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    Bits bits = 0;
    for (std::size_t plane = 0; plane < sizeof(T); ++plane)
      bits = static_cast<Bits>(
          bits |
          static_cast<Bits>(static_cast<Bits>(static_cast<unsigned char>(bytes[plane * rows + r]))
                            << (8 * plane)));
    column[r] = static_cast<T>(bits);
  }
  return column;
}

/// Appends ascending distinct 16-bit numbers as varints of the distance to the one before, less 1.
void put_ascending(std::string& out, std::span<const std::uint16_t> column);
/// Throws StoreError where one passes 65,535.
[[nodiscard]] std::vector<std::uint16_t> get_ascending(ByteReader& in, std::size_t rows);

}  // namespace somatlas::store
