// What a training keeps so that it can go on after any interruption: the assignment its next
// codebook is made from, and the state of the schedule. Always holds: the codebook is a pure
// function of what is kept here and the store, so no weight is written.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/tile.h"
#include "pipeline/article_set.h"
#include "pipeline/atlas_meta.h"
#include "pipeline/schedule.h"
#include "pipeline/training.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

struct Checkpoint {
  TrainingSettings settings;
  std::string store_id;
  std::string store_state;
  std::uint32_t next_epoch = 0;
  std::uint32_t first_radius = 0;
  StopState stop;
  std::string from;                       // the atlas the run goes on from; empty: none
  std::string from_meta;                  // what that atlas says of itself
  std::optional<ArticleChanges> changes;  // against that atlas
};

/// Neurons of the training rows of a set, in row order.
using Assignment = std::vector<gpu::Neuron>;

/// Replaces the checkpoint of a work directory, atomically and durably.
void write_checkpoint(store::Atlas& work, const ArticleSet& set, const Assignment& assignment,
                      const Checkpoint& checkpoint);

/// The assignment alone, of a work directory that nothing is to go on from.
void write_assignment(store::Atlas& work, const ArticleSet& set, const Assignment& assignment);

/// Nothing where none was written. Throws store::StoreError where it is damaged.
[[nodiscard]] std::optional<Checkpoint> read_checkpoint(store::Atlas& work);
/// Throws store::StoreError where it does not fit the set.
[[nodiscard]] Assignment read_assignment(store::Atlas& work, const ArticleSet& set);
/// Of one shard of the set; safe from several threads.
[[nodiscard]] Assignment read_assignment(store::Atlas& work, const ShardRows& rows);
/// Throws the store::StoreError for an assignment that does not fit.
[[noreturn]] void refuse_assignment(const store::Atlas& work);

}  // namespace somatlas::pipeline
