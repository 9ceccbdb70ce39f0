// The folder that a static page is written into, file by file, and what its scripts hold.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tools/export/pending_output.h"
#include "tools/serve/atlas_view.h"

namespace somatlas::serve {

class PageFolder {
 public:
  PageFolder(const std::string& path, exports::Existing existing);

  /// name: with folders before it, which are made where they are not there.
  void write(const std::string& name, std::string_view bytes);
  /// data/NAME.js, a script that hands the value to the page.
  void write_data(const std::string& name, const nlohmann::json& value);
  void commit() { folder_.commit(); }

  [[nodiscard]] std::uint64_t files() const { return files_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  exports::PendingDirectory folder_;
  std::set<std::string> made_;
  std::uint64_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

/// A file of cells holds a square of the map of so many rows and columns.
inline constexpr std::uint32_t cells_edge = 16;
inline constexpr std::size_t regions_a_file = 64;
inline constexpr std::size_t articles_a_file = 8192;

/// data/names.js: of each descriptor UI, name, articles, the cell where it weighs most (-1: it is
/// among planes or weighs nothing), and whether it is among planes, UI order. Reads the other
/// planes. False where it was asked to stop.
[[nodiscard]] bool write_names(PageFolder& folder, const AtlasView& view,
                               std::span<const store::AtlasDescriptor> planes,
                               const std::stop_token& stop);
/// data/entry_words.js: of each descriptor that has any its place in data/names.js, then they.
void write_entry_words(PageFolder& folder, const AtlasView& view);
/// data/regions.js: of each region of each level name, centre, cells, hits, parent.
void write_regions(PageFolder& folder, const AtlasView& view);
/// Articles by year of each region of the smallest level.
using YearsOfRegions = std::vector<std::map<unsigned, std::uint64_t>>;
/// data/cells/N.js: the cells of square N, row by row; years counts their articles. False where it
/// was asked to stop.
[[nodiscard]] bool write_cells(PageFolder& folder, const AtlasView& view, YearsOfRegions& years,
                               const std::stop_token& stop);
/// data/parts/LEVEL/N.js: what cards tell of so many regions of a level beyond data/regions.js.
void write_parts(PageFolder& folder, const AtlasView& view, YearsOfRegions years);
/// data/places/N.js: PMIDs, cells and regions of so many articles. The first PMID of each file;
/// empty where it was asked to stop, or no article has a place.
[[nodiscard]] std::vector<std::uint32_t> write_places(PageFolder& folder, const AtlasView& view,
                                                      const std::stop_token& stop);

}  // namespace somatlas::serve
