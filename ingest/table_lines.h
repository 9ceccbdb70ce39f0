// The lines of a text table, such as MeSH tables are. Always holds: a line is bounded, in UTF-8 and
// without control characters but tabs; a byte order mark and both kinds of line ends are taken off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "ingest/byte_source.h"

namespace somatlas::ingest {

class TableLines {
 public:
  /// remedy: what to give instead of a file that is no text. The source outlives this.
  TableLines(ByteSource& source, std::string remedy)
      : source_(source), remedy_(std::move(remedy)) {}

  /// The next line, or false at the end. Throws InputError where a line is no text.
  bool next(std::string& line);
  /// Of the line that next() gave, from 1.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  void refill();
  void tidy(std::string& line) const;

  ByteSource& source_;
  std::string remedy_;
  std::string rest_;
  std::size_t begin_ = 0;     // of the next line in rest_
  std::size_t searched_ = 0;  // up to here rest_ has no line feed
  std::uint64_t number_ = 0;
  bool at_end_ = false;
};

}  // namespace somatlas::ingest
