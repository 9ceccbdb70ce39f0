// Entry words: the names beside its own that MeSH gives a descriptor, so that "Heart Attack" leads
// to Myocardial Infarction. They are for finding descriptors only: no article, state or map follows
// from them.
//
// One frame (store/frame.h) "SOME" holds all: the number of descriptors; of each its code less the
// one before, less 1 (to -1 in the first), and the number of its words, each one's length and
// bytes. Numbers are varints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/descriptor_code.h"

namespace somatlas::store {

class MeshView;

struct EntryWords {
  DescriptorCode code = 0;
  std::vector<std::string> words;  // as MeSH orders them
  friend bool operator==(const EntryWords&, const EntryWords&) = default;
};

/// Entries without words are left out. Throws StoreError where codes do not ascend.
[[nodiscard]] std::string encode_entry_words(std::span<const EntryWords> entries);
/// Throws StoreError with what is wrong, as half a sentence.
[[nodiscard]] std::vector<EntryWords> decode_entry_words(std::string_view bytes);

/// Those of the descriptors that changed names are replaced, and gone where they have no words now;
/// both in any order, of several of one descriptor the last counts. Ascending codes.
[[nodiscard]] std::vector<EntryWords> with_changed(std::span<const EntryWords> entries,
                                                   std::span<const EntryWords> changed);
/// Words of a descriptor that has become another one are that one's, behind its own.
[[nodiscard]] std::vector<EntryWords> seen_through(const MeshView& view,
                                                   std::vector<EntryWords> entries);

[[nodiscard]] std::uint64_t count_words(std::span<const EntryWords> entries);

}  // namespace somatlas::store
