// A MeSH descriptor UI as one number, as shards store it: number * 2 + 1 where the UI has nine
// digits. Always holds: codes and UIs correspond one to one; code order is by number, UI order is
// the order of the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace somatlas::store {

using DescriptorCode = std::uint32_t;

/// digits is 6 or 9, number below 10^digits.
[[nodiscard]] constexpr DescriptorCode descriptor_code(std::uint32_t number, unsigned digits) {
  return number * 2 + (digits == 9 ? 1U : 0U);
}
[[nodiscard]] constexpr std::uint32_t descriptor_number(DescriptorCode code) {
  return code / 2;
}
[[nodiscard]] constexpr unsigned descriptor_digits(DescriptorCode code) {
  return code % 2 != 0 ? 9 : 6;
}

/// "D009369", "D000068036".
[[nodiscard]] std::string descriptor_ui(DescriptorCode code);

/// The code of a UI; nothing where the text is not D and six or nine digits.
[[nodiscard]] std::optional<DescriptorCode> descriptor_code_of(std::string_view ui);

/// Whether a code has a UI: its number fits its digits.
[[nodiscard]] constexpr bool is_descriptor_code(DescriptorCode code) {
  return descriptor_number(code) < (descriptor_digits(code) == 6 ? 1'000'000U : 1'000'000'000U);
}

/// The order of the UIs as text, in which dump and exports list descriptors.
[[nodiscard]] constexpr bool ui_less(DescriptorCode a, DescriptorCode b) {
  const auto as_nine = [](DescriptorCode c) {
    return std::uint64_t{descriptor_number(c)} * (descriptor_digits(c) == 6 ? 1000 : 1);
  };
  return as_nine(a) != as_nine(b) ? as_nine(a) < as_nine(b)
                                  : descriptor_digits(a) < descriptor_digits(b);
}

}  // namespace somatlas::store
