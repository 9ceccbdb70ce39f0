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
  for (std::size_t plane = 0; plane < sizeof(T); ++plane)
    for (const T value : column)
      out.push_back(static_cast<char>(static_cast<Bits>(value) >> (8 * plane)));
}

/// Reads rows values. Throws StoreError where there are not as many.
template <typename T>
[[nodiscard]] std::vector<T> get_column(ByteReader& in, std::size_t rows) {
  using Bits = std::make_unsigned_t<T>;
  if (rows > in.left() / sizeof(T))
    throw StoreError("it is cut short");
  std::vector<Bits> bits(rows);
  for (std::size_t plane = 0; plane < sizeof(T); ++plane) {
    const std::string_view bytes = in.text(rows);
    for (std::size_t r = 0; r < rows; ++r)
      bits[r] = static_cast<Bits>(
          bits[r] | static_cast<Bits>(static_cast<Bits>(static_cast<unsigned char>(bytes[r]))
                                      << (8 * plane)));
  }
  if constexpr (std::is_same_v<T, Bits>)
    return bits;
  else
    return std::vector<T>(bits.begin(), bits.end());
}

/// Appends ascending distinct 16-bit numbers as varints of the distance to the one before, less 1.
void put_ascending(std::string& out, std::span<const std::uint16_t> column);
/// Throws StoreError where one passes 65,535.
[[nodiscard]] std::vector<std::uint16_t> get_ascending(ByteReader& in, std::size_t rows);

}  // namespace somatlas::store
