// Codebooks, heights and best matches of other programs in the form that the first byte names.
// Promises: planes have a weight a neuron and no weight is above 1; heights and matches are those
// of a square map; every refusal names a line.
#include <algorithm>
#include <cstdint>

#include "tests/fuzz/foreign_file.h"
#include "tools/import/map_files.h"

namespace somatlas::fuzz {
namespace {

constexpr std::uint16_t weight_one = 16'383;

void check_codebook(const imports::CodebookFile& file) {
  expect(file.side != 0 && file.side <= imports::largest_side, "a map has a side");
  expect(!file.planes.empty(), "a codebook has planes");
  for (const std::vector<std::uint16_t>& plane : file.planes) {
    expect(plane.size() == std::size_t{file.side} * file.side, "a plane has a weight a neuron");
    expect(*std::max_element(plane.begin(), plane.end()) <= weight_one, "no weight is above 1");
  }
}

void check_matches(const imports::BestMatchFile& file) {
  for (std::size_t i = 0; i < file.matches.size(); ++i) {
    expect(file.matches[i].neuron < std::uint64_t{file.side} * file.side, "a match is on the map");
    expect(i == 0 || file.matches[i - 1].key < file.matches[i].key, "a key stands once");
  }
}

void check_map(const std::string& path, std::uint8_t form) {
  switch (form) {
    case 0:
      return check_codebook(imports::read_wts(path));
    case 1:
      return check_codebook(imports::read_cod(path));
    case 2:
      return check_codebook(imports::read_somw(path));
    case 3:
      return check_codebook(imports::read_npy(path));
    case 4: {
      const imports::HeightsFile file = imports::read_umx(path);
      return expect(file.heights.size() == std::size_t{file.side} * file.side,
                    "a map has a height a neuron");
    }
    case 5:
      return check_matches(imports::read_bm(path, exports::BestMatchOrder::esom));
    default:
      return check_matches(imports::read_bm(path, exports::BestMatchOrder::somoclu));
  }
}

}  // namespace
}  // namespace somatlas::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return somatlas::fuzz::check_reading(data, size, 7, somatlas::fuzz::check_map);
}
