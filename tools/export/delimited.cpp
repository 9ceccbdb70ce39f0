// Fields and lines of TSV and CSV.
// Always holds: what is read back field by field is what was written, control characters of TSV
// apart.
#include "tools/export/delimited.h"

#include <algorithm>

namespace somatlas::exports {

std::string tsv_field(std::string_view text) {
  std::string field(text);
  std::replace_if(
      field.begin(), field.end(), [](char c) { return (c >= '\0' && c < ' ') || c == '\x7F'; },
      ' ');
  return field;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string field = "\"";
  for (const char c : text) {
    field += c;
    if (c == '"') {
      field += '"';
    }
  }
  return field + "\"";
}

std::string tsv_line(std::initializer_list<std::string_view> fields) {
  std::string line;
  for (const std::string_view field : fields) {
    line += tsv_field(field);
    line += '\t';
  }
  line.back() = '\n';
  return line;
}

std::string csv_line(std::span<const std::string> fields) {
  std::string line;
  for (const std::string& field : fields) {
    line += csv_field(field);
    line += ',';
  }
  if (!line.empty()) {
    line.pop_back();
  }
  return line + "\r\n";
}

}  // namespace somatlas::exports
