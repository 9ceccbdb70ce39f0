// A colour for every category of the MeSH tree, and one for descriptors that have none. Always
// holds: no two are alike, and dark text can be read on each.
#pragma once

#include <string_view>

#include "tools/export/colour_scale.h"

namespace somatlas::exports {

/// The letters of the categories, and '-' for none, in the order of a legend.
inline constexpr std::string_view category_letters = "ABCDEFGHIJKLMNVZ-";

/// letter: what pipeline::mesh_category() gives; any other is as '-'.
[[nodiscard]] Colour category_colour(char letter);
/// "Diseases"; "no category".
[[nodiscard]] std::string_view category_name(char letter);

}  // namespace somatlas::exports
