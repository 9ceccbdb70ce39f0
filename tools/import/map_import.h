// A map that another program trained, fitted to a store: its planes to the store's descriptors, or
// its best matches to the store's articles. Always holds: what is not clearly meant is refused, by
// name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/imported_map.h"
#include "store/store.h"
#include "tools/import/map_files.h"

namespace somatlas::imports {

enum class MapFormat : std::uint8_t { wts, cod, somw, npy, bm };

struct MapInput {
  std::string path;
  MapFormat format = MapFormat::wts;
  exports::BestMatchOrder order = exports::BestMatchOrder::esom;  // bm
  std::string features;  // what planes are, as for rows; empty: the file says
  std::string heights;   // a .umx of the map; empty: none
  // bm: `pmid<TAB>version<TAB>year` and a line a row, whose number from 0 is a key; empty: none
  std::string articles;
  // bm: the number of the article whose key is 0; nothing: keys are the numbers
  std::optional<std::uint32_t> first_number;
};

/// Of a codebook or of best matches, the other is empty.
struct MapOfStore {
  pipeline::Codebook codebook;
  pipeline::BestMatches matches;
  std::vector<std::uint32_t> heights;
  bool of_somoclu = false;  // as the file of best matches looks

  [[nodiscard]] pipeline::ImportedMap imported() const {
    return {codebook.side != 0 ? &codebook : nullptr, codebook.side != 0 ? nullptr : &matches,
            heights};
  }
};

/// Planes are the store's descriptors by UI, or by name in any case. Throws ingest::InputError.
[[nodiscard]] MapOfStore read_map(store::Store& store, const MapInput& input);

}  // namespace somatlas::imports
