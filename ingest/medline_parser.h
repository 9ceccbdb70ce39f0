// Reads MEDLINE and PubMed XML through libxml2's SAX2 push parser into a CitationSink.
// Always holds: nothing outside the file is opened; entities are refused; memory does not grow with
// the file.
#pragma once

#include <cstdint>

#include "ingest/byte_source.h"
#include "ingest/citation.h"
#include "ingest/mesh_table.h"

namespace somatlas::ingest {

struct ParseSummary {
  std::uint64_t xml_bytes = 0;
  std::uint64_t citations = 0;  // citation records met, those left out included; books not
  std::uint64_t deletions = 0;
  std::uint64_t books = 0;
};

/// Parses a whole file, whose root is a set of records (PubmedArticleSet, MedlineCitationSet,
/// PubmedBookArticleSet, or RAW_DATA, as one downloader writes it) or one record; below it records
/// may stand at any depth. names resolves headings that have no UI. Throws InputError (file, line),
/// also where a record begins inside another one.
ParseSummary parse_medline(ByteSource& source, const NameTable& names, CitationSink& sink);

}  // namespace somatlas::ingest
