// Reading a MeSH descriptor UI. Always holds: exactly D and six or nine decimal digits are one;
// white space, signs and lower case are not.
#include "ingest/citation.h"

namespace somatlas::ingest {

std::optional<DescriptorUi> parse_descriptor_ui(std::string_view text) {
  if ((text.size() != 7 && text.size() != 10) || text[0] != 'D') {
    return std::nullopt;
  }
  std::uint32_t number = 0;
  for (const char c : text.substr(1)) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return DescriptorUi{number, static_cast<std::uint8_t>(text.size() - 1)};
}

}  // namespace somatlas::ingest
