// The threads that pipeline/ brings to the leaves: TBB's, as the plain function that gpu/ asks for.
#pragma once

#include "gpu/backend.h"

namespace somatlas::pipeline {

/// Spreads ranges over the current TBB arena.
[[nodiscard]] gpu::ParallelFor tbb_parallel_for();

}  // namespace somatlas::pipeline
