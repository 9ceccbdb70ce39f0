// libxml2's SAX2 push parser with handlers that do nothing: what any reader of MEDLINE that stands
// on it costs at least. The yardstick that ingest is measured against; it checks nothing itself.
#pragma once

#include <cstdint>

#include "ingest/byte_source.h"

namespace somatlas::ingest {

/// Pushes a whole document through the parser and returns its bytes. Throws InputError where it is
/// not well-formed.
std::uint64_t parse_with_empty_handlers(ByteSource& source);

}  // namespace somatlas::ingest
