// What `map` reads: MEDLINE XML, what PubMed saves as text or as a table (.nbib, CSV), PMIDs one a
// line, or a line an article with descriptor UIs or names separated by `;`. The first line that is
// neither blank nor a comment (#) tells the kind of all: a number makes a list of PMIDs, which no
// descriptor's name is. Always holds: memory is one
// line and one article; a line of another kind is an article with a fault; nothing is passed over
// in silence.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/byte_source.h"
#include "ingest/citation.h"
#include "ingest/mesh_table.h"

namespace somatlas::lookup {

/// An article to be placed.
struct Article {
  std::uint64_t line = 0;                 // of a line of descriptors, or with a fault; else 0
  std::uint32_t pmid = 0;                 // 0: of a line of descriptors
  bool only_pmid = false;                 // without descriptors here: they are to be looked up
  std::vector<ingest::DescriptorUi> uis;  // distinct
  std::vector<std::string> names;         // distinct; descriptors given by name
  std::string fault;                      // why the line names no article; empty: it does
};

/// Receives an input's articles in order. What it throws stops the reading.
class ArticleSink {
 public:
  virtual ~ArticleSink() = default;
  virtual void article(Article article) = 0;
  /// A sentence about something in the input that is no article to be placed.
  virtual void remark(const std::string& text) = 0;
};

/// Lines longer than this are refused: 1,023 names of 500 bytes fit.
inline constexpr std::size_t longest_line_bytes = 1 << 19;

/// Opens a file (gzip too), or standard input where path is "-". Throws ingest::InputError.
[[nodiscard]] std::unique_ptr<ingest::ByteSource> open_input(const std::string& path);

/// Reads it all. names resolves XML headings that have no UI; a heading it lacks is passed on by
/// name. Throws ingest::InputError (file, line).
void read_articles(ingest::ByteSource& source, const ingest::NameTable& names, ArticleSink& sink);

/// The article of a line of descriptors, which is UIs or names separated by `;`.
[[nodiscard]] Article descriptor_line(std::string_view text, std::uint64_t line);

/// Without blanks, tabs and carriage returns at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace somatlas::lookup
