// Reads back what a training says of its epochs: the table on standard error by the names of its
// columns, and the log of JSON lines.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace somatlas::program_test {

/// The epochs of all tables in text, each a map from a column's name to what stands there. Throws
/// std::runtime_error where a line has another number of fields than its header.
[[nodiscard]] std::vector<std::map<std::string, std::string>> read_epoch_table(
    const std::string& text);

/// The lines of a log. Throws where one is no JSON.
[[nodiscard]] std::vector<nlohmann::json> read_log(const std::string& path);

}  // namespace somatlas::program_test
