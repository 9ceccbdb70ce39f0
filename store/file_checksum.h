// The checksum of whole table files: CRC-32C, as RocksDB's own generator makes it and by its name,
// so that either reads what the other wrote. Debian's RocksDB makes it a table's step a byte.
#pragma once

#include <rocksdb/file_checksum.h>

#include <memory>

namespace somatlas::store {

/// By the processor's own instruction where it has one, else RocksDB's.
[[nodiscard]] std::shared_ptr<rocksdb::FileChecksumGenFactory> file_checksums();

}  // namespace somatlas::store
