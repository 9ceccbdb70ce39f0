// Sizes as text, the same in a plan, a refusal and every report.
#pragma once

#include <cstdint>
#include <string>

namespace somatlas::pipeline {

/// "812 bytes", "1.5 KiB", "20.0 GiB"; to the nearest tenth, in every locale.
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace somatlas::pipeline
