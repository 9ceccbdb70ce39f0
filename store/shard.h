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
/// Raised whenever the bytes that encode() writes change.
inline constexpr std::uint32_t shard_format = 1;

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

/// The bytes of a shard: format number, range, XXH3 of the rest, then the columns compressed
/// together by zstd.
[[nodiscard]] std::string encode(const Shard& shard);
/// The shard in bytes. Throws StoreError on any fault: wrong format number, checksum, or an
/// invariant broken.
[[nodiscard]] Shard decode(std::string_view bytes);

/// Per PMID the maximum of (version, file key); at equal ones the newer side (a file taken again).
/// records add up. Both are of the same range.
[[nodiscard]] Shard merge(const Shard& older, const Shard& newer);

}  // namespace somatlas::store
