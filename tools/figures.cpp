// Numbers are written by to_chars, which knows no locale.
#include "tools/figures.h"

#include <array>
#include <charconv>

namespace somatlas::tools {

std::string fixed(std::optional<double> number, int digits) {
  if (!number) {
    return "-";
  }
  std::array<char, 400> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), *number,
                                 std::chars_format::fixed, digits);
  return {text.data(), end.ptr};
}

std::string count_of(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 60) {
    return std::to_string(whole) + " s";
  }
  if (whole < 3600) {
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  }
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

void report_line(Output& out, std::string_view name, std::string_view value,
                 std::string_view gloss) {
  constexpr std::size_t column = 28;
  constexpr std::size_t gloss_column = 12;
  const auto padded = [](std::string_view text, std::size_t width) {
    return std::string(text) + std::string(text.size() + 2 < width ? width - text.size() : 2, ' ');
  };
  if (value.empty()) {
    out << name << '\n';
    return;
  }
  out << padded(name, column);
  if (gloss.empty()) {
    out << value;
  } else {
    out << padded(value, gloss_column) << gloss;
  }
  out << '\n';
}

void put_ui(Output& out, store::DescriptorCode code) {
  std::array<char, 10> text{'D'};
  const std::size_t digits = store::descriptor_digits(code);
  std::uint32_t number = store::descriptor_number(code);
  for (std::size_t at = digits; at > 0; --at) {
    text[at] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
  out << std::string_view(text.data(), digits + 1);
}

}  // namespace somatlas::tools
