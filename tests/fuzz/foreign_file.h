// Bytes of the fuzzer as somatlas meets them: as a source, or as a file that has a path and no
// disk under it; and what must hold of every sentence that refuses them.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "ingest/byte_source.h"
#include "ingest/input_error.h"
#include "tests/fuzz/expect.h"

namespace somatlas::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Hands out at most chunk bytes a call.
class ForeignSource final : public ingest::ByteSource {
 public:
  ForeignSource(std::string_view bytes, std::size_t chunk) : bytes_(bytes), chunk_(chunk) {}

  [[nodiscard]] std::size_t read(std::span<std::byte> out) override {
    const std::size_t size = std::min({out.size(), chunk_, bytes_.size() - taken_});
    std::copy_n(reinterpret_cast<const std::byte*>(bytes_.data()) + taken_, size, out.data());
    taken_ += size;
    return size;
  }
  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] std::uint64_t file_bytes() const override { return taken_; }
  [[nodiscard]] ingest::Md5Hex md5() const override { return {}; }

 private:
  std::string path_ = "memory.xml";
  std::string_view bytes_;
  std::size_t chunk_;
  std::size_t taken_ = 0;
};

/// A file in memory whose content is replaced from one execution to the next.
class ForeignFile {
 public:
  ForeignFile() : descriptor_(::memfd_create("foreign", MFD_CLOEXEC)) {
    expect(descriptor_ >= 0, "a file in memory can be made");
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  }
  ~ForeignFile() { ::close(descriptor_); }
  ForeignFile(const ForeignFile&) = delete;
  ForeignFile& operator=(const ForeignFile&) = delete;

  /// Returns the path of a file of these bytes.
  const std::string& put(std::string_view bytes) {
    expect(::ftruncate(descriptor_, 0) == 0 && ::pwrite(descriptor_, bytes.data(), bytes.size(),
                                                        0) == static_cast<ssize_t>(bytes.size()),
           "a file in memory can be written");
    return path_;
  }

 private:
  int descriptor_;
  std::string path_;
};

/// One sentence on one line, that begins with the file and a line that the file has.
inline void check_refusal(const ingest::InputError& error, const std::string& path,
                          std::string_view bytes) {
  const std::string_view what = error.what();
  expect(error.file() == path && what.starts_with(path + ":"), "a refusal names the file",
         std::string(what));
  expect(what.size() < path.size() + 500, "a refusal is short", std::string(what));
  expect(std::none_of(what.begin(), what.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }),
         "a refusal is printable", std::string(what));
  const auto lines = 1 + std::count(bytes.begin(), bytes.end(), '\n');
  expect(error.line() <= static_cast<std::uint64_t>(lines), "a refusal names a line there is",
         std::string(what));
}

/// Reads a file of the bytes behind the first, which says in which of so many forms: check(path,
/// form). What is refused must be refused well, but for gzip, whose lines are not those of the
/// file.
template <typename Check>
int check_reading(const std::uint8_t* data, std::size_t size, std::uint8_t forms, Check check) {
  if (size == 0) {
    return 0;
  }
  const std::string_view bytes = text_of(data + 1, size - 1);
  static ForeignFile file;
  const std::string& path = file.put(bytes);
  try {
    check(path, static_cast<std::uint8_t>(data[0] % forms));
  } catch (const ingest::InputError& error) {
    if (!bytes.starts_with("\x1f\x8b")) {
      check_refusal(error, path, bytes);
    }
  }
  return 0;
}

}  // namespace somatlas::fuzz
