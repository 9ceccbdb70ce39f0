// The place of a source file in the order of all files: (year, number) of pubmedYYnNNNN, else (0,
// last digits of the stem or 0), then the name. It decides which record of a PMID counts, whatever
// order files come in.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace somatlas::store {

struct FileKey {
  std::uint32_t year = 0;
  std::uint64_t number = 0;
  std::string name;  // the file's name without its folder
  friend auto operator<=>(const FileKey&, const FileKey&) = default;
};

/// The key of a file, from its path's last part. Digits past 18 are cut off at the front.
[[nodiscard]] FileKey file_key(std::string_view path);

}  // namespace somatlas::store
