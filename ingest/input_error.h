// The one exception of ingest/: an input file that is refused, with its name, the line where that
// is known, and what to do about it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace somatlas::ingest {

class InputError : public std::runtime_error {
 public:
  /// line is 1-based; 0: the fault has no line (a checksum, a gzip stream, a missing file). What
  /// problem quotes of a file's text is shown on one line, without control characters.
  InputError(std::string file, std::uint64_t line, std::string problem)
      : std::runtime_error(file + (line != 0 ? ":" + std::to_string(line) : "") + ": " +
                           printable(std::move(problem))),
        file_(std::move(file)),
        line_(line) {}

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::uint64_t line() const { return line_; }

 private:
  static std::string printable(std::string text) {
    for (char& c : text) {
      c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
    return text;
  }

  std::string file_;
  std::uint64_t line_;
};

}  // namespace somatlas::ingest
