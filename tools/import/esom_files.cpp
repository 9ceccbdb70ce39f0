// ESOM Tools' texts, and somoclu's, which differ in blanks and in the order of best matches.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "tools/import/feature_table.h"
#include "tools/import/map_files.h"
#include "tools/import/text_file.h"
#include "tools/import/weight_value.h"

namespace somatlas::imports {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 24;  // 16 bytes for each of most_features

class EsomText {
 public:
  explicit EsomText(const std::string& path)
      : text_(path, longest_line, "give one neuron a line") {}

  /// The next line that is neither blank nor a comment; false at the end.
  bool next(std::string_view& line) {
    while (text_.next(line)) {
      std::string_view rest = line;
      const std::string_view word = next_word(rest);
      if (word == "#n" && names_.empty()) {
        take_names(rest);
      } else if (!word.empty() && !word.starts_with('#')) {
        return true;
      }
    }
    return false;
  }

  /// The words of a `%` line; nothing where the next line is none, which next_line() then gives.
  std::optional<std::string_view> header() {
    if (!next(line_)) {
      text_.refuse("the file ends in its header");
    }
    std::string_view rest = line_;
    rest.remove_prefix(rest.find_first_not_of(" \t"));
    if (!rest.starts_with('%')) {
      held_ = true;
      return std::nullopt;
    }
    rest.remove_prefix(1);
    return rest;
  }
  /// As next(), but first a line that header() found to be none.
  bool next_line(std::string_view& line) {
    if (held_) {
      held_ = false;
      line = line_;
      return true;
    }
    return next(line);
  }

  /// Reads `% k l` and returns the side.
  std::uint32_t side() {
    std::string_view words = need_header("% rows columns");
    of_somoclu_ = !words.starts_with(' ') && !words.starts_with('\t');
    const auto rows = number_of<std::uint32_t>(next_word(words));
    const auto columns = number_of<std::uint32_t>(next_word(words));
    const std::string_view topology = next_word(words);
    if (!rows || !columns || !next_word(words).empty()) {
      text_.refuse("this is not `% rows columns`");
    }
    if (const std::string fault = grid_fault(*rows, *columns); !fault.empty()) {
      text_.refuse(fault);
    }
    if (!topology.empty() && topology != "0") {
      text_.refuse("the map is a torus, or of a kind that is not known (" + quoted(topology) +
                   " behind rows and columns); maps here are planes with borders");
    }
    return *rows;
  }
  /// Reads `% n`.
  std::uint64_t count(const std::string& of) {
    std::string_view words = need_header("% number of " + of);
    const auto number = number_of<std::uint64_t>(next_word(words));
    if (!number || !next_word(words).empty()) {
      text_.refuse("this is not `% number of " + of + "`");
    }
    return *number;
  }
  /// Whether side() found its numbers right behind the `%`.
  [[nodiscard]] bool of_somoclu() const { return of_somoclu_; }
  [[noreturn]] void refuse(const std::string& problem) const { text_.refuse(problem); }
  [[nodiscard]] const TextFile& file() const { return text_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  void take_names(std::string_view words) {
    names_.clear();
    for (std::string_view word = next_word(words); !word.empty(); word = next_word(words)) {
      names_.emplace_back(word);
    }
  }

 private:
  std::string_view need_header(const std::string& what) {
    const auto words = header();
    if (!words) {
      text_.refuse("this is not `" + what + "`");
    }
    return *words;
  }

  TextFile text_;
  std::vector<std::string> names_;
  std::string_view line_;
  bool held_ = false;
  bool of_somoclu_ = false;
};

bool all_numbers(std::string_view words) {
  for (std::string_view word = next_word(words); !word.empty(); word = next_word(words)) {
    if (!number_of<double>(word)) {
      return false;
    }
  }
  return true;
}

}  // namespace

CodebookFile read_wts(const std::string& path) {
  EsomText text(path);
  CodebookFile file;
  file.side = text.side();
  const std::uint64_t weights = text.count("weights");
  if (weights == 0 || weights > most_features) {
    text.refuse("a neuron has from 1 to " + std::to_string(most_features) + " weights");
  }
  // Types of the columns, or their names.
  while (const auto words = text.header()) {
    if (!all_numbers(*words)) {
      text.take_names(*words);
    }
  }
  const std::uint64_t neurons = std::uint64_t{file.side} * file.side;
  std::string_view line;
  for (std::uint64_t neuron = 0; text.next_line(line); ++neuron) {
    if (neuron == neurons) {
      text.refuse("there are more neurons than the " + std::to_string(neurons) + " announced");
    }
    for (std::uint64_t weight = 0; weight < weights; ++weight) {
      take_weight(text.file(), next_word(line), weight, file);
    }
    if (!next_word(line).empty()) {
      text.refuse("the neuron has more than " + std::to_string(weights) + " weights");
    }
  }
  if (file.planes.empty() || file.planes.front().size() != neurons) {
    text.refuse("the file ends before its " + std::to_string(neurons) + " neurons; get it whole");
  }
  file.names = text.names();
  return file;
}

HeightsFile read_umx(const std::string& path) {
  EsomText text(path);
  HeightsFile file;
  file.side = text.side();
  std::string_view line;
  for (std::uint32_t row = 0; text.next(line); ++row) {
    std::uint32_t column = 0;
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      const auto height = number_of<double>(word);
      constexpr double most = 4095;  // in 32 bits of 2^-20
      if (!height || !(*height >= 0 && *height <= most) || column == file.side ||
          row == file.side) {
        text.refuse(row == file.side      ? "there are more rows than announced"
                    : column == file.side ? "the row has more heights than announced"
                                          : quoted(word) + " is no height from 0 to 4095");
      }
      file.heights.push_back(static_cast<std::uint32_t>(std::floor(*height * (1U << 20) + 0.5)));
      ++column;
    }
    if (column != file.side) {
      text.refuse("the row has " + std::to_string(column) + " of " + std::to_string(file.side) +
                  " heights");
    }
  }
  if (file.heights.size() != std::size_t{file.side} * file.side) {
    text.refuse("the file ends before its " + std::to_string(file.side) + " rows; get it whole");
  }
  return file;
}

