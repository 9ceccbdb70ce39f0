// A descriptor's name and tree numbers as a value under its UI; the store and the atlas share it.
// Always holds: the value's checksum covers the key, so a name never stands under another UI.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace somatlas::store {

/// XXH3-64 of key and payload (store/frame.h), then the payload: articles (0 in a store), the
/// name's length and bytes, the number of tree numbers, each one's length and bytes; all varints.
[[nodiscard]] std::string encode_descriptor_value(const DescriptorEntry& entry,
                                                  std::uint64_t articles);

struct DescriptorRecord {
  DescriptorEntry entry;
  std::uint64_t articles = 0;
};
/// key: the UI. Throws StoreError with what is wrong, as half a sentence.
[[nodiscard]] DescriptorRecord decode_descriptor_value(std::string_view key,
                                                       std::string_view value);

}  // namespace somatlas::store
