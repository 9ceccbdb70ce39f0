// What one MEDLINE record says, as far as somatlas keeps it, and the sink that receives it.
// Always holds: views are valid during the call only; a sink sees records in file order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace somatlas::ingest {

/// A MeSH descriptor's unique identifier: D and six or nine digits.
struct DescriptorUi {
  std::uint32_t number = 0;
  std::uint8_t digits = 6;
  friend bool operator==(const DescriptorUi&, const DescriptorUi&) = default;
};

/// Reads "D009369" or "D000068036"; nothing else is a descriptor UI.
[[nodiscard]] std::optional<DescriptorUi> parse_descriptor_ui(std::string_view text);

/// A descriptor of an article. It is a major topic where MEDLINE sets the star (MajorTopicYN="Y")
/// on the descriptor or on any of its qualifiers.
struct Heading {
  DescriptorUi ui;
  bool major_topic = false;
};

struct CitationView {
  std::uint32_t pmid = 0;
  std::uint16_t version = 1;
  std::uint16_t year = 0;  // publication year; 0: none found
  std::span<const Heading>
      headings;  // distinct descriptors, in no order; major if any of its headings is
};

/// Why a record was left out.
enum class LeftOut : std::uint8_t { no_pmid, bad_pmid, too_many_descriptors, bad_version };

/// Receives a file's records in order. What it throws stops the parse and reaches the caller.
class CitationSink {
 public:
  virtual ~CitationSink() = default;
  virtual void citation(const CitationView& citation) = 0;
  virtual void deletion(std::uint32_t pmid, std::uint16_t version) = 0;
  /// A book record: counted, not an error.
  virtual void book(std::uint64_t line) = 0;
  /// A record that cannot be kept; text is what stood where the number should be, for a version
  /// with the PMID that it belongs to.
  virtual void left_out(LeftOut reason, std::uint64_t line, std::string_view text) = 0;
  /// A heading whose descriptor cannot be told (no UI and a name that the table lacks, or a UI that
  /// is none). The record goes on without it.
  virtual void unknown_heading(std::uint64_t line, std::uint32_t pmid, std::string_view name) = 0;
};

}  // namespace somatlas::ingest
