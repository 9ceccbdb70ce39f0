// A second, slow reader of MEDLINE XML: libxml2's document tree, walked by the rules. It shares no
// line with the parser under test, and holds a whole document in memory.
#pragma once

#include <string>
#include <vector>

#include "ingest/mesh_table.h"

namespace somatlas::ingest {

/// The events of a document in RecordedEvents' form. Fails the test where the document is not
/// well-formed.
[[nodiscard]] std::vector<std::string> dom_events_of(const std::string& xml,
                                                     const NameTable& names);

}  // namespace somatlas::ingest
