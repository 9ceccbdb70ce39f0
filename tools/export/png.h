// A picture as a PNG file's bytes, through libspng.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tools/export/picture.h"

namespace somatlas::exports {

/// A word about the picture kept inside the file: keyword (Title, Description, Software), text in
/// UTF-8.
struct PngText {
  std::string keyword;
  std::string text;
};

/// 8-bit RGB, marked as sRGB and 300 dots an inch. Throws OutputFileError.
[[nodiscard]] std::vector<std::byte> encode_png(const Picture& picture,
                                                std::span<const PngText> texts);

}  // namespace somatlas::exports
