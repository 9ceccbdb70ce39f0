// The descriptor table of a synthetic corpus: UIs, names and tree numbers, as MeSH has them.
#pragma once

#include <vector>

#include "pipeline/synth_model.h"
#include "store/store.h"

namespace somatlas::pipeline {

/// "Synthetic check tag 00001", "Synthetic descriptor 07920": by the number in the UI.
[[nodiscard]] std::string synth_name(std::uint32_t number);

/// All descriptors, UI ascending. Tree numbers ("C07.012.003") name area, topic and place in it of
/// the first three topics that have the descriptor; check tags have none.
[[nodiscard]] std::vector<store::DescriptorEntry> synth_catalog(const SynthModel& model);

}  // namespace somatlas::pipeline
