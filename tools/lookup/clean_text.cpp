// By Unicode's table 3-7 of well-formed sequences.
#include "tools/lookup/clean_text.h"

#include <algorithm>

namespace somatlas::lookup {

bool is_clean_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const unsigned first = byte(i);
    std::size_t more = 0;
    unsigned low = 0x80;
    unsigned high = 0xBF;
    if (first < 0x80) {
      if (first == 0x7F || (first < 0x20 && first != '\t' && first != '\n' && first != '\r')) {
        return false;
      }
    } else if (first >= 0xC2 && first <= 0xDF) {
      more = 1;
    } else if (first >= 0xE0 && first <= 0xEF) {
      more = 2;
      low = first == 0xE0 ? 0xA0 : low;
      high = first == 0xED ? 0x9F : high;
    } else if (first >= 0xF0 && first <= 0xF4) {
      more = 3;
      low = first == 0xF0 ? 0x90 : low;
      high = first == 0xF4 ? 0x8F : high;
    } else {
      return false;
    }
    for (std::size_t k = 1; k <= more; ++k) {
      const unsigned next = byte(i + k);
      if (next < (k == 1 ? low : 0x80U) || next > (k == 1 ? high : 0xBFU)) {
        return false;
      }
    }
    i += more + 1;
  }
  return true;
}

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string_view cut_to(std::string_view text, std::size_t longest) {
  std::size_t length = std::min(text.size(), longest);
  while (length < text.size() && length > 0 && (text[length] & 0xC0) == 0x80) {
    --length;
  }
  return text.substr(0, length);
}

}  // namespace somatlas::lookup
