// A finished atlas as NPY arrays with tables, as CSV of its cells and of its regions, and as
// figures. Always holds: planes pass through one at a time; an output appears complete or not at
// all.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/atlas_meta.h"
#include "store/atlas.h"
#include "tools/export/map_figure.h"
#include "tools/export/pending_output.h"

namespace somatlas::exports {

/// What was written; nothing where the export was asked to stop.
struct NpySummary {
  std::uint64_t descriptors = 0;
  std::uint64_t assigned = 0;  // training articles
  std::uint64_t placed = 0;
  std::uint64_t unplaced = 0;  // articles without a place
};

/// A directory: planes.npy (uint16 [descriptors, side, side]), descriptors.tsv in the same order,
/// cells.npy (uint32 [6, side, side]: hits, U-matrix, vacant, region, area, continent),
/// regions.csv, assignment.tsv, places.tsv, meta.json. Throws OutputFileError, store::StoreError.
[[nodiscard]] std::optional<NpySummary> export_npy(store::Atlas& atlas, const std::string& path,
                                                   Existing existing, std::stop_token stop);

/// What a region's or cell's figures are held against: names and shares of all training articles,
/// and how many of the dated articles are recent.
class Corpus {
 public:
  Corpus(store::Atlas& atlas, const store::AtlasCells& cells, std::uint64_t training_articles);
  /// The UI where it has no name.
  [[nodiscard]] std::string name(store::DescriptorCode code) const;
  /// Nothing where the atlas has no such descriptor.
  [[nodiscard]] const store::AtlasDescriptor* find(store::DescriptorCode code) const;
  /// share over that of all training articles; 0 where none has it.
  [[nodiscard]] double lift(store::DescriptorCode code, double share) const;
  /// pipeline/lift.h.
  [[nodiscard]] double growth(std::uint64_t recent, std::uint64_t dated) const;
  /// With three decimals; empty where none is dated.
  [[nodiscard]] std::string growth_text(std::uint64_t recent, std::uint64_t dated) const;

 private:
  std::unordered_map<store::DescriptorCode, store::AtlasDescriptor> descriptors_;
  std::uint64_t training_articles_;
  std::uint64_t dated_;
  std::uint64_t recent_;
};

/// With so many decimals.
[[nodiscard]] std::string decimals(double value, int places);
/// With one decimal; empty where none is dated.
[[nodiscard]] std::string mean_year_text(std::uint64_t year_sum, std::uint64_t year_count);

/// A table (CSV) with a row a region: level, number, parent, name, centre, cells, hits, mean year,
/// growth, leading descriptors with their lift. Returns the number of rows; nothing where it was
/// asked to stop.
[[nodiscard]] std::optional<std::uint64_t> write_regions(store::Atlas& atlas, NewFile& file,
                                                         std::stop_token stop);
[[nodiscard]] std::optional<std::uint64_t> export_regions(store::Atlas& atlas,
                                                          const std::string& path,
                                                          Existing existing, std::stop_token stop);

/// A row a cell: row, column, hits, height (empty where vacant), five leading descriptors' names,
/// their lifts, mean year, growth, names of region, area and continent.
/// Returns the number of cells; nothing where it was asked to stop.
[[nodiscard]] std::optional<std::uint64_t> export_csv(store::Atlas& atlas, const std::string& path,
                                                      Existing existing, std::stop_token stop);

/// The first line of descriptors.tsv and features.tsv, and those below it: UI, name, articles, tree
/// numbers with `;` between.
[[nodiscard]] std::string descriptor_heading();
[[nodiscard]] std::string descriptor_line(const store::AtlasDescriptor& descriptor);

enum class Layer : std::uint8_t { hits, umatrix, years, growth, regions, plane };

enum class FigureForm : std::uint8_t { png, svg };

struct FigureRequest {
  Layer layer = Layer::hits;
  std::string descriptor;                  // UI or name, for a plane
  std::optional<std::size_t> label_count;  // none: as many as look well
  std::string title;                       // in place of the layer's own, where given
  std::string caption;                     // goes before what the atlas says of itself
  std::vector<std::uint32_t> overlay;      // articles of a list a cell; empty: no list
  std::string overlay_text;                // what the list is
  FigureForm form = FigureForm::png;
  std::uint32_t scale = 1;  // of a PNG: dots an edge of one of the layout's pixels
};

/// The figure of one layer. Throws store::StoreError where the atlas has no such descriptor.
[[nodiscard]] MapFigure figure_of(store::Atlas& atlas, const FigureRequest& request);

/// Whether the figure was written: not where it was asked to stop.
[[nodiscard]] bool export_figure(store::Atlas& atlas, const FigureRequest& request,
                                 const std::string& path, Existing existing, std::stop_token stop);

/// The cells of an atlas of that side. Throws store::StoreError where they are not side * side.
[[nodiscard]] store::AtlasCells checked_cells(store::Atlas& atlas, std::uint32_t side);

}  // namespace somatlas::exports
