// RocksDB's files, with one rule on top: once anything could not be written, nothing is deleted.
// RocksDB 7.8 takes a MANIFEST whose last write or sync failed for one without that write, and
// deletes the table files which it names; opened again, the directory would be missing them. What
// was kept for nothing goes at the next opening for writing.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace somatlas::store {

/// The system's files under that rule; one for each directory that is open.
[[nodiscard]] std::unique_ptr<rocksdb::Env> make_careful_files();

}  // namespace somatlas::store
