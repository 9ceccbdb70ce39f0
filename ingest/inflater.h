// One gzip member inflated as a stream, by a library. Internal to ingest/: gzip_source.cpp strings
// members together. Always holds: Step::finished is said only when the member's checksum and length
// were found right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace somatlas::ingest {

/// Where a call of Inflater::inflate stopped.
enum class Step : std::uint8_t {
  going_on,  // wants input, or room for output
  finished,  // the member is whole; what input is left is not its own
  bad_header,
  bad_data,
  bad_checksum,  // or length
};

class Inflater {
 public:
  virtual ~Inflater() = default;
  /// The next input begins a member.
  virtual void begin() = 0;
  /// Whether the member's header has been read.
  [[nodiscard]] virtual bool in_data() const = 0;
  /// Takes bytes off the front of in and fills the front of out; both shrink by what was done.
  /// Where the member is bad, what is left of either means nothing.
  [[nodiscard]] virtual Step inflate(std::span<const std::uint8_t>& in,
                                     std::span<std::uint8_t>& out) = 0;
};

/// ISA-L, three times as quick as zlib on MEDLINE. Throws std::logic_error where it was not there
/// to build with.
[[nodiscard]] std::unique_ptr<Inflater> make_isal_inflater();
/// zlib: stands in where there is no ISA-L, and is what it is compared with.
[[nodiscard]] std::unique_ptr<Inflater> make_zlib_inflater();
/// The quicker of the two that there are.
[[nodiscard]] std::unique_ptr<Inflater> make_inflater();

}  // namespace somatlas::ingest
