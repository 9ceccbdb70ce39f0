// Lists of changed MeSH descriptors on their way into a store. Always holds: a list that cannot be
// used is refused with its line before anything is stored; one that the store has is not taken a
// second time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingest/mesh_change_file.h"
#include "store/store.h"

namespace somatlas::pipeline {

/// In place of a file: all lists before it are taken back.
inline constexpr const char* no_mesh_changes = "none";

/// What --mesh-changes named, in order; nothing stands for "none".
using MeshChangeSteps = std::vector<std::optional<ingest::MeshChangeFile>>;

/// Reads every list; throws ingest::InputError, also where they lead in a circle by themselves.
[[nodiscard]] MeshChangeSteps read_mesh_changes(const std::vector<std::string>& paths);

struct MeshChangeCounts {
  std::uint64_t lists_taken = 0;
  std::uint64_t lists_known = 0;  // the store had them already
  std::uint64_t lists_taken_back = 0;
  std::uint64_t renamed = 0;  // changes of the lists taken
  std::uint64_t merged = 0;
  std::uint64_t removed = 0;
};

/// The lists that a store has after the steps. Throws ingest::InputError where descriptors would
/// become one another in a circle.
[[nodiscard]] std::vector<store::MeshChangeList> next_mesh_changes(
    std::vector<store::MeshChangeList> lists, const MeshChangeSteps& steps,
    MeshChangeCounts& counts);

}  // namespace somatlas::pipeline
