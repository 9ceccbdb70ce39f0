// Text inside XML and HTML. Always holds: what is returned is well-formed UTF-8 that XML 1.0
// allows, as content and within quotes, whatever the bytes were.
#pragma once

#include <string>
#include <string_view>

namespace somatlas::exports {

/// Control characters become blanks, what is no UTF-8 and what XML does not allow U+FFFD.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace somatlas::exports
