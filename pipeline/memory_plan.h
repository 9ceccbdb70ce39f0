// What a training will take of host and device memory, and the largest map that would fit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pipeline/article_set.h"
#include "pipeline/tile_plan.h"
#include "pipeline/training.h"

namespace somatlas::pipeline {

/// Bytes that this process may still take: what the system has available, within its control
/// group's limit and that on its address space.
[[nodiscard]] std::size_t available_host_memory();

/// Device::cpu or Device::cuda: automatic is settled by what is there. Throws TrainingError where a
/// GPU is asked for and there is none.
[[nodiscard]] Device choose_device(Device asked);

[[nodiscard]] MemoryPlan plan_memory(const TrainingOptions& options, Device device,
                                     const ArticleSet& training, const ArticleSet& placement,
                                     const TilePlan& tiles, const gpu::TileCapacity& capacity,
                                     std::uint32_t descriptors);

}  // namespace somatlas::pipeline
