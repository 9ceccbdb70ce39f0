// A list of changed MeSH descriptors between two years, as a TSV: change, UI and name before, UI
// and name after; change is renamed, merged or removed. Always holds: a list is read whole or
// refused with the line; a descriptor is changed at most once in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingest/byte_source.h"
#include "ingest/citation.h"

namespace somatlas::ingest {

struct DescriptorChange {
  std::uint64_t line = 0;
  DescriptorUi before;
  std::string name_before;
  std::optional<DescriptorUi> after;  // as before: renamed; another: merged; none: removed
  std::string name_after;
};

struct MeshChangeFile {
  std::string path;
  Md5Hex md5;
  std::vector<DescriptorChange> changes;
};

/// Reads a list, gzip too; its header names the columns change, ui_YYYY, name_YYYY, ui_YYYY,
/// name_YYYY. Throws InputError.
[[nodiscard]] MeshChangeFile read_mesh_change_file(const std::string& path);

}  // namespace somatlas::ingest
