// The envelope of every large value: a header with a checksum of its own, then one zstd frame.
// Always holds: a value that was opened had the right magic, format number and range, and no byte
// of it had changed; memory follows the bytes that are there, never a length that they claim.
//
//   bytes  0.. 3  magic: what kind of value this is
//   bytes  4.. 7  format number
//   bytes  8..15  XXH3-64 of everything from byte 16 on
//   bytes 16..19  range (PMID / 65,536), or what else numbers the value
//   bytes 20..    one zstd frame, level 1, its content size recorded
//   all numbers little-endian
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace somatlas::store {

struct FrameKind {
  std::string_view magic;  // four characters
  std::uint32_t format = 0;
  std::size_t content_limit = 0;  // bytes that no such value can pass
};

/// Compresses content and puts the header before it.
[[nodiscard]] std::string seal_frame(const FrameKind& kind, std::uint32_t range,
                                     std::string_view content);

struct OpenedFrame {
  std::uint32_t range = 0;
  std::string content;
};

/// Checks the header and inflates. Throws StoreError with what is wrong, as half a sentence.
[[nodiscard]] OpenedFrame open_frame(const FrameKind& kind, std::string_view bytes);

/// A small value that is not compressed: 8 bytes, little-endian, XXH3-64 of the key's length (a
/// varint), the key and the payload; then the payload. So a value under another's key is found too.
[[nodiscard]] std::string seal_value(std::string_view key, std::string_view payload);
/// The payload, a view into bytes. Throws StoreError where key or payload changed.
[[nodiscard]] std::string_view open_value(std::string_view key, std::string_view bytes);

/// XXH3-128 of bytes as 32 hexadecimal digits.
[[nodiscard]] std::string hash128_of(std::string_view bytes);

/// Tells whether a scan left an entry out: XXH3-128 over the hashes of all entries in key order,
/// each 8 bytes, little-endian, made as that of a small value but of key and whole value.
[[nodiscard]] std::string digest_of(const std::map<std::string, std::string>& entries);

}  // namespace somatlas::store
