// Walking a MANIFEST's records to the last one.
#include "store/manifest_tail.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string_view>

namespace somatlas::store {

namespace {

constexpr std::size_t block_bytes = 32'768;
constexpr std::size_t header_bytes = 7;
constexpr std::size_t length_at = 4;
constexpr std::size_t type_at = 6;

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
    table[byte] = crc;
  }
  return table;
}();

/// Whether the checksum at the front of record fits its type and some of the bytes behind.
bool fits_another_length(std::string_view record) {
  std::uint32_t stored = 0;
  for (std::size_t i = length_at; i-- > 0;)
    stored = (stored << 8) | byte_at(record, i);
  std::uint32_t crc = ~0U;
  for (std::size_t at = type_at; at < record.size(); ++at) {
    crc = (crc >> 8) ^ crc_table[(crc ^ byte_at(record, at)) & 0xFF];
    const std::uint32_t whole = ~crc;
    if (((whole >> 15) | (whole << 17)) + 0xA282EAD8U == stored)
      return true;
  }
  return false;
}

}  // namespace

bool manifest_ends_in_changed_length(const std::string& directory) {
  std::string name;
  std::getline(std::ifstream(directory + "/CURRENT"), name);
  if (!name.starts_with("MANIFEST-"))  // then it is not even opened
    return false;
  std::ifstream file(directory + "/" + name, std::ios::binary);
  if (!file)
    return false;
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  const std::string_view bytes = all;
  std::size_t at = 0;
  while (at + header_bytes <= bytes.size()) {
    const std::size_t left_of_block = block_bytes - at % block_bytes;
    if (left_of_block < header_bytes) {
      at += left_of_block;
      continue;
    }
    const std::size_t length =
        byte_at(bytes, at + length_at) | (byte_at(bytes, at + length_at + 1) << 8);
    if (length > bytes.size() - at - header_bytes)
      return fits_another_length(bytes.substr(at, left_of_block));
    at += header_bytes + length;
  }
  return false;
}

}  // namespace somatlas::store
