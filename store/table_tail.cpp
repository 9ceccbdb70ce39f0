// From a table file's last byte back to its properties.
#include "store/table_tail.h"

#include <xxhash.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "store/store_error.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

using rocksdb::IOStatus;

constexpr std::size_t footer_bytes = 53;
constexpr std::size_t trailer_bytes = 5;
constexpr std::size_t places_bytes = 40;
constexpr std::uint8_t xxh3_kind = 4;
constexpr std::uint64_t magic_number = 0x88E241B785F4CFF7;
constexpr std::uint64_t block_limit = std::uint64_t{1} << 20;  // properties take a kilobyte

/// Where a block lies, its trailer left out.
struct Place {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
};

/// blocks_end: where the file's last block ends.
Place place(ByteReader& reader, std::uint64_t blocks_end) {
  Place place;
  place.at = reader.varint(blocks_end);
  place.bytes = reader.varint(blocks_end - place.at);
  if (blocks_end - place.at - place.bytes < trailer_bytes)
    throw StoreError("a block passes the end");
  return place;
}

/// The properties' place; index is the content of the index of meta blocks.
Place properties_place(std::string_view index, std::uint64_t blocks_end) {
  ByteReader reader(index);
  while (reader.left() > 0) {
    if (reader.varint(0) != 0)  // no name shares its beginning with the one before
      break;
    const std::uint64_t name_bytes = reader.varint(block_limit);
    const std::uint64_t value_bytes = reader.varint(block_limit);
    const std::string_view name = reader.text(name_bytes);
    ByteReader value(reader.text(value_bytes));
    if (name == "rocksdb.properties")
      return place(value, blocks_end);
  }
  throw StoreError("it names no properties");
}

/// RocksDB's XXH3 of a block with its kind behind it: the kind is mixed in by a multiplication.
std::uint32_t checksum_of(std::string_view block, std::uint8_t kind) {
  constexpr std::uint32_t factor = 0x6B9083D9;
  return static_cast<std::uint32_t>(XXH3_64bits(block.data(), block.size())) ^ kind * factor;
}

}  // namespace

IOStatus check_table_tail(const rocksdb::FSRandomAccessFile& file, std::uint64_t file_bytes,
                          const std::string& name) {
  IOStatus status;
  const auto bytes_at = [&](std::uint64_t at, std::uint64_t bytes) {
    std::string text(bytes, '\0');
    rocksdb::Slice got;
    status = file.Read(at, bytes, rocksdb::IOOptions(), &got, text.data(), nullptr);
    if (!status.ok() || got.size() != bytes)
      throw StoreError("it cannot be read");
    return got.ToString();
  };
  const auto block_at = [&](const Place& place, const char* part) {
    if (place.bytes > block_limit)
      throw StoreError(std::string(part) + " are too long");
    std::string block = bytes_at(place.at, place.bytes + trailer_bytes);
    ByteReader trailer(std::string_view(block).substr(place.bytes));
    const std::uint8_t kind = trailer.byte();
    block.resize(place.bytes);
    if (kind != 0 || trailer.little_endian(4) != checksum_of(block, kind))
      throw StoreError(std::string(part) + " do not fit their checksum");
    return block;
  };
  try {
    if (file_bytes < footer_bytes)
      throw StoreError("it is cut short");
    const std::uint64_t blocks_end = file_bytes - footer_bytes;
    const std::string footer = bytes_at(blocks_end, footer_bytes);
    ByteReader reader(footer);
    const std::uint8_t checksum_kind = reader.byte();
    ByteReader places(reader.text(places_bytes));
    if (checksum_kind != xxh3_kind || reader.little_endian(4) != table_format_version ||
        reader.little_endian(8) != magic_number)
      throw StoreError("its footer is of no form that is written");
    const Place meta_blocks = place(places, blocks_end);
    (void)place(places, blocks_end);  // the index, which RocksDB checks
    const std::string index = block_at(meta_blocks, "the places of its meta blocks");
    (void)block_at(properties_place(index, blocks_end), "its properties");
  } catch (const StoreError& error) {
    if (status.ok())
      return IOStatus::Corruption("the tail of " + name + " has changed", error.what());
  }
  return status;
}

}  // namespace somatlas::store
