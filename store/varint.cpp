// The slow path of reading a varint: two bytes and more, at most ten.
// Always holds: the longest number is 64 bits, and a last group of 0 is refused.
#include "store/varint.h"

namespace somatlas::store {

std::uint64_t ByteReader::long_varint(std::uint64_t value) {
  for (unsigned shift = 7; shift < 64; shift += 7) {
    need(1);
    const std::uint64_t group = *next_++;
    value |= (group & 0x7F) << shift;
    if (group < 0x80) {
      if (group == 0 || (shift == 63 && group > 1))
        throw StoreError("a number is not in its shortest form");
      return value;
    }
  }
  throw StoreError("a number is longer than 64 bits");
}

}  // namespace somatlas::store
