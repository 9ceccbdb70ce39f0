#include "pipeline/inheritance.h"

#include <algorithm>

#include "store/store_error.h"

namespace somatlas::pipeline {
namespace {

/// Follows one shard of each side by PMID.
void compare_shard(const store::Shard& articles, const ArticleSet& set, const ShardRows& rows,
                   const store::AssignmentShard& earlier, Inheritance& result) {
  std::uint64_t training_row = rows.first_training_row;
  std::size_t old_row = 0;
  for (std::size_t row = 0; row < articles.rows(); ++row) {
    if (!set.selection.takes(articles, row) || set.selection.holds_out(articles.pmid(row))) {
      continue;
    }
    while (old_row < earlier.low.size() && earlier.low[old_row] < articles.low[row]) {
      ++result.changes.gone;
      ++old_row;
    }
    if (old_row == earlier.low.size() || earlier.low[old_row] != articles.low[row]) {
      ++result.changes.added;
    } else if (earlier.fingerprint[old_row++] != fingerprint(articles.row(row))) {
      ++result.changes.changed;
    } else {
      ++result.changes.unchanged;
      result.unchanged[training_row] = true;
      result.assignment[training_row] = earlier.neuron[old_row - 1];
    }
    ++training_row;
  }
  result.changes.gone += earlier.low.size() - old_row;
}

}  // namespace

Inheritance inherit(store::Store& store, const ArticleSet& set, store::Atlas& earlier) {
  Inheritance result;
  result.assignment.assign(set.training, gpu::no_neuron);
  result.unchanged.assign(set.training, false);
  for (const std::uint32_t range : earlier.assignment_ranges()) {
    const auto known = [](const ShardRows& shard, std::uint32_t value) {
      return shard.range < value;
    };
    const auto found = std::lower_bound(set.shards.begin(), set.shards.end(), range, known);
    if (found == set.shards.end() || found->range != range) {
      result.changes.gone +=
          earlier.assignment(range).value_or(store::AssignmentShard{}).low.size();
    }
  }
  for (const ShardRows& rows : set.shards) {
    const auto articles = store.shard(rows.range);
    if (!articles) {
      throw store::StoreError(store.directory() + ": the store changed while it was read");
    }
    const auto assigned = earlier.assignment(rows.range).value_or(store::AssignmentShard{});
    if (assigned.low.size() != assigned.neuron.size() ||
        assigned.fingerprint.size() != assigned.neuron.size()) {
      throw store::StoreError(earlier.directory() +
                              ": its assignment is not complete; train it again");
    }
    compare_shard(*articles, set, rows, assigned, result);
  }
  return result;
}

}  // namespace somatlas::pipeline
