// NLM's descriptor XML (descYYYY.xml) to descriptors. Internal to ingest/.
// Always holds: only a DescriptorRecord's own UI, name, tree numbers and terms are read, never
// those of descriptors that it refers to.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "ingest/byte_source.h"
#include "ingest/mesh_table.h"

namespace somatlas::ingest {

/// Throws InputError with the line.
[[nodiscard]] std::vector<MeshDescriptor> read_mesh_xml(ByteSource& source);

/// A letter and two digits, then groups of a point and three digits: "D03.633.100".
[[nodiscard]] bool is_tree_number(std::string_view text);

/// The UIs that a table has had so far.
class DescriptorUiSet {
 public:
  /// False where ui is there already.
  bool insert(DescriptorUi ui) {
    return seen_.insert(std::uint64_t{ui.number} * 16 + ui.digits).second;
  }

 private:
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace somatlas::ingest
