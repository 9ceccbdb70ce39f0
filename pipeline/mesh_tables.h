// MeSH tables on their way into the store, and back out as names for headings that carry no UI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingest/mesh_table.h"
#include "store/store.h"

namespace somatlas::pipeline {

/// Reads every table; throws ingest::InputError before anything was stored.
[[nodiscard]] std::vector<ingest::MeshFile> read_mesh_tables(const std::vector<std::string>& paths);

struct MeshCounts {
  std::uint64_t descriptors = 0;  // that the tables have, each counted once; they are:
  std::uint64_t added = 0;
  std::uint64_t renamed = 0;  // known under another name
  std::uint64_t moved = 0;    // known by that name, with other tree numbers
  std::uint64_t unchanged = 0;
  std::uint64_t entry_words = 0;    // that the tables have of them
  std::uint64_t tree_names = 0;     // that tree tables have, each counted once; of them:
  std::uint64_t tree_numbers = 0;   // added to names already known
  std::uint64_t unknown_names = 0;  // names with tree numbers, but no descriptor of that name
};

/// Descriptor tables first, in the order given, each replacing names and tree numbers of the same
/// UI, and its entry words where the table says anything of them; then tree numbers, added to the
/// descriptors of their names. With dry_run nothing is stored, names of tree tables are not looked
/// up, and the store may be none.
MeshCounts store_mesh_tables(store::Store* store, const std::vector<ingest::MeshFile>& tables,
                             bool dry_run);

/// Every descriptor name that the store knows: of its table, and before and after each change of
/// its lists. A name leads to the UI that bore it: what that one has become is the view's to say.
/// Of several that bear one name, one that still stands comes first, then the table, then the last
/// list.
[[nodiscard]] ingest::NameTable name_table(store::Store& store);

}  // namespace somatlas::pipeline
