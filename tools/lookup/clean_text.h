// Text of others that may be kept and shown: what is not such is refused where it comes in.
#pragma once

#include <string_view>

namespace somatlas::lookup {

/// Whether text is UTF-8 without control characters but for tabs and ends of lines.
[[nodiscard]] bool is_clean_utf8(std::string_view text);

}  // namespace somatlas::lookup
