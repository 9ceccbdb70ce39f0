// Descriptor codes to UIs and back.
// Always holds: every valid code has one UI, and that UI reads back as the code.
#include "store/descriptor_code.h"

namespace somatlas::store {

std::string descriptor_ui(DescriptorCode code) {
  const unsigned digits = descriptor_digits(code);
  std::string ui(digits + 1, '0');
  ui[0] = 'D';
  std::uint32_t number = descriptor_number(code);
  for (std::size_t i = digits; i > 0 && number != 0; --i) {
    ui[i] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
  return ui;
}

std::optional<DescriptorCode> descriptor_code_of(std::string_view ui) {
  if ((ui.size() != 7 && ui.size() != 10) || ui[0] != 'D')
    return std::nullopt;
  std::uint32_t number = 0;
  for (const char c : ui.substr(1)) {
    if (c < '0' || c > '9')
      return std::nullopt;
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return descriptor_code(number, static_cast<unsigned>(ui.size() - 1));
}

}  // namespace somatlas::store
