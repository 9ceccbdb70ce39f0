// The values of an atlas as bytes. Large ones are frames (store/frame.h), small ones sealed values.
// Always holds: decoding gives back what was encoded, or throws StoreError with what is wrong, as
// half a sentence; what a value is the value of (range, descriptor, column) is under its checksum.
//
//   assignment "SOMA", range           rows, 1 or (a checkpoint's) 0, where 1 low, neuron, where 1
//                                      fingerprint
//   places     "SOMP", range           rows, low, neuron, second less neuron, distance
//   planes     "SOMW", descriptor code rows (M), then each weight less the one before it, zigzag
//   cells      "SOMC", column number   rows (M, or 5 M), the column
//              "SOMR", level (from 1)  recent_from, number of regions, each one as AtlasRegion has
//                                      it, texts and lists behind their lengths
//   index      "SOMI", generation      number of keys, each one's length and bytes
//   articles   sealed                  number of PMIDs, each less the one before, less 1
//
// rows and numbers are varints (store/varint.h); low is varints, each less the one before, less 1
// (to -1 in the first row); other columns are byte planes (store/column_codec.h), of 16-bit
// weights, 32-bit neurons, distances and so on as store/atlas.h has them. The format of frames is
// atlas_format.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/atlas.h"

namespace somatlas::store {

[[nodiscard]] std::string encode_assignment(const AssignmentShard& shard);
[[nodiscard]] AssignmentShard decode_assignment(std::string_view bytes, std::uint32_t range);

[[nodiscard]] std::string encode_places(const PlaceShard& shard);
[[nodiscard]] PlaceShard decode_places(std::string_view bytes, std::uint32_t range);

[[nodiscard]] inline EncodedShard encoded(const AssignmentShard& shard) {
  return {shard.range, encode_assignment(shard)};
}
[[nodiscard]] inline EncodedShard encoded(const PlaceShard& shard) {
  return {shard.range, encode_places(shard)};
}

[[nodiscard]] std::string encode_plane(DescriptorCode code, std::span<const std::uint16_t> plane);
[[nodiscard]] std::vector<std::uint16_t> decode_plane(std::string_view bytes, DescriptorCode code);

/// The keys of the values of cells, ascending, in the order that these are encoded in.
inline constexpr std::array<std::string_view, 11 + region_levels> cell_keys{
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "level 1", "level 2", "level 3"};
/// Throws StoreError where the columns are not of one length, or name a region that is not there.
[[nodiscard]] std::vector<std::string> encode_cells(const AtlasCells& cells);
[[nodiscard]] AtlasCells decode_cells(std::span<const std::string> values);

[[nodiscard]] std::string encode_articles(std::string_view key,
                                          std::span<const std::uint32_t> pmids);
[[nodiscard]] std::vector<std::uint32_t> decode_articles(std::string_view key,
                                                         std::string_view bytes);
/// pmids ascend. Throws StoreError where they do not.
[[nodiscard]] EncodedArticles encoded(std::uint32_t neuron, std::span<const std::uint32_t> pmids);

/// The keys of a family's current generation, ascending.
struct FamilyIndex {
  std::uint32_t generation = 0;
  std::vector<std::string> keys;
};
[[nodiscard]] std::string encode_index(const FamilyIndex& index);
[[nodiscard]] FamilyIndex decode_index(std::string_view bytes);

}  // namespace somatlas::store
