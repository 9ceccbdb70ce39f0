// Feeds an XML document from a ByteSource through libxml2's SAX2 push parser to a receiver of its
// elements. Internal to ingest/: the readers of MEDLINE and of MeSH tables stand on it.
// Always holds: nothing but the source is opened; entity and attribute-list declarations are
// refused; the nesting, the names and the length of a tag and of a text are bounded; memory does
// not grow with the document.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ingest/byte_source.h"

namespace somatlas::ingest {

/// The attributes of one element, as libxml2 lays them out; valid during the call only.
class XmlAttributes {
 public:
  /// parts: five pointers an attribute (local name, prefix, URI, value, value's end).
  explicit XmlAttributes(std::span<const unsigned char* const> parts) : parts_(parts) {}
  /// The value of the attribute with this local name, character references resolved (an ampersand
  /// alone is written "&#38;").
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;

 private:
  std::span<const unsigned char* const> parts_;
};

/// What a receiver wants of the inside of an element.
enum class Interest : std::uint8_t {
  none,      // nothing: neither its inside nor its end is told
  elements,  // its children
  text,      // all its text, that of elements inside included, which are not told themselves
};

/// Receives elements by local name, namespaces left aside. What it throws stops the parse and
/// reaches parse_xml's caller.
class XmlReceiver {
 public:
  virtual ~XmlReceiver() = default;
  /// line: 1-based, where the tag ends.
  [[nodiscard]] virtual Interest start_element(std::string_view name, XmlAttributes attributes,
                                               std::uint64_t line) = 0;
  /// Of an element whose inside was of interest.
  virtual void end_element(std::string_view name) = 0;
  /// Character data and CDATA, in pieces of any size.
  virtual void text(std::string_view piece) = 0;

  /// Names of elements that hidden_element() is told of wherever start_element() is not.
  [[nodiscard]] virtual std::span<const std::string_view> watched() const { return {}; }
  virtual void hidden_element(std::string_view /*name*/, std::uint64_t /*line*/) {}
};

/// Parses a whole document and returns its bytes. Throws InputError (file, line) where it is not
/// well-formed or not allowed, and whatever the receiver throws.
std::uint64_t parse_xml(ByteSource& source, XmlReceiver& receiver);

}  // namespace somatlas::ingest
