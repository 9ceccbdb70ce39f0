// The initial assignment: by principal components of a sample, or by hash.
#pragma once

#include <functional>

#include "pipeline/article_set.h"
#include "pipeline/pca_start.h"
#include "pipeline/sample_draw.h"
#include "pipeline/tile_pass.h"

namespace somatlas::pipeline {

/// The neuron a training row starts from. Safe from several threads.
using StartRule = std::function<gpu::Neuron(const PassRow&)>;

/// sample: of the training articles; used where settings.start is pca.
[[nodiscard]] StartRule make_start(const Sample& sample, const DescriptorIndex& index,
                                   const TrainingSettings& settings);

}  // namespace somatlas::pipeline
