// RocksDB's merge of stacked shard deltas, by the rule of store/shard.h.
// Always holds: a delta that cannot be read fails the merge, never drops out of it.
#pragma once

#include <rocksdb/merge_operator.h>

#include <memory>
#include <string>

namespace somatlas::store {

[[nodiscard]] std::shared_ptr<rocksdb::MergeOperator> shard_merge_operator();

/// Why the last merge on this thread failed, and forgets it; empty: none did.
[[nodiscard]] std::string take_merge_fault();

}  // namespace somatlas::store
