// A shard to bytes and back; the format is described at encode() in the header.
// Always holds: decode(encode(s)) == s; bytes that decode are a shard that keeps every invariant;
// no vector is sized by a number that the bytes at hand cannot bear out.
#include <algorithm>
#include <limits>

#include "store/frame.h"
#include "store/shard.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

// 65,536 rows of 1,023 descriptors at 5 bytes and a bit, with room for the other columns and keys.
constexpr FrameKind shard_kind{"SOMS", shard_format, std::size_t{512} << 20};
constexpr std::uint64_t max_u16 = std::numeric_limits<std::uint16_t>::max();
constexpr std::uint64_t max_u32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t max_u64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t name_limit = 65'535;

void put_row_columns(std::string& out, const Shard& shard) {
  const std::size_t rows = shard.rows();
  std::uint32_t next = 0;
  for (const std::uint16_t low : shard.low) {
    put_varint(out, low - next);
    next = low + 1U;
  }
  for (const ArticleState state : shard.state)
    out.push_back(static_cast<char>(state));
  for (const std::uint16_t version : shard.version)
    put_varint(out, version);
  std::int64_t last_year = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    if (shard.state[r] != ArticleState::article)
      continue;
    put_varint(out, zigzag(shard.year[r] - last_year));
    last_year = shard.year[r];
  }
  for (const std::uint32_t key : shard.key)
    put_varint(out, key);
  for (const std::uint32_t records : shard.records)
    put_varint(out, records);
}

void put_descriptor_columns(std::string& out, const Shard& shard) {
  for (std::size_t r = 0; r < shard.rows(); ++r)
    if (shard.state[r] == ArticleState::article)
      put_varint(out, shard.row(r).size() - 1);
  for (std::size_t r = 0; r < shard.rows(); ++r) {
    std::uint32_t high = 0;
    for (const DescriptorCode code : shard.row(r)) {
      put_varint(out, (code >> 8) - high);
      high = code >> 8;
    }
  }
  for (const DescriptorCode code : shard.descriptors)
    out.push_back(static_cast<char>(code & 0xFF));
  unsigned bits = 0;
  unsigned used = 0;
  for (const std::uint8_t major : shard.major) {
    bits |= static_cast<unsigned>(major) << used;
    if (++used == 8) {
      out.push_back(static_cast<char>(bits));
      bits = used = 0;
    }
  }
  if (used != 0)
    out.push_back(static_cast<char>(bits));
}

void get_keys(ByteReader& in, std::size_t count, Shard& shard) {
  shard.keys.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    FileKey key;
    key.year = static_cast<std::uint32_t>(in.varint(max_u32));
    key.number = in.varint(max_u64);
    const std::uint64_t name_size = in.varint(name_limit);
    key.name = in.text(static_cast<std::size_t>(name_size));
    shard.keys.push_back(std::move(key));
  }
}

void get_row_columns(ByteReader& in, std::size_t rows, Shard& shard) {
  shard.low.resize(rows);
  std::uint64_t next = 0;
  for (std::uint16_t& low : shard.low) {
    const std::uint64_t value = next + in.varint(max_u16);
    if (value > max_u16)
      throw StoreError("a PMID lies outside its range");
    low = static_cast<std::uint16_t>(value);
    next = value + 1;
  }
  shard.state.resize(rows);
  for (ArticleState& state : shard.state) {
    const std::uint8_t value = in.byte();
    if (value > static_cast<std::uint8_t>(ArticleState::deleted))
      throw StoreError("a row has an unknown state");
    state = static_cast<ArticleState>(value);
  }
  shard.version.resize(rows);
  for (std::uint16_t& version : shard.version)
    version = static_cast<std::uint16_t>(in.varint(max_u16));
  shard.year.resize(rows);
  std::int64_t last_year = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    if (shard.state[r] != ArticleState::article)
      continue;
    last_year += unzigzag(in.varint(2 * max_u16 + 1));
    if (last_year < 0 || last_year > static_cast<std::int64_t>(max_u16))
      throw StoreError("a year is out of bounds");
    shard.year[r] = static_cast<std::uint16_t>(last_year);
  }
  shard.key.resize(rows);
  for (std::uint32_t& key : shard.key)
    key = static_cast<std::uint32_t>(in.varint(max_u32));
  shard.records.resize(rows);
  for (std::uint32_t& records : shard.records)
    records = static_cast<std::uint32_t>(in.varint(max_u32));
}

void get_descriptor_columns(ByteReader& in, std::size_t total, Shard& shard) {
  const std::size_t rows = shard.rows();
  shard.offsets.resize(rows + 1);
  std::uint64_t end = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    if (shard.state[r] == ArticleState::article)
      end += in.varint(descriptors_per_article_limit - 1) + 1;
    shard.offsets[r + 1] = static_cast<std::uint32_t>(end);
  }
  if (end != total)
    throw StoreError("its numbers of descriptors do not add up");
  if (in.left() < 2 * total)
    throw StoreError("it is cut short");
  shard.descriptors.resize(total);
  for (std::size_t r = 0; r < rows; ++r) {
    std::uint64_t high = 0;
    for (std::uint32_t d = shard.offsets[r]; d < shard.offsets[r + 1]; ++d) {
      high += in.varint(max_u32 >> 8);
      if (high > max_u32 >> 8)
        throw StoreError("a descriptor is out of bounds");
      shard.descriptors[d] = static_cast<DescriptorCode>(high << 8);
    }
  }
  for (DescriptorCode& code : shard.descriptors)
    code |= in.byte();
  shard.major.resize(total);
  unsigned bits = 0;
  for (std::size_t d = 0; d < total; ++d) {
    if (d % 8 == 0)
      bits = in.byte();
    shard.major[d] = static_cast<std::uint8_t>(bits & 1);
    bits >>= 1;
  }
  if (bits != 0)
    throw StoreError("its major-topic bits have more than one form");
}

}  // namespace

std::string encode(const Shard& shard) {
  check_invariants(shard);
  std::string content;
  content.reserve(64 + shard.rows() * 8 + shard.descriptors.size() * 5 / 2);
  put_varint(content, shard.rows());
  put_varint(content, shard.keys.size());
  put_varint(content, shard.descriptors.size());
  for (const FileKey& key : shard.keys) {
    put_varint(content, key.year);
    put_varint(content, key.number);
    put_varint(content, key.name.size());
    content += key.name;
  }
  put_row_columns(content, shard);
  put_descriptor_columns(content, shard);
  return seal_frame(shard_kind, shard.range, content);
}

Shard decode(std::string_view bytes) {
  const OpenedFrame frame = open_frame(shard_kind, bytes);
  ByteReader in(frame.content);
  Shard shard;
  shard.range = frame.range;
  const auto rows = static_cast<std::size_t>(in.varint(pmids_per_shard));
  const auto keys = static_cast<std::size_t>(in.varint(rows));
  const auto total = static_cast<std::size_t>(in.varint(rows * descriptors_per_article_limit));
  get_keys(in, keys, shard);
  get_row_columns(in, rows, shard);
  get_descriptor_columns(in, total, shard);
  in.expect_end();
  check_invariants(shard);
  return shard;
}

EncodedDelta encode_delta(const Shard& delta) {
  if (delta.keys.size() != 1)
    throw StoreError("a delta is of " + std::to_string(delta.keys.size()) + " files, not of one");
  return {delta.range, delta.keys.front(), encode(delta)};
}

}  // namespace somatlas::store
