// SOM_PAK's codebook.
#include "tools/import/feature_table.h"
#include "tools/import/map_files.h"
#include "tools/import/text_file.h"
#include "tools/import/weight_value.h"

namespace somatlas::imports {
namespace {

struct Header {
  std::uint32_t weights = 0;
  std::uint32_t side = 0;
};

Header read_header(const TextFile& text, std::string_view line) {
  const auto weights = number_of<std::uint32_t>(next_word(line));
  const std::string_view lattice = next_word(line);
  const auto columns = number_of<std::uint32_t>(next_word(line));
  const auto rows = number_of<std::uint32_t>(next_word(line));
  const std::string_view neighbourhood = next_word(line);
  if (!weights || !columns || !rows || (lattice != "rect" && lattice != "hexa") ||
      (neighbourhood != "bubble" && neighbourhood != "gaussian") || !next_word(line).empty()) {
    text.refuse("this is not `weights rect|hexa columns rows bubble|gaussian`");
  }
  if (lattice == "hexa") {
    text.refuse("the cells of the map are hexagons (hexa); cells here are squares (rect)");
  }
  if (const std::string fault = grid_fault(*rows, *columns); !fault.empty()) {
    text.refuse(fault);
  }
  if (*weights == 0 || *weights > most_features) {
    text.refuse("a neuron has from 1 to " + std::to_string(most_features) + " weights");
  }
  return {*weights, *rows};
}

}  // namespace

CodebookFile read_cod(const std::string& path) {
  constexpr std::size_t longest_line = std::size_t{1} << 24;
  TextFile text(path, longest_line, "give one neuron a line");
  CodebookFile file;
  Header header;
  std::uint64_t neuron = 0;
  const auto neurons = [&] { return std::uint64_t{header.side} * header.side; };
  std::string_view line;
  while (text.next(line)) {
    std::string_view words = line;
    std::string_view word = next_word(words);
    if (word == "#n" && file.names.empty()) {
      for (word = next_word(words); !word.empty(); word = next_word(words)) {
        file.names.emplace_back(word);
      }
      continue;
    }
    if (word.empty() || word.starts_with('#')) {
      continue;
    }
    if (header.side == 0) {
      header = read_header(text, line);
      continue;
    }
    if (neuron++ == neurons()) {
      text.refuse("there are more neurons than the " + std::to_string(neurons()) + " announced");
    }
    // What stands behind the weights are labels.
    for (std::uint32_t weight = 0; weight < header.weights; ++weight, word = next_word(words)) {
      take_weight(text, word, weight, file);
    }
  }
  if (header.side == 0 || neuron != neurons()) {
    text.refuse(header.side == 0 ? "there is no codebook in the file"
                                 : "the file ends before its " + std::to_string(neurons()) +
                                       " neurons; get it whole");
  }
  file.side = header.side;
  return file;
}

}  // namespace somatlas::imports
