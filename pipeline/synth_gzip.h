// A file that appears under its name only when it is whole: written as NAME.partial, flushed to the
// disk, renamed; left behind unfinished, it is removed. Plain, or gzip with a header that holds
// neither time nor name, so that the same text gives the same bytes.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace somatlas::pipeline {

class WholeFile {
 public:
  /// Throws std::runtime_error where it cannot be made.
  explicit WholeFile(std::string path);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Throws std::runtime_error (a full disk).
  void write(const void* bytes, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Gives it its name. Throws std::runtime_error.
  void finish();

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string path_;
  std::string partial_;
  int descriptor_ = -1;
};

class GzipFile {
 public:
  explicit GzipFile(std::string path);
  ~GzipFile();
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  void write(std::string_view text);
  void finish();
  [[nodiscard]] std::uint64_t text_bytes() const { return text_bytes_; }

 private:
  void deflate_some(int flush);
  WholeFile file_;
  z_stream stream_{};
  std::vector<unsigned char> out_;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace somatlas::pipeline
