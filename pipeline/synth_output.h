// The two forms a synthetic corpus is written in, and how it is cut into files in both.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "pipeline/synth.h"
#include "pipeline/synth_model.h"

namespace somatlas::pipeline {

/// "synthetic26n0001.xml.gz"; files count from 1.
[[nodiscard]] std::string synth_file_name(std::uint64_t file);

[[nodiscard]] constexpr std::uint64_t baseline_files(const SynthOptions& options) {
  return (options.articles + options.articles_per_file - 1) / options.articles_per_file;
}

SynthSummary synthesize_store(const SynthOptions& options, const SynthModel& model);
SynthSummary synthesize_xml(const SynthOptions& options, const SynthModel& model);

}  // namespace somatlas::pipeline
