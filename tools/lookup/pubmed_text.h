// The two texts that PubMed saves: citations with tags (.nbib) and tables (CSV). Always holds: an
// article has its PMID; what is neither PMID nor heading is passed over, since it is known not to
// be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/lookup/article_input.h"

namespace somatlas::lookup {

/// Whether a text's first line begins a citation with tags, or the head of a table of PMIDs.
[[nodiscard]] bool begins_nbib(std::string_view line);
[[nodiscard]] bool begins_csv(std::string_view line);

/// A PMID; nothing where text is none.
[[nodiscard]] std::optional<std::uint32_t> pmid_of(std::string_view text);

/// Citations with tags, line by line: those of PMID and MH are read, a heading without its
/// qualifiers and stars.
class NbibReader {
 public:
  explicit NbibReader(ArticleSink& sink) : sink_(sink) {}
  /// raw: with the blanks at its beginning, which mark what goes on.
  void line(std::string_view raw, std::uint64_t number);
  void end();

 private:
  void end_heading();

  ArticleSink& sink_;
  std::optional<Article> article_;
  std::string heading_;  // as far as it was read
  std::string tag_;
};

/// The article of a line of the table, its first field the PMID.
[[nodiscard]] Article csv_article(std::string_view line, std::uint64_t number);

}  // namespace somatlas::lookup
