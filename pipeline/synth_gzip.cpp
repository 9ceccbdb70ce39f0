// Writing through the system's calls, so that every failure is seen where it happens.
#include "pipeline/synth_gzip.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace somatlas::pipeline {

namespace {

constexpr int level =
    4;  // packs this text as tightly (5:1) as level 6 packs real records, and faster
constexpr int gzip_window_bits = 15 + 16;
constexpr int default_memory_level = 8;
constexpr std::size_t buffer_bytes = 1 << 18;

}  // namespace

WholeFile::WholeFile(std::string path) : path_(std::move(path)), partial_(path_ + ".partial") {
  descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    fail("cannot be created");
  }
}

WholeFile::~WholeFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    ::unlink(partial_.c_str());
  }
}

void WholeFile::fail(const char* what) const {
  throw std::runtime_error(path_ + ": the file " + what + " (" + std::strerror(errno) +
                           "); make room or choose another place, and start again");
}

void WholeFile::write(const void* bytes, std::size_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, next, size);
    if (written < 0 && errno != EINTR) {
      fail("cannot be written");
    }
    if (written > 0) {
      next += written;
      size -= static_cast<std::size_t>(written);
    }
  }
}

void WholeFile::finish() {
  if (::fsync(descriptor_) != 0) {
    fail("cannot be written");
  }
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0 || std::rename(partial_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(partial_.c_str());
    errno = error;
    fail("cannot be given its name");
  }
}

GzipFile::GzipFile(std::string path) : file_(std::move(path)), out_(buffer_bytes) {
  if (deflateInit2(&stream_, level, Z_DEFLATED, gzip_window_bits, default_memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib cannot start; free some memory");
  }
}

GzipFile::~GzipFile() {
  deflateEnd(&stream_);
}

void GzipFile::deflate_some(int flush) {
  int result = Z_OK;
  do {
    stream_.next_out = out_.data();
    stream_.avail_out = static_cast<uInt>(out_.size());
    result = deflate(&stream_, flush);
    file_.write(out_.data(), out_.size() - stream_.avail_out);
  } while (stream_.avail_out == 0 || (flush == Z_FINISH && result == Z_OK));
}

void GzipFile::write(std::string_view text) {
  constexpr std::size_t most = 1 << 30;
  text_bytes_ += text.size();
  while (!text.empty()) {
    const std::string_view part = text.substr(0, most);
    // zlib's interface is not const, but it only reads.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream_.avail_in = static_cast<uInt>(part.size());
    deflate_some(Z_NO_FLUSH);
    text.remove_prefix(part.size());
  }
}

void GzipFile::finish() {
  stream_.avail_in = 0;
  deflate_some(Z_FINISH);
  file_.finish();
}

}  // namespace somatlas::pipeline
