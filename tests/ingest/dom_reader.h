// A second, slow reader of MEDLINE XML: libxml2's document tree, walked by the rules. It shares no
// line with the parser under test, and holds a whole document in memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ingest/mesh_table.h"

namespace somatlas::ingest {

/// The events of a document in RecordedEvents' form; nothing where it is to be refused: it is not
/// well-formed, it is no MEDLINE, it declares what may not be declared, or a record stands where it
/// would not be counted. The bounds of whole documents are not looked at.
[[nodiscard]] std::optional<std::vector<std::string>> dom_events_of(const std::string& xml,
                                                                    const NameTable& names);

}  // namespace somatlas::ingest
