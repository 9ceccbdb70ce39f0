// A finished atlas in the formats of other SOM programs and of programs that draw networks or query
// tables. Always holds: memory is a band of weights or a plane; an output appears complete or not
// at all; each function returns nothing, and writes nothing, where it was asked to stop.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "store/atlas.h"
#include "tools/export/pending_output.h"

namespace somatlas::exports {

/// What every export of these takes.
struct Target {
  std::string path;
  Existing existing = Existing::refuse;
  std::stop_token stop;
};

/// ESOM's heights: `% rows columns`, then a line a row. Vacant cells have 0. Returns the cells.
[[nodiscard]] std::optional<std::uint64_t> export_umx(store::Atlas& atlas, const Target& target);

/// ESOM's weights: `#n` and the UIs, `% rows columns`, `% descriptors`, then a line a neuron.
/// descriptors: UIs or names with `;` between; empty: all, refused where that is absurd. Returns
/// the descriptors.
[[nodiscard]] std::optional<std::uint64_t> export_wts(store::Atlas& atlas,
                                                      const std::string& descriptors,
                                                      const Target& target);

/// ESOM's order is key, row, column; somoclu's key, column, row.
enum class BestMatchOrder : std::uint8_t { esom, somoclu };

/// Best matches: `% rows columns`, `% articles`, then PMID and place of each, from 0. Returns the
/// articles.
[[nodiscard]] std::optional<std::uint64_t> export_bm(store::Atlas& atlas, BestMatchOrder order,
                                                     const Target& target);

/// SOM_PAK's codebook: `dim rect columns rows gaussian`, `#n` and the UIs, then a line a neuron,
/// its region's name behind the weights with `_` for blanks. Descriptors as export_wts.
[[nodiscard]] std::optional<std::uint64_t> export_cod(store::Atlas& atlas,
                                                      const std::string& descriptors,
                                                      const Target& target);

/// A directory: codebook.somw, the binary codebook in 32-bit floats, descriptor by descriptor, and
/// descriptors.tsv, which says whose they are. Returns the descriptors.
[[nodiscard]] std::optional<std::uint64_t> export_somw(store::Atlas& atlas,
                                                       const std::string& descriptors,
                                                       const Target& target);

/// A directory for VOSviewer: map.txt, network.txt and atlas.json, a region an item, an area a
/// cluster, the length of two regions' border the strength of their link. Returns the regions.
[[nodiscard]] std::optional<std::uint64_t> export_vosviewer(store::Atlas& atlas,
                                                            const Target& target);

/// The same network as GraphML. Returns the regions.
[[nodiscard]] std::optional<std::uint64_t> export_graphml(store::Atlas& atlas,
                                                          const Target& target);

/// An SQLite database: meta, descriptors, regions, region_descriptors, cells, cell_descriptors,
/// articles, and labels (FTS5) to search for names. Returns the cells.
[[nodiscard]] std::optional<std::uint64_t> export_sqlite(store::Atlas& atlas, const Target& target);

}  // namespace somatlas::exports
