// Counts what a store holds, so that every record that ever came in is accounted for.
// Always holds: records = articles + bare + superseded + deleted + left_out, or the store is at
// fault.
#include <algorithm>

#include "pipeline/ingest_files.h"

namespace somatlas::pipeline {

StoreCensus take_census(store::Store& store, std::span<const store::FileKey> files) {
  StoreCensus census;
  for (const store::LedgerEntry& entry : store.ledger()) {
    census.records += entry.citations + entry.earlier_citations;
    census.left_out += entry.earlier_left_out;
    census.unknown_headings += entry.unknown_headings;
    for (const std::uint64_t count : entry.left_out) {
      census.left_out += count;
    }
  }
  for (const std::uint32_t range : store.ranges()) {
    const std::optional<store::Shard> shard = store.shard(range);
    if (!shard) {
      continue;
    }
    std::vector<bool> of_files;  // by key
    for (const store::FileKey& key : shard->keys) {
      of_files.push_back(std::ranges::binary_search(files, key));
    }
    for (std::size_t r = 0; r < shard->rows(); ++r) {
      if (of_files[shard->key[r]]) {
        const bool deleted = shard->state[r] == store::ArticleState::deleted;
        census.revised += !deleted && shard->records[r] > 1 ? 1 : 0;
        census.deleted_here += deleted && shard->records[r] != 0 ? 1 : 0;
      }
      if (shard->records[r] != 0) {
        census.superseded += shard->records[r] - 1;
      }
      switch (shard->state[r]) {
        case store::ArticleState::article:
          ++census.articles;
          break;
        case store::ArticleState::bare:
          ++census.bare;
          break;
        case store::ArticleState::deleted:
          ++census.tombstones;
          census.deleted += shard->records[r] != 0 ? 1 : 0;
          break;
      }
    }
    census.descriptor_uses += shard->descriptors.size();
  }
  return census;
}

}  // namespace somatlas::pipeline
