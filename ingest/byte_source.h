// A file as a stream of its bytes, inflated where it is gzip, with the MD5 and size of what is on
// disk. Always holds: memory is a few fixed buffers whatever the file's size; every gzip member's
// CRC and length is checked; a cut member or garbage behind the last one is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace somatlas::ingest {

/// An MD5 sum, as 32 lower-case hexadecimal digits.
using Md5Hex = std::string;
/// Whether a file's sum is made as it is read.
enum class Md5 : std::uint8_t { summed, left_out };

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills some of out and returns how many bytes; 0 at the end. Throws InputError.
  [[nodiscard]] virtual std::size_t read(std::span<std::byte> out) = 0;
  [[nodiscard]] virtual const std::string& path() const = 0;
  /// Bytes of the file itself read so far (compressed ones where it is gzip).
  [[nodiscard]] virtual std::uint64_t file_bytes() const = 0;
  /// MD5 of the file itself; valid after read() returned 0. Empty where it was left out.
  [[nodiscard]] virtual Md5Hex md5() const = 0;
};

/// Opens a plain or gzip file, told apart by its first bytes. Throws InputError.
[[nodiscard]] std::unique_ptr<ByteSource> open_byte_source(const std::string& path,
                                                           Md5 md5 = Md5::summed);

/// MD5 of a whole file as it is on disk. Throws InputError.
[[nodiscard]] Md5Hex md5_of_file(const std::string& path);

/// The sum in the companion PATH.md5 (NLM's "MD5(name)= sum" and md5sum's "sum  name"); empty where
/// there is no such file. Throws InputError where it holds no sum.
[[nodiscard]] Md5Hex companion_md5(const std::string& path);

}  // namespace somatlas::ingest