BestMatchFile read_bm(const std::string& path, exports::BestMatchOrder order) {
  EsomText text(path);
  BestMatchFile file;
  file.side = text.side();
  file.of_somoclu = text.of_somoclu();
  const std::uint64_t announced = text.count("best matches");
  std::string_view line;
  while (text.next(line)) {
    std::array<std::optional<std::uint32_t>, 3> number;
    for (auto& word : number) {
      word = number_of<std::uint32_t>(next_word(line));
    }
    if (!number[0] || !number[1] || !number[2] || !next_word(line).empty()) {
      text.refuse("this is no best match: a key and two places from 0");
    }
    const bool esom = order == exports::BestMatchOrder::esom;
    const std::uint32_t row = esom ? *number[1] : *number[2];
    const std::uint32_t column = esom ? *number[2] : *number[1];
    if (row >= file.side || column >= file.side) {
      text.refuse("row " + std::to_string(row) + ", column " + std::to_string(column) +
                  " is outside the map; rows and columns count from 0");
    }
    if (file.matches.size() == announced) {
      text.refuse("there are more best matches than the " + std::to_string(announced) +
                  " announced");
    }
    file.matches.push_back({*number[0], row * file.side + column});
  }
  if (file.matches.size() != announced) {
    text.refuse("the file ends " + std::to_string(announced - file.matches.size()) +
                " best matches early; get it whole");
  }
  std::sort(file.matches.begin(), file.matches.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  const auto twice =
      std::adjacent_find(file.matches.begin(), file.matches.end(),
                         [](const auto& a, const auto& b) { return a.key == b.key; });
  if (twice != file.matches.end()) {
    text.refuse("the key " + std::to_string(twice->key) + " stands in it twice");
  }
  return file;
}

}  // namespace somatlas::imports
