// Figures as text, the same in every subcommand and in every locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pipeline/size_text.h"
#include "store/descriptor_code.h"
#include "tools/output.h"

namespace somatlas::tools {

/// A number with that many digits behind the point; "-" where there is none.
[[nodiscard]] std::string fixed(std::optional<double> number, int digits);
/// "3 files", "1 file", "0 files": noun takes an s but for one.
[[nodiscard]] std::string count_of(std::uint64_t count, std::string_view noun);
using pipeline::size_text;
/// "40 s", "2 min 5 s", "3 h 20 min".
[[nodiscard]] std::string time_text(double seconds);
/// Appends a line of a report: its name in a column of its own, and a gloss in another where there
/// is one; without a value the name alone.
void report_line(Output& out, std::string_view name, std::string_view value,
                 std::string_view gloss = "");
/// Appends a descriptor's UI, faster than through a string.
void put_ui(Output& out, store::DescriptorCode code);

}  // namespace somatlas::tools
