// The initial assignment: by principal components of a sample, or by hash.
#pragma once

#include <functional>

#include "pipeline/article_set.h"
#include "pipeline/pca_start.h"
#include "pipeline/tile_pass.h"
#include "store/store.h"

namespace somatlas::pipeline {

/// The neuron a training row starts from. Safe from several threads.
using StartRule = std::function<gpu::Neuron(const PassRow&)>;

/// Reads the store for the PCA sample where settings.start is pca.
[[nodiscard]] StartRule make_start(store::Store& store, const ArticleSet& set,
                                   const DescriptorIndex& index, const TrainingSettings& settings);

/// The sample of section 2: training articles of lowest hash, at most size of them, in PMID order.
[[nodiscard]] SampleRows read_sample(store::Store& store, const ArticleSet& set,
                                     const DescriptorIndex& index, std::uint64_t seed,
                                     std::size_t size = pca_sample_size);

}  // namespace somatlas::pipeline
