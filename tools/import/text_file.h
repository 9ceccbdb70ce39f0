// A text of another program, line by line and word by word, plain or gzip.
// Always holds: memory is one line; a refusal names the file and the line and quotes little.
#pragma once

#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/byte_source.h"
#include "tools/lookup/line_source.h"

namespace somatlas::imports {

class TextFile {
 public:
  /// advice: what a line should be, for the refusal of one that is longer than longest bytes.
  /// Throws ingest::InputError.
  TextFile(const std::string& path, std::size_t longest, std::string advice);
  /// As lookup::LineSource has it.
  [[nodiscard]] bool next(std::string_view& line) { return lines_.next(line); }
  [[nodiscard]] const std::string& path() const { return source_->path(); }
  /// Throws ingest::InputError about the line that was read last.
  [[noreturn]] void refuse(const std::string& problem) const;

 private:
  std::unique_ptr<ingest::ByteSource> source_;
  lookup::LineSource lines_;
};

/// The next word of a line, between blanks and tabs; empty at its end.
[[nodiscard]] std::string_view next_word(std::string_view& line);

/// A word in quotation marks, cut where it is long; nothing of what is no clean UTF-8.
[[nodiscard]] std::string quoted(std::string_view word);

/// The number that all of a word is; nothing where it is none.
template <typename Number>
[[nodiscard]] std::optional<Number> number_of(std::string_view word) {
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(number)
                                                                  : std::nullopt;
}

}  // namespace somatlas::imports
