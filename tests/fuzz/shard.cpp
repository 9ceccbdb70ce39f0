// The shard decoder and the merge. The first byte chooses what the rest is: the contents of two
// shards, a frame whose checksum is put right, or a value as it stands. Promises: bytes that decode
// are those that the shard encodes to; a merge is the plain rule, row by row.
#include <xxhash.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "store/frame.h"
#include "store/shard.h"
#include "store/store_error.h"
#include "store/varint.h"
#include "tests/fuzz/expect.h"

namespace somatlas::store {
namespace {

using fuzz::expect;

constexpr FrameKind kind{"SOMS", shard_format, std::size_t{512} << 20};

std::optional<Shard> decoded(std::string_view bytes) {
  try {
    return decode(bytes);
  } catch (const StoreError&) {
    return std::nullopt;
  }
}

std::optional<Shard> decoded_content(std::string_view content) {
  const std::string bytes = seal_frame(kind, 7, content);
  std::optional<Shard> shard = decoded(bytes);
  expect(!shard || encode(*shard) == bytes, "a shard has one form");
  return shard;
}

struct Row {
  std::uint16_t version;
  FileKey key;
  std::uint16_t year;
  ArticleState state;
  std::uint32_t records;
  std::vector<DescriptorCode> descriptors;
  std::vector<std::uint8_t> major;
  friend bool operator==(const Row&, const Row&) = default;
};

std::map<std::uint32_t, Row> rows_of(const Shard& shard) {
  std::map<std::uint32_t, Row> rows;
  for (std::size_t r = 0; r < shard.rows(); ++r) {
    const auto row = shard.row(r);
    const auto major = shard.major.begin() + static_cast<std::ptrdiff_t>(shard.offsets[r]);
    rows[shard.pmid(r)] = {shard.version[r],
                           shard.keys[shard.key[r]],
                           shard.year[r],
                           shard.state[r],
                           shard.records[r],
                           {row.begin(), row.end()},
                           {major, major + static_cast<std::ptrdiff_t>(row.size())}};
  }
  return rows;
}

void check_merge(const Shard& older, const Shard& newer) {
  auto expected = rows_of(older);
  for (const auto& [pmid, row] : rows_of(newer)) {
    const auto [place, fresh] = expected.emplace(pmid, row);
    if (!fresh) {
      const std::uint64_t records = std::uint64_t{place->second.records} + row.records;
      if (std::tie(row.version, row.key) >= std::tie(place->second.version, place->second.key))
        place->second = row;
      place->second.records = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(records, std::numeric_limits<std::uint32_t>::max()));
    }
  }
  const Shard merged = merge(older, newer);
  check_invariants(merged);
  expect(rows_of(merged) == expected, "a merge is the greater (version, file) of each PMID");
}

}  // namespace
}  // namespace somatlas::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace somatlas::store;
  if (size < 3) {
    return 0;
  }
  const std::string_view rest(reinterpret_cast<const char*>(data) + 3, size - 3);
  const std::size_t cut = std::min<std::size_t>(data[1] + 256U * data[2], rest.size());
  if (data[0] % 4 == 0) {
    std::string value(kind.magic);
    put_little_endian(value, kind.format, 4);
    put_little_endian(value, XXH3_64bits(rest.data(), rest.size()), 8);
    value += rest;
    if (const auto shard = decoded(value)) {
      somatlas::fuzz::expect(decode(encode(*shard)) == *shard, "what was decoded can be encoded");
    }
  } else if (data[0] % 4 == 1) {
    (void)decoded(rest);
  } else {
    const auto older = decoded_content(rest.substr(0, cut));
    const auto newer = decoded_content(rest.substr(cut));
    if (older && newer) {
      check_merge(*older, *newer);
      check_merge(*older, *older);
    }
  }
  return 0;
}
