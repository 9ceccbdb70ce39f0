// Standard output as a buffer that knows whether its bytes arrived. Always holds: a write that
// fails is an OutputError, whatever was written before it; nothing is lost silently.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace somatlas::tools {

/// Standard output could not be written: a full disk.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The reader of standard output went away, as `head` does when it has enough: nothing to tell.
class OutputClosed : public OutputError {
 public:
  using OutputError::OutputError;
};

class Output {
 public:
  Output() { buffer_.reserve(buffer_bytes); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Appends text. Throws OutputError, OutputClosed.
  Output& operator<<(std::string_view text) {
    buffer_ += text;
    return flush_if_full();
  }
  Output& operator<<(const std::string& text) { return *this << std::string_view(text); }
  Output& operator<<(const char* text) { return *this << std::string_view(text); }
  Output& operator<<(char character) {
    buffer_ += character;
    return flush_if_full();
  }
  /// Appends a number in decimal, whatever the locale.
  template <std::integral Number>
  Output& operator<<(Number number) {
    char digits[std::numeric_limits<Number>::digits10 + 3];
    buffer_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    return flush_if_full();
  }

  /// Hands everything to the system. Throws OutputError, OutputClosed.
  void flush();

 private:
  static constexpr std::size_t buffer_bytes = 1 << 16;
  Output& flush_if_full() {
    if (buffer_.size() >= buffer_bytes) {
      flush();
    }
    return *this;
  }
  std::string buffer_;
};

}  // namespace somatlas::tools
