// What the update files of a synthetic corpus do. Always holds: a function of (seed, articles,
// articles a file, update files); no article is touched by two of them but those brought back.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/synth.h"

namespace somatlas::pipeline {

/// Article numbers, each list ascending.
struct SynthUpdate {
  std::vector<std::uint64_t> revised;
  std::vector<std::uint64_t> deleted;
  std::vector<std::uint64_t> brought_back;  // half of those that the update before deleted
  std::uint64_t added_begin = 0;            // beyond the baseline: those a larger one would have
  std::uint64_t added_end = 0;
};

/// The plan of update file u, from 1. Of a share of the articles (half a file, at most an even
/// part) eight tenths are revised and two deleted; half as many are added.
[[nodiscard]] SynthUpdate plan_synth_update(const SynthOptions& options, std::uint64_t u);

}  // namespace somatlas::pipeline
