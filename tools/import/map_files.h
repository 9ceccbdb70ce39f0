// What other programs write of a map: its weights (ESOM's .wts, SOM_PAK's .cod, the binary .somw,
// NumPy's .npy), its heights (.umx) and the places of articles (.bm). Text may be gzip.
// Always holds: maps are squares of cells with four sides and four borders, weights lie from 0 to
// 1; anything else is refused with the first place where it stands; memory is what the file holds,
// never what it announces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/export/peer_formats.h"

namespace somatlas::imports {

struct CodebookFile {
  std::uint32_t side = 0;
  std::vector<std::string> names;                  // of the planes; empty: the file names none
  std::vector<std::vector<std::uint16_t>> planes;  // row-major, w as 16383 w rounded half up
};

/// `% k l` and, where it says so, 0 for a plane or 1 for a torus; `% m`; where given, lines of
/// types and names; a line a neuron, row by row. `#n` and names may stand before. Throws
/// ingest::InputError.
[[nodiscard]] CodebookFile read_wts(const std::string& path);
/// `m rect|hexa columns rows bubble|gaussian`; a line a neuron, with labels behind the weights;
/// `#n` and names.
[[nodiscard]] CodebookFile read_cod(const std::string& path);
/// 24 bytes, then 32-bit floats, plane by plane.
[[nodiscard]] CodebookFile read_somw(const std::string& path);
/// Of the axes plane, row, column: '<u2', weights times 16383 as export writes them, or '<f4',
/// '<f8'.
[[nodiscard]] CodebookFile read_npy(const std::string& path);

/// Heights in units of 2^-20, row by row.
struct HeightsFile {
  std::uint32_t side = 0;
  std::vector<std::uint32_t> heights;
};
/// `% k l`, then a line a row.
[[nodiscard]] HeightsFile read_umx(const std::string& path);

struct BestMatchFile {
  std::uint32_t side = 0;
  bool of_somoclu = false;  // as its header is written: nothing between `%` and the rows
  struct Match {
    std::uint32_t key = 0;
    std::uint32_t neuron = 0;
  };
  std::vector<Match> matches;  // keys ascending, none twice
};
/// `% k l`, `% n`, then a line a match in that order, rows and columns from 0.
[[nodiscard]] BestMatchFile read_bm(const std::string& path, exports::BestMatchOrder order);

/// Sides are at most this.
inline constexpr std::uint32_t largest_side = 32'768;

}  // namespace somatlas::imports
