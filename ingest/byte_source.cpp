// Opens a file as plain bytes or as gzip, told apart by its first two bytes.
// Always holds: a name that promises gzip over content that is none is an error, not a guess; a
// file of no bytes is a source of none, and whether that will do is its reader's to say.
#include "ingest/byte_source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <utility>
#include <vector>

#include "ingest/gzip_source.h"
#include "ingest/input_error.h"
#include "ingest/raw_file.h"

namespace somatlas::ingest {
namespace {

bool named_gzip(const std::string& path) {
  if (path.size() < 3) {
    return false;
  }
  std::string end = path.substr(path.size() - 3);
  std::transform(end.begin(), end.end(), end.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return end == ".gz";
}

class PlainSource final : public ByteSource {
 public:
  PlainSource(std::unique_ptr<RawFile> file, std::span<const std::byte> head)
      : file_(std::move(file)), head_(head.begin(), head.end()) {}

  [[nodiscard]] std::size_t read(std::span<std::byte> out) override {
    const std::size_t from_head = std::min(out.size(), head_.size() - head_taken_);
    std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(head_taken_), from_head, out.begin());
    head_taken_ += from_head;
    return from_head + file_->read(out.subspan(from_head));
  }
  [[nodiscard]] const std::string& path() const override { return file_->path(); }
  [[nodiscard]] std::uint64_t file_bytes() const override { return file_->bytes(); }
  [[nodiscard]] Md5Hex md5() const override { return file_->md5(); }

 private:
  std::unique_ptr<RawFile> file_;
  std::vector<std::byte> head_;  // the bytes already read to tell the form
  std::size_t head_taken_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_byte_source(const std::string& path, Md5 md5) {
  auto file = std::make_unique<RawFile>(path, md5);
  std::array<std::byte, 2> head{};
  const std::size_t size = file->read(head);
  const std::span<const std::byte> read_so_far(head.data(), size);
  if (size == 2 && head[0] == std::byte{0x1f} && head[1] == std::byte{0x8b}) {
    return make_gzip_source(std::move(file), read_so_far);
  }
  if (named_gzip(path) && size != 0) {
    throw InputError(path, 0,
                     "is named .gz but is not gzip; fetch it again, or rename it if it is plain");
  }
  return std::make_unique<PlainSource>(std::move(file), read_so_far);
}

Md5Hex md5_of_file(const std::string& path) {
  RawFile file(path);
  std::vector<std::byte> buffer(std::size_t{1} << 18U);
  while (file.read(buffer) == buffer.size()) {
  }
  return file.md5();
}

}  // namespace somatlas::ingest
