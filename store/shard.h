// A shard: the articles of one PMID range of 65,536, as columns; and a shard delta: what one file
// says of that range, in the same form. Merging is a maximum per PMID, so files may come in any
// order. Always holds: rows ascend by PMID and are distinct; keys ascend and each is used;
// descriptors of a row ascend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/descriptor_code.h"
#include "store/file_key.h"

namespace somatlas::store {

inline constexpr std::uint32_t pmids_per_shard = 65'536;
/// Raised whenever the bytes that encode() writes change, and store_format with it.
inline constexpr std::uint32_t shard_format = 2;
/// Descriptors of one article at most: the contract's scores fit 32 bits up to here.
inline constexpr std::size_t descriptors_per_article_limit = 1'023;

enum class ArticleState : std::uint8_t {
  article,  // kept whole
  bare,     // a citation with no descriptor: its state alone
  deleted,  // a tombstone
};

struct Shard {
  std::uint32_t range = 0;         // PMID / 65,536
  std::vector<FileKey> keys;       // of the files that decided some row
  std::vector<std::uint16_t> low;  // PMID % 65,536
  std::vector<std::uint16_t> version;
  std::vector<std::uint16_t> year;  // 0: none; 0 unless an article
  std::vector<ArticleState> state;
  std::vector<std::uint32_t> key;  // index into keys
  std::vector<std::uint32_t>
      records;  // citation records folded into this row, deletions not counted
  std::vector<std::uint32_t> offsets;  // rows() + 1 positions in descriptors
  std::vector<DescriptorCode> descriptors;
  std::vector<std::uint8_t> major;  // 1: major topic; as descriptors

  [[nodiscard]] std::size_t rows() const { return low.size(); }
  [[nodiscard]] std::uint32_t pmid(std::size_t row) const {
    return range * pmids_per_shard + low[row];
  }
  [[nodiscard]] std::span<const DescriptorCode> row(std::size_t r) const {
    return {descriptors.data() + offsets[r], offsets[r + 1] - offsets[r]};
  }
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// What the comment at the top of this file promises, and: columns are of one length, only articles
/// have a year and descriptors, they have 1 to 1,023 of them, a citation has at least one record.
/// Throws StoreError with the first breach.
void check_invariants(const Shard& shard);

/// The bytes of a shard: the header of store/frame.h (magic "SOMS", shard_format, XXH3-64, range),
/// then one zstd frame. Its content is varints (store/varint.h) unless said otherwise:
///
///   rows, keys, descriptors in all
///   each key       year, number, length of the name, the name's bytes
///   low            a row: distance to the row before, less 1 (to -1 in the first row)
///   state          a row, one byte
///   version        a row
///   year           an article: zigzag difference to the article before (to 0 in the first)
///   key            a row: index into keys
///   records        a row
///   counts         an article: descriptors, less 1
///   high           a descriptor: code / 256 less that of the one before in its row
///   low bytes      a descriptor: code % 256 (apart from the gaps: a tenth smaller than together)
///   major          one bit a descriptor, lowest bit first, the last byte filled with 0
///
/// Columns stand apart, so that a constant one costs nothing. Throws StoreError where an invariant
/// is broken.
[[nodiscard]] std::string encode(const Shard& shard);
/// What one file says of a range, ready to be committed.
struct EncodedDelta {
  std::uint32_t range = 0;
  FileKey key;
  std::string bytes;
};
/// Encodes a delta, whose rows one file decided; throws StoreError where it is none.
[[nodiscard]] EncodedDelta encode_delta(const Shard& delta);
/// The shard in bytes. Throws StoreError on any fault: wrong format number, checksum, or an
/// invariant broken.
[[nodiscard]] Shard decode(std::string_view bytes);

/// Per PMID the maximum of (version, file key); at equal ones the newer side (a file taken again).
/// records add up. Both are of the same range. Associative; commutative where the sides share no
/// file.
[[nodiscard]] Shard merge(const Shard& older, const Shard& newer);
/// The shards merged from oldest to newest, neighbours first; there is at least one.
[[nodiscard]] Shard merge_all(std::vector<Shard> oldest_first);

}  // namespace somatlas::store
