// Follows the markup of an XML document ahead of the parser: where a tag begins and ends, how long
// it is, on which line. Internal to ingest/.
// Always holds: it agrees with XML on comments, CDATA sections, processing instructions, quoted
// values and the document type, however the bytes are cut; memory is a few integers. It reads
// encodings in which ASCII bytes stand for ASCII characters only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace somatlas::ingest {

/// libxml2's time for a tag grows with the square of its attributes, so both are bounded before it
/// sees the tag. Real MEDLINE tags are below 1 KiB and have fewer than ten attributes.
inline constexpr std::size_t longest_markup_bytes = std::size_t{1} << 16U;
inline constexpr std::size_t most_attributes = 1000;
/// Comments and CDATA sections: libxml2 keeps them whole and looks through them again and again.
/// Real texts between two tags are below 100 KiB.
inline constexpr std::size_t longest_section_bytes = std::size_t{1} << 20U;

enum class MarkupFault : std::uint8_t {
  tag_too_long,
  section_too_long,
  text_too_long,
  too_many_attributes,
  nul_byte
};

struct MarkupViolation {
  MarkupFault fault;
  std::uint64_t line;  // 1-based: where the markup begins, or the byte stands
};

class MarkupScanner {
 public:
  /// Reads on. After a violation the scanner is not to be used again, settled() apart.
  [[nodiscard]] std::optional<MarkupViolation> scan(std::string_view bytes);

  /// How many of all bytes so far can be handed on: up to a tag, processing instruction or document
  /// type that has begun and not ended. What is left is at most longest_markup_bytes.
  [[nodiscard]] std::uint64_t settled() const { return held() ? markup_from_ : offset_; }

  /// 1-based: where the markup begins that settled() ends at, else of the next byte.
  [[nodiscard]] std::uint64_t line() const { return held() ? markup_line_ : lines_ + 1; }

 private:
  enum class State : std::uint8_t {
    text,
    comment,
    cdata,
    // In the states from here on the markup is held back until it is whole.
    opened,    // behind "<"
    declared,  // behind "<!", until it is clear what follows
    tag,
    tag_value,
    instruction,
    doctype,
    doctype_value,
    doctype_opened,    // behind "<" in the document type
    doctype_declared,  // behind "<!" there
    doctype_comment,
    doctype_instruction,
  };

  [[nodiscard]] bool held() const { return state_ >= State::opened; }
  [[nodiscard]] const char* past_short_tags(const char* at, const char* end);
  [[nodiscard]] const char* in_text(const char* at, const char* end);
  [[nodiscard]] const char* in_tag(const char* at, const char* end);
  [[nodiscard]] bool declared(char c);
  void in_section(char c, char mark, State after);
  [[nodiscard]] bool in_doctype(char c);
  void check_length(bool is_tag);
  [[nodiscard]] bool in_long_text(const char* at);
  [[nodiscard]] std::uint64_t text_bytes(const char* at) const;
  [[nodiscard]] std::uint64_t line_at(std::uint64_t offset) const;

  State state_ = State::text;
  char quote_ = 0;         // that ends the value, or the first character behind "<!"
  unsigned matched_ = 0;   // characters of "--", "[CDATA[" or of a section's end met so far
  unsigned brackets_ = 0;  // open "[" of the document type
  std::size_t attributes_ = 0;
  std::string_view chunk_;         // what scan() was given
  std::uint64_t chunk_from_ = 0;   // its offset in the document
  std::uint64_t offset_ = 0;       // of the next byte
  std::uint64_t lines_ = 0;        // line feeds before the chunk
  std::uint64_t markup_from_ = 0;  // offset of the last "<" that began markup, or of its end
  std::uint64_t markup_line_ = 1;  // its line, once its chunk is behind
  std::optional<MarkupFault> fault_;
};

}  // namespace somatlas::ingest
