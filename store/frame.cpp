// Sealing and opening of values: zstd and XXH3, and nothing of what the values mean.
// Always holds: compression contexts are reused per thread and hold no state between values.
#include "store/frame.h"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <new>

#include "store/store_error.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

constexpr int zstd_level = 1;
constexpr std::size_t header_bytes = 20;
constexpr std::size_t hashed_from = 16;
// Level 1 makes windows of 512 KiB; a frame that asks for more was not written here.
constexpr int window_log_limit = 20;
// Up to this ratio the content is inflated in one go; past it, memory grows as content appears.
constexpr std::size_t plain_ratio = 64;

std::uint64_t hash_of(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

ZSTD_CCtx* compressor() {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  if (!context)
    throw std::bad_alloc();
  return context.get();
}

ZSTD_DCtx* decompressor() {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (!context)
    throw std::bad_alloc();
  ZSTD_DCtx_reset(context.get(), ZSTD_reset_session_only);
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, window_log_limit);
  return context.get();
}

std::string inflate(std::string_view frame, std::size_t limit) {
  // The library also reads forms of before its first release, whose windows it does not bound.
  if (!frame.starts_with("\x28\xB5\x2F\xFD"))
    throw StoreError("its compressed part is none of zstd's");
  const unsigned long long claimed = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (claimed == ZSTD_CONTENTSIZE_ERROR || claimed == ZSTD_CONTENTSIZE_UNKNOWN || claimed > limit)
    throw StoreError("its compressed part has no usable length");
  const auto size = static_cast<std::size_t>(claimed);
  ZSTD_DCtx* const context = decompressor();
  std::string content(std::min(size, frame.size() * plain_ratio), '\0');
  if (content.size() == size) {
    const std::size_t made =
        ZSTD_decompressDCtx(context, content.data(), size, frame.data(), frame.size());
    if (ZSTD_isError(made) != 0 || made != size)
      throw StoreError("its compressed part is damaged");
    return content;
  }
  ZSTD_inBuffer in{frame.data(), frame.size(), 0};
  std::size_t done = 0;
  while (true) {
    ZSTD_outBuffer out{content.data(), content.size(), done};
    const std::size_t left = ZSTD_decompressStream(context, &out, &in);
    const bool stuck = out.pos == done && out.pos < out.size && in.pos == in.size && left != 0;
    done = out.pos;
    if (ZSTD_isError(left) != 0 || stuck)
      throw StoreError("its compressed part is damaged");
    if (left == 0)
      break;
    if (done == content.size()) {
      if (done == size)
        throw StoreError("its compressed part is longer than it says");
      content.resize(std::min(size, done * 2));
    }
  }
  if (done != size || in.pos != in.size)
    throw StoreError("its compressed part is not of the length it says");
  return content;
}

}  // namespace

std::string seal_frame(const FrameKind& kind, std::uint32_t range, std::string_view content) {
  if (content.size() > kind.content_limit)
    throw StoreError("a value of " + std::to_string(content.size()) +
                     " bytes is larger than its format allows");
  std::string bytes(header_bytes + ZSTD_compressBound(content.size()), '\0');
  const std::size_t made =
      ZSTD_compressCCtx(compressor(), bytes.data() + header_bytes, bytes.size() - header_bytes,
                        content.data(), content.size(), zstd_level);
  if (ZSTD_isError(made) != 0)
    throw StoreError(std::string("zstd cannot compress a value: ") + ZSTD_getErrorName(made));
  bytes.resize(header_bytes + made);

  std::string range_bytes;
  put_little_endian(range_bytes, range, 4);
  bytes.replace(hashed_from, 4, range_bytes);
  std::string head(kind.magic);
  put_little_endian(head, kind.format, 4);
  put_little_endian(head, hash_of(std::string_view(bytes).substr(hashed_from)), 8);
  bytes.replace(0, head.size(), head);
  return bytes;
}

OpenedFrame open_frame(const FrameKind& kind, std::string_view bytes) {
  ByteReader header(bytes);
  if (header.text(4) != kind.magic)
    throw StoreError("it does not begin as such a value does");
  const std::uint64_t format = header.little_endian(4);
  if (format != kind.format)
    throw StoreError("it has format number " + std::to_string(format) + " where this program has " +
                     std::to_string(kind.format));
  if (header.little_endian(8) != hash_of(bytes.substr(hashed_from)))
    throw StoreError("its checksum does not match");
  OpenedFrame opened;
  opened.range = static_cast<std::uint32_t>(header.little_endian(4));
  opened.content = inflate(bytes.substr(header_bytes), kind.content_limit);
  return opened;
}

namespace {

std::uint64_t value_hash(std::string_view key, std::string_view payload) {
  std::string both;
  both.reserve(key.size() + payload.size() + 10);
  put_varint(both, key.size());
  both.append(key).append(payload);
  return hash_of(both);
}

}  // namespace

std::string seal_value(std::string_view key, std::string_view payload) {
  std::string bytes;
  bytes.reserve(payload.size() + 8);
  put_little_endian(bytes, value_hash(key, payload), 8);
  bytes.append(payload);
  return bytes;
}

std::string_view open_value(std::string_view key, std::string_view bytes) {
  ByteReader reader(bytes);
  const std::uint64_t hash = reader.little_endian(8);
  const std::string_view payload = bytes.substr(8);
  if (hash != value_hash(key, payload))
    throw StoreError("its checksum does not match");
  return payload;
}

std::string hash128_of(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  static constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : canonical.digest) {
    hex.push_back(digits[byte >> 4]);
    hex.push_back(digits[byte & 15]);
  }
  return hex;
}

std::string digest_of(const std::map<std::string, std::string>& entries) {
  std::string hashes;
  for (const auto& [key, value] : entries)
    put_little_endian(hashes, value_hash(key, value), 8);
  return hash128_of(hashes);
}

}  // namespace somatlas::store
