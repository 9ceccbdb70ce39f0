// Text of others that may be kept and shown: what is not such is refused where it comes in.
#pragma once

#include <cstddef>
#include <string_view>

namespace somatlas::lookup {

/// Whether text is UTF-8 without control characters but for tabs and ends of lines.
[[nodiscard]] bool is_clean_utf8(std::string_view text);

/// How many characters text has, which is UTF-8.
[[nodiscard]] std::size_t characters_of(std::string_view text);

/// At most so many bytes from the beginning of text, which is UTF-8, and no part of a character.
[[nodiscard]] std::string_view cut_to(std::string_view text, std::size_t longest);

}  // namespace somatlas::lookup
