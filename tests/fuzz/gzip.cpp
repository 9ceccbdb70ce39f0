// The inflater against zlib. The first byte chooses the buffers' sizes and whether the rest is a
// gzip file, or a deflate stream that is given a header and the trailer that zlib says it has.
// Promises: the same bytes as zlib's, or both refuse (zlib alone also refuses tables of codes that
// are out of bounds where the data does not use them).
#include <zlib.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ingest/gzip_source.h"
#include "tests/fuzz/foreign_file.h"

namespace somatlas::fuzz {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 16U;  // inflated; past it nothing is compared

struct Inflated {
  std::string text;
  std::size_t used = 0;  // bytes of input
  bool ended = false;    // at a stream's end
  bool bad_codes = false;
};

/// window_bits: as inflateReset2 takes them.
Inflated inflate_one(std::string_view bytes, int window_bits) {
  static z_stream stream = [] {
    z_stream fresh{};
    expect(inflateInit2(&fresh, 15) == Z_OK, "zlib starts");
    return fresh;
  }();
  expect(inflateReset2(&stream, window_bits) == Z_OK, "zlib starts again");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  Inflated result;
  std::array<char, 4096> piece{};
  int state = Z_OK;
  while (state == Z_OK && result.text.size() <= most_bytes) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    state = inflate(&stream, Z_NO_FLUSH);
    result.text.append(piece.data(), piece.size() - stream.avail_out);
  }
  result.used = bytes.size() - stream.avail_in;
  result.ended = state == Z_STREAM_END;
  const std::string_view message = stream.msg == nullptr ? "" : stream.msg;
  result.bad_codes = message.starts_with("invalid ") && message.ends_with(" set");
  return result;
}

/// The rules of a file of members, said again: nothing where it is refused. only_codes: what is
/// refused is a table of codes.
std::optional<std::string> inflate_file(std::string_view bytes, bool& only_codes) {
  std::string text;
  do {
    const Inflated member = inflate_one(bytes, 15 + 16);
    text += member.text;
    only_codes = member.bad_codes;
    if (!member.ended || text.size() > most_bytes) {
      return std::nullopt;
    }
    bytes.remove_prefix(member.used);
  } while (bytes.starts_with('\x1f'));
  const bool padding = bytes.find_first_not_of('\0') == std::string_view::npos;
  return padding ? std::optional(text) : std::nullopt;
}

void put(std::string& out, std::uint64_t number) {
  for (unsigned i = 0; i < 4; ++i) {
    out += static_cast<char>(number >> (8 * i));
  }
}

std::string with_trailer(std::string_view deflated) {
  const Inflated stream = inflate_one(deflated, -15);
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
  file += deflated.substr(0, stream.used);
  put(file, crc32(0, reinterpret_cast<const Bytef*>(stream.text.data()),
                  static_cast<uInt>(stream.text.size())));
  put(file, stream.text.size());
  file += deflated.substr(stream.used);
  return file;
}

/// Ours: nothing where it is refused.
std::optional<std::string> read_file(const std::string& path, std::size_t in, std::size_t out,
                                     std::string_view bytes) {
  std::string text;
  std::vector<std::byte> buffer(out);
  try {
    const auto source = ingest::make_gzip_source(std::make_unique<ingest::RawFile>(path), {},
                                                 ingest::make_inflater(), in);
    while (text.size() <= most_bytes) {
      const std::size_t got = source->read(buffer);
      if (got == 0) {
        expect(source->file_bytes() == bytes.size(), "every byte of the file is read");
        return text;
      }
      text.append(reinterpret_cast<const char*>(buffer.data()), got);
    }
  } catch (const ingest::InputError& error) {
    check_refusal(error, path, bytes);
  }
  return std::nullopt;
}

}  // namespace
}  // namespace somatlas::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace somatlas::fuzz;
  if (size == 0) {
    return 0;
  }
  constexpr std::array<std::size_t, 4> in_sizes = {5, 33, 250, 4096};
  constexpr std::array<std::size_t, 4> out_sizes = {61, 500, 4096, 9000};
  const std::string_view rest = text_of(data + 1, size - 1);
  const std::string bytes = (*data & 1U) != 0 ? std::string(rest) : with_trailer(rest);
  static ForeignFile file;
  bool only_codes = false;
  const auto expected = inflate_file(bytes, only_codes);
  const auto got =
      read_file(file.put(bytes), in_sizes[*data >> 1U & 3U], out_sizes[*data >> 3U & 3U], bytes);
  expect(got == expected || only_codes, "zlib says the same",
         std::string(expected ? "zlib reads it, " : "zlib refuses it, ") +
             (got ? "ours reads it" : "ours refuses it"));
  return 0;
}
