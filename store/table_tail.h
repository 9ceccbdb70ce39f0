// The tail of a table file (SST), which RocksDB believes too easily: it takes the footer as it is,
// and walks through the table's properties before it looks at their checksum. Debian builds it with
// assertions, so a changed byte there ends the process instead of being told.
// Always holds: what is let through leads RocksDB only to bytes that it holds against a checksum.
#pragma once

#include <rocksdb/file_system.h>

#include <cstdint>
#include <string>

namespace somatlas::store {

/// The form of table files that is written, and the only one that is let through.
inline constexpr std::uint32_t table_format_version = 5;

/// Corruption, with the file's name, where the footer, the index of meta blocks or the properties
/// of a table file of so many bytes are not what RocksDB wrote; what the file system says where it
/// cannot be read. Three reads, of some two kilobytes in all. The form is RocksDB's: blocks with a
/// trailer of 5 bytes (the compression's kind, 0, and XXH3), and at the end a footer of 53 bytes
/// (the checksum's kind, the places of the index of meta blocks and of the index, zeros, the form's
/// number, a magic number).
[[nodiscard]] rocksdb::IOStatus check_table_tail(const rocksdb::FSRandomAccessFile& file,
                                                 std::uint64_t file_bytes, const std::string& name);

}  // namespace somatlas::store
