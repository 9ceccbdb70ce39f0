// A byte source read line by line, or handed on whole from its first byte after a look at its first
// lines. Always holds: memory is one buffer and one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/byte_source.h"

namespace somatlas::lookup {

class LineSource {
 public:
  /// advice: what a line should be, for the refusal of one that is too long.
  LineSource(ingest::ByteSource& source, std::size_t longest_bytes,
             std::string advice = "give a PMID or the descriptors of one article a line");

  /// The next line without its line end (LF or CR LF) and, in the first, without a UTF-8 mark;
  /// false at the end. The view is valid until the next call. Throws ingest::InputError where a
  /// line is too long or holds a NUL byte.
  [[nodiscard]] bool next(std::string_view& line);
  /// 1-based number of the line that next() returned last.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  ingest::ByteSource& source_;
  std::size_t longest_;
  std::string advice_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of what is not yet handed out
  bool ended_ = false;
  std::uint64_t number_ = 0;
};

/// Gives bytes already taken from a source once more, then the rest of it.
class ReplayedSource : public ingest::ByteSource {
 public:
  ReplayedSource(std::vector<std::byte> first, ingest::ByteSource& rest);
  [[nodiscard]] std::size_t read(std::span<std::byte> out) override;
  [[nodiscard]] const std::string& path() const override { return rest_.path(); }
  [[nodiscard]] std::uint64_t file_bytes() const override { return rest_.file_bytes(); }
  [[nodiscard]] ingest::Md5Hex md5() const override { return rest_.md5(); }

 private:
  std::vector<std::byte> first_;
  std::size_t given_ = 0;
  ingest::ByteSource& rest_;
};

}  // namespace somatlas::lookup
