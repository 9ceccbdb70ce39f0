// Lists of changed MeSH descriptors, and the view that they make of a store: which descriptor a
// filed one has become. Shards and the table keep what the files said; the view is applied when
// they are read, so taking a list back undoes it. Always holds: no chain of changes comes back to
// where it began; a row's descriptors stay ascending and distinct.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/descriptor_code.h"
#include "store/shard.h"

namespace somatlas::store {

struct DescriptorEntry;

enum class MeshChangeKind : std::uint8_t {
  renamed,  // the same UI under another name
  merged,   // the articles of one UI have another from now on
  removed,  // nothing takes its place
};

struct MeshChange {
  MeshChangeKind kind = MeshChangeKind::renamed;
  DescriptorCode from = 0;
  std::string old_name;
  DescriptorCode to = 0;  // as from where renamed; 0 where removed
  std::string new_name;   // empty where removed
  friend bool operator==(const MeshChange&, const MeshChange&) = default;
};

/// One list as it was given; a descriptor is changed at most once in it.
struct MeshChangeList {
  std::string name;  // of its file, without the folder
  std::string md5;
  std::int64_t taken_at = 0;  // seconds since 1970, UTC; not part of the state id
  std::vector<MeshChange> changes;
  friend bool operator==(const MeshChangeList&, const MeshChangeList&) = default;
};

/// Descriptors that become one another in a circle, each into the next and the last into the first,
/// which is the one with the lowest code; empty where there is no circle.
[[nodiscard]] std::vector<DescriptorCode> circle_of(std::span<const MeshChangeList> lists);

class MeshView {
 public:
  /// Of several lists' changes of one descriptor that of the last list counts (a renaming there
  /// means that it stands again); then changes are followed to their end, whichever list they are
  /// in. Throws StoreError where they go in a circle.
  explicit MeshView(std::vector<MeshChangeList> lists = {});

  [[nodiscard]] const std::vector<MeshChangeList>& lists() const { return lists_; }
  /// Whether every descriptor is what was filed.
  [[nodiscard]] bool is_as_filed() const { return from_.empty(); }
  /// What a descriptor has become: itself, another one, or nothing where it was removed.
  [[nodiscard]] std::optional<DescriptorCode> current(DescriptorCode filed) const;
  [[nodiscard]] std::uint64_t replaced() const { return from_.size() - removed_; }
  [[nodiscard]] std::uint64_t removed() const { return removed_; }

  /// What apply() did to a shard; sums over shards are for the caller.
  struct Effect {
    std::uint64_t articles = 0;  // that have another set of descriptors than was filed
    std::uint64_t emptied = 0;   // of them: without descriptors now
    std::uint64_t replaced = 0;  // descriptors of articles
    std::uint64_t folded = 0;    // of them: the article had what it became already
    std::uint64_t removed = 0;
    friend bool operator==(const Effect&, const Effect&) = default;
  };
  /// Puts the descriptors of today into a shard. Two that become one stay one, a major topic where
  /// either was; an article left without any becomes bare.
  Effect apply(Shard& shard) const;

  /// Puts the names of today into a table in UI order: an entry that has the old name of a renaming
  /// gets the new one, and what a change leads to is added where the table lacks it.
  void apply(std::vector<DescriptorEntry>& table) const;

  /// Two views of one mark make the same of every shard; empty where all is as filed.
  [[nodiscard]] std::string mark() const;

 private:
  static constexpr DescriptorCode nothing = 0xFFFF'FFFFU;  // no descriptor's code
  static constexpr std::size_t filter_bits = 1U << 15U;
  [[nodiscard]] static constexpr std::size_t bit_of(DescriptorCode code) {
    return (code * 2'654'435'761U) >> 17U;  // Fibonacci hashing to 15 bits
  }
  /// What a code has become, or the code itself, or nothing.
  [[nodiscard]] DescriptorCode target(DescriptorCode filed) const;

  std::vector<MeshChangeList> lists_;
  std::vector<DescriptorCode> from_;  // ascending, and what each has become, the end of its chain
  std::vector<DescriptorCode> to_;
  std::uint64_t removed_ = 0;
  std::array<std::uint64_t, filter_bits / 64> filter_{};  // says at once that a code is unchanged
};

/// The value under "mesh_changes" in meta: XXH3-64 of key and payload (store/frame.h), then the
/// payload: the number of lists; of each, its name and MD5 (length, bytes), taken_at (zigzag) and
/// the number of changes; of each, the kind (0 renamed, 1 merged, 2 removed), from, the old name
/// (length, bytes), where merged to, and where not removed the new name. All numbers are varints.
[[nodiscard]] std::string encode_mesh_changes(std::string_view key,
                                              std::span<const MeshChangeList> lists);
/// Throws StoreError with what is wrong, as half a sentence.
[[nodiscard]] std::vector<MeshChangeList> decode_mesh_changes(std::string_view key,
                                                              std::string_view value);

}  // namespace somatlas::store
