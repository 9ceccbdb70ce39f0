// A header is the line whose first name is "epoch"; its names stand two or more spaces apart, since
// some have a space in them. The lines after it that begin with a space are its epochs.
#include "tests/program/epoch_table.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

std::vector<std::string> names_of(const std::string& header) {
  std::vector<std::string> names;
  for (std::size_t at = header.find_first_not_of(' '); at != std::string::npos;
       at = header.find_first_not_of(' ', at)) {
    const std::size_t end = std::min(header.find("  ", at), header.size());
    names.push_back(header.substr(at, end - at));
    at = end;
  }
  return names;
}

}  // namespace

std::vector<std::map<std::string, std::string>> read_epoch_table(const std::string& text) {
  std::vector<std::map<std::string, std::string>> epochs;
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> fields;
    for (std::string word; words >> word;) {
      fields.push_back(word);
    }
    if (!fields.empty() && fields[0] == "epoch") {
      names = names_of(line);
    } else if (!names.empty() && line.starts_with(' ')) {
      if (fields.size() != names.size()) {
        throw std::runtime_error("not as many fields as names: " + line);
      }
      std::map<std::string, std::string>& epoch = epochs.emplace_back();
      for (std::size_t i = 0; i < names.size(); ++i) {
        epoch[names[i]] = fields[i];
      }
    }
  }
  return epochs;
}

std::vector<nlohmann::json> read_log(const std::string& path) {
  std::vector<nlohmann::json> epochs;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    epochs.push_back(nlohmann::json::parse(line));
  }
  return epochs;
}

}  // namespace somatlas::program_test
