// Numbers are written by to_chars, which knows no locale.
#include "pipeline/size_text.h"

#include <array>
#include <charconv>

namespace somatlas::pipeline {

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) {
    return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  }
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < units.size()) {
    size /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), size, std::chars_format::fixed, 1);
  return std::string(text.data(), end.ptr) + " " + units[unit];
}

}  // namespace somatlas::pipeline
