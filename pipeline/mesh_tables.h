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
  std::uint64_t descriptors = 0;    // entries read from tables
  std::uint64_t tree_numbers = 0;   // added to names already known
  std::uint64_t unknown_names = 0;  // names with tree numbers, but no descriptor of that name
};

/// Descriptor tables first, in the order given, each replacing entries of the same UI; then tree
/// numbers, added to the descriptors of their names.
MeshCounts store_mesh_tables(store::Store& store, const std::vector<ingest::MeshFile>& tables);

/// Every descriptor name that the store knows.
[[nodiscard]] ingest::NameTable name_table(store::Store& store);

}  // namespace somatlas::pipeline
