#include "pipeline/parallel_for.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace somatlas::pipeline {

gpu::ParallelFor tbb_parallel_for() {
  return [](std::size_t count, const std::function<void(std::size_t, std::size_t)>& body) {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, count),
        [&](const tbb::blocked_range<std::size_t>& range) { body(range.begin(), range.end()); });
  };
}

}  // namespace somatlas::pipeline
