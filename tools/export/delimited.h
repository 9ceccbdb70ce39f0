// Rows of text: tab-separated values and CSV (RFC 4180), in UTF-8.
// Always holds: a row of TSV is one line and its fields hold no tab; CSV lines end in CR LF and a
// field is quoted where it must be.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "tools/export/pending_output.h"

namespace somatlas::exports {

/// A field of TSV: control characters become blanks.
[[nodiscard]] std::string tsv_field(std::string_view text);
/// A field of CSV: quoted where it holds a comma, a quote or a line break, quotes doubled.
[[nodiscard]] std::string csv_field(std::string_view text);

[[nodiscard]] std::string tsv_line(std::initializer_list<std::string_view> fields);
[[nodiscard]] std::string csv_line(std::span<const std::string> fields);

}  // namespace somatlas::exports
