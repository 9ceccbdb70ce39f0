// Lines out of pieces of bytes.
// Always holds: a line that is too long is refused before it is held whole.
#include "tools/lookup/line_source.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "ingest/input_error.h"

namespace somatlas::lookup {

LineSource::LineSource(ingest::ByteSource& source, std::size_t longest_bytes, std::string advice)
    : source_(source), longest_(longest_bytes), advice_(std::move(advice)) {}

bool LineSource::next(std::string_view& line) {
  std::size_t searched = begin_;
  std::size_t end = 0;
  for (;;) {
    end = buffer_.find('\n', searched);
    if (end != std::string::npos || ended_) {
      break;
    }
    if (buffer_.size() - begin_ > longest_) {
      throw ingest::InputError(
          source_.path(), number_ + 1,
          "a line is longer than " + std::to_string(longest_) + " bytes; " + advice_);
    }
    buffer_.erase(0, begin_);
    begin_ = 0;
    searched = buffer_.size();
    constexpr std::size_t piece = std::size_t{1} << 16;
    buffer_.resize(searched + piece);
    const std::size_t got =
        source_.read(std::as_writable_bytes(std::span(buffer_).subspan(searched)));
    buffer_.resize(searched + got);
    ended_ = got == 0;
  }
  if (end == std::string::npos) {
    end = buffer_.size();
    if (begin_ == end) {
      return false;
    }
  }
  line = std::string_view(buffer_).substr(begin_, end - begin_);
  begin_ = std::min(end + 1, buffer_.size());
  ++number_;
  if (line.size() > longest_) {
    throw ingest::InputError(
        source_.path(), number_,
        "the line is longer than " + std::to_string(longest_) + " bytes; " + advice_);
  }
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  if (number_ == 1 && line.starts_with("\xEF\xBB\xBF")) {
    line.remove_prefix(3);
  }
  if (line.find('\0') != std::string_view::npos) {
    throw ingest::InputError(source_.path(), number_,
                             "a NUL byte: this is neither MEDLINE XML nor a text file in UTF-8");
  }
  return true;
}

ReplayedSource::ReplayedSource(std::vector<std::byte> first, ingest::ByteSource& rest)
    : first_(std::move(first)), rest_(rest) {}

std::size_t ReplayedSource::read(std::span<std::byte> out) {
  if (given_ == first_.size()) {
    return rest_.read(out);
  }
  const std::size_t count = std::min(out.size(), first_.size() - given_);
  std::memcpy(out.data(), first_.data() + given_, count);
  given_ += count;
  return count;
}

}  // namespace somatlas::lookup
