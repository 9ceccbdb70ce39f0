// RocksDB's files, with two rules on top. No table file is opened whose tail has changed, which
// RocksDB would believe (store/table_tail.h). Once anything could not be written, nothing is
// deleted: RocksDB 7.8 takes a MANIFEST whose last write or sync failed for one without that write,
// and deletes the table files which it names; opened again, the directory would be missing them.
// What was kept for nothing goes at the next opening for writing.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace somatlas::store {

/// The system's files under these rules; one for each directory that is open.
[[nodiscard]] std::unique_ptr<rocksdb::Env> make_careful_files();

}  // namespace somatlas::store
