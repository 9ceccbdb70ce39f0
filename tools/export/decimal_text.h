// Distances as decimal text, the same wherever the program prints one.
// Always holds: no floating point is involved, and the unit of 2^-20 can be read back from the
// text.
#pragma once

#include <cstdint>
#include <string>

namespace somatlas::exports {

/// units / 2^20 with seven decimals, rounded half up: the fewest that keep all units apart
/// (2^-20 is less than 10^-6).
[[nodiscard]] std::string distance_text(std::uint32_t units);

}  // namespace somatlas::exports
