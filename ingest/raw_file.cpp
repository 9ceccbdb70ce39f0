// A file read once from front to back through POSIX calls, summed by OpenSSL as it is read.
// Always holds: an interrupted call is repeated, a short read is not taken for the end.
#include "ingest/raw_file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "ingest/input_error.h"

namespace somatlas::ingest {
namespace {

std::string reason(int error) {
  return std::generic_category().message(error);
}

}  // namespace

struct RawFile::Digest {
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  Digest() {
    if (context == nullptr) {
      throw std::bad_alloc();
    }
    // MD5 guards against damage in transit, not against an adversary; it is what NLM publishes.
    if (EVP_DigestInit_ex(context, EVP_md5(), nullptr) != 1) {
      EVP_MD_CTX_free(context);
      throw std::runtime_error("OpenSSL offers no MD5 here, so checksums cannot be computed");
    }
  }
  ~Digest() { EVP_MD_CTX_free(context); }
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(std::span<const std::byte> bytes) const {
    if (EVP_DigestUpdate(context, bytes.data(), bytes.size()) != 1) {
      throw std::runtime_error("OpenSSL failed to continue an MD5 sum");
    }
  }

  [[nodiscard]] Md5Hex finish() const {
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_DigestFinal_ex(context, sum, &size) != 1) {
      throw std::runtime_error("OpenSSL failed to finish an MD5 sum");
    }
    constexpr const char* digits = "0123456789abcdef";
    Md5Hex hex;
    for (unsigned i = 0; i < size; ++i) {
      hex += digits[sum[i] >> 4U];
      hex += digits[sum[i] & 15U];
    }
    return hex;
  }
};

RawFile::RawFile(std::string path, Md5 md5)
    : path_(std::move(path)), digest_(md5 == Md5::summed ? std::make_unique<Digest>() : nullptr) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) {
    const int error = errno;
    if (error == ENOENT) {
      throw InputError(path_, 0, "there is no such file; check the path");
    }
    throw InputError(path_, 0, "cannot be opened (" + reason(error) + ")");
  }
  struct stat status {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (!known || S_ISDIR(status.st_mode)) {
    const int error = errno;
    ::close(descriptor_);
    throw InputError(path_, 0,
                     known ? "is a directory; a file is needed here"
                           : "cannot be examined (" + reason(error) + ")");
  }
  // Advice only: where it is not taken, reading is slower and nothing else.
  static_cast<void>(::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL));
}

RawFile::~RawFile() {
  ::close(descriptor_);
}

std::size_t RawFile::read(std::span<std::byte> out) {
  std::size_t filled = 0;
  while (filled < out.size() && !at_end_) {
    const ssize_t got = ::read(descriptor_, out.data() + filled, out.size() - filled);
    if (got < 0) {
      const int error = errno;
      if (error == EINTR) {
        continue;
      }
      throw InputError(
          path_, 0,
          "cannot be read past byte " + std::to_string(bytes_) + " (" + reason(error) + ")");
    }
    at_end_ = got == 0;
    filled += static_cast<std::size_t>(got);
  }
  bytes_ += filled;
  if (digest_) {
    digest_->add(out.first(filled));
    if (at_end_) {
      md5_ = digest_->finish();
      digest_.reset();
    }
  }
  return filled;
}

Md5Hex RawFile::md5() const {
  if (!at_end_) {
    throw std::logic_error("the MD5 of " + path_ + " was asked for before its end was read");
  }
  return md5_;
}

}  // namespace somatlas::ingest
