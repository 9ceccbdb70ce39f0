// Writes what a finished training leaves beside assignment and places: planes with their
// descriptors, cells, articles.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/backend.h"
#include "pipeline/article_set.h"
#include "pipeline/placement.h"
#include "store/atlas.h"
#include "store/store.h"

namespace somatlas::pipeline {

/// frequencies[i]: training articles with the descriptor of id i; descriptors of none have no
/// plane. Returns the number of planes.
std::uint64_t write_planes(store::Atlas& work, store::Store& store, gpu::Backend& backend,
                           const DescriptorIndex& index,
                           const std::vector<std::uint64_t>& frequencies);

/// Gathers labels and heights in one pass over the codebook. articles: training articles.
void write_cells(store::Atlas& work, gpu::Backend& backend, const DescriptorIndex& index,
                 const std::vector<std::uint64_t>& frequencies, std::uint64_t articles,
                 const gpu::Cells& cells, const Placement& placement);

void write_cell_articles(store::Atlas& work, const Placement& placement);

}  // namespace somatlas::pipeline
