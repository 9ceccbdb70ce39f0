// The one exception of ingest/: an input file that is refused, with its name, the line where that
// is known, and what to do about it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace somatlas::ingest {

/// The text on one line, without control characters: names and texts of files reach terminals.
[[nodiscard]] inline std::string printable(std::string text) {
  for (char& c : text) {
    c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return text;
}

class InputError : public std::runtime_error {
 public:
  /// line is 1-based; 0: the fault has no line (a checksum, a gzip stream, a missing file). The
  /// file's name and what problem quotes of its text are shown on one line, without control
  /// characters.
  InputError(std::string file, std::uint64_t line, const std::string& problem)
      : std::runtime_error(
            printable(file + (line != 0 ? ":" + std::to_string(line) : "") + ": " + problem)),
        file_(std::move(file)),
        line_(line) {}

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::uint64_t line() const { return line_; }

 private:
  std::string file_;
  std::uint64_t line_;
};

}  // namespace somatlas::ingest
