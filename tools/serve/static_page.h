// The viewer as a folder of files, which a browser opens from file:// or any web server gives: the
// same page, tiles ready coloured, and data as scripts, since a page from file:// may fetch
// nothing. Always holds: a script holds one call with JSON; the folder appears complete or not at
// all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/export/peer_formats.h"
#include "tools/serve/atlas_view.h"

namespace somatlas::serve {

inline constexpr std::size_t default_page_planes = 200;
inline constexpr std::uint64_t most_page_files = 300'000;

struct PageRequest {
  std::size_t planes = default_page_planes;  // of the descriptors that most articles have
  std::string descriptors;  // whose planes instead: UIs or names with `;` between; empty: none
};

struct PageSummary {
  std::size_t planes = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

/// Nothing where it was asked to stop. Years of a cell's articles are shown where the view has a
/// store. Throws store::StoreError where it would take more than most_page_files, and
/// exports::OutputFileError.
[[nodiscard]] std::optional<PageSummary> export_page(const AtlasView& view,
                                                     const PageRequest& request,
                                                     const exports::Target& target);

}  // namespace somatlas::serve
