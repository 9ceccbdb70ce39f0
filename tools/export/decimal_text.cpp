// Decimal text from integers of 2^-20.
// Always holds: the result depends on no locale and no rounding mode.
#include "tools/export/decimal_text.h"

namespace somatlas::exports {

std::string distance_text(std::uint32_t units) {
  constexpr std::uint64_t ten_million = 10'000'000;
  const std::uint64_t scaled = (units * ten_million + (1U << 19)) >> 20;
  const std::string decimals = std::to_string(scaled % ten_million);
  return std::to_string(scaled / ten_million) + "." + std::string(7 - decimals.size(), '0') +
         decimals;
}

}  // namespace somatlas::exports
