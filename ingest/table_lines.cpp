// Cutting a stream into lines.
#include "ingest/table_lines.h"

#include <libxml/xmlstring.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "ingest/input_error.h"

namespace somatlas::ingest {
namespace {

constexpr std::size_t longest_line_bytes = std::size_t{1} << 20U;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

}  // namespace

bool TableLines::next(std::string& line) {
  while (true) {
    const std::size_t end = rest_.find('\n', searched_);
    if (end != std::string::npos || (at_end_ && begin_ < rest_.size())) {
      const std::size_t stop = end == std::string::npos ? rest_.size() : end;
      line.assign(rest_, begin_, stop - begin_);
      begin_ = searched_ = std::min(stop + 1, rest_.size());
      ++number_;
      tidy(line);
      return true;
    }
    if (at_end_) {
      return false;
    }
    refill();
  }
}

void TableLines::refill() {
  rest_.erase(0, begin_);
  begin_ = 0;
  searched_ = rest_.size();
  if (rest_.size() > longest_line_bytes) {
    throw InputError(source_.path(), number_ + 1,
                     "is longer than any line of a MeSH table; check that the file is one");
  }
  std::array<std::byte, std::size_t{1} << 16U> piece{};
  const std::size_t got = source_.read(piece);
  rest_.append(reinterpret_cast<const char*>(piece.data()), got);
  at_end_ = got == 0;
}

void TableLines::tidy(std::string& line) const {
  if (!line.empty() && line.back() == '\r') {
    line.pop_back();
  }
  if (number_ == 1 && line.compare(0, byte_order_mark.size(), byte_order_mark) == 0) {
    line.erase(0, byte_order_mark.size());
  }
  const bool binary = std::any_of(line.begin(), line.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\t';
  });
  if (binary) {
    throw InputError(source_.path(), number_,
                     "holds control characters, so it is no MeSH table; " + remedy_);
  }
  if (xmlCheckUTF8(reinterpret_cast<const unsigned char*>(line.c_str())) == 0) {
    throw InputError(source_.path(), number_, "is not text in UTF-8; convert it, or " + remedy_);
  }
}

}  // namespace somatlas::ingest
