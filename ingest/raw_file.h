// A file read once from front to back, with its size and MD5 kept along the way.
// Always holds: the sum covers every byte handed out, in order; faults name the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ingest/byte_source.h"

namespace somatlas::ingest {

class RawFile {
 public:
  /// Opens the file. Throws InputError where it is missing, a directory or unreadable.
  explicit RawFile(std::string path, Md5 md5 = Md5::summed);
  ~RawFile();
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  /// Reads until out is full or the file ends; returns the bytes read. Throws InputError.
  [[nodiscard]] std::size_t read(std::span<std::byte> out);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// The sum of the whole file, once read() has come to its end. Throws std::logic_error earlier.
  [[nodiscard]] Md5Hex md5() const;

 private:
  struct Digest;  // keeps OpenSSL out of this header

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
  bool at_end_ = false;
  std::unique_ptr<Digest> digest_;  // none once the sum is finished, or where it is left out
  Md5Hex md5_;
};

}  // namespace somatlas::ingest
