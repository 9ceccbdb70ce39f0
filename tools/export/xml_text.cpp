// A character is taken whole or not at all. Source of the ranges: Extensible Markup Language (XML)
// 1.0, fifth edition, production 2; Unicode 15, table 3-7.
#include "tools/export/xml_text.h"

#include <cstdint>

namespace somatlas::exports {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<std::uint8_t>(text[at]) : 0;
}

/// Bytes of the character that begins at `at`; 0 where none that XML allows does.
std::size_t character(std::string_view text, std::size_t at) {
  const std::uint8_t first = byte_at(text, at);
  const std::size_t bytes = first < 0x80                     ? 1
                            : first >= 0xC2 && first <= 0xDF ? 2
                            : first >= 0xE0 && first <= 0xEF ? 3
                            : first >= 0xF0 && first <= 0xF4 ? 4
                                                             : 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, at + i) & 0xC0U) != 0x80) {
      return 0;
    }
  }
  const std::uint8_t second = byte_at(text, at + 1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool beyond = first == 0xF4 && second >= 0x90;
  // U+FFFE and U+FFFF.
  const bool noncharacter = first == 0xEF && second == 0xBF && byte_at(text, at + 2) >= 0xBE;
  return overlong || surrogate || beyond || noncharacter ? 0 : bytes;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character(text, at);
    const char c = text[at];
    if (bytes == 0) {
      safe += replacement;
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '"') {
      safe += "&quot;";
    } else if (bytes == 1 && (static_cast<unsigned char>(c) < ' ' || c == 0x7F)) {
      safe += ' ';
    } else {
      safe += text.substr(at, bytes);
    }
    at += bytes == 0 ? 1 : bytes;
  }
  return safe;
}

}  // namespace somatlas::exports
