// What an earlier atlas says of a store's training articles: those whose descriptors are what they
// were keep their neuron, new and changed ones must be placed, gone ones are forgotten.
#pragma once

#include <vector>

#include "pipeline/article_set.h"
#include "pipeline/checkpoint.h"
#include "pipeline/training.h"
#include "store/atlas.h"
#include "store/store.h"

namespace somatlas::pipeline {

struct Inheritance {
  Assignment assignment;        // gpu::no_neuron where the article is new or changed
  std::vector<bool> unchanged;  // a training row
  ArticleChanges changes;
};

/// Compares by PMID and fingerprint. Reads every shard and every assignment shard once.
[[nodiscard]] Inheritance inherit(store::Store& store, const ArticleSet& set,
                                  store::Atlas& earlier);

}  // namespace somatlas::pipeline
