// A finished atlas in the forms that other programs read: NPY arrays with tables, CSV, and figures.
// Always holds: planes pass through one at a time; an output appears complete or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "pipeline/atlas_meta.h"
#include "store/atlas.h"
#include "tools/export/map_picture.h"
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
/// assignment.tsv, places.tsv, meta.json. Throws OutputFileError, store::StoreError.
[[nodiscard]] std::optional<NpySummary> export_npy(store::Atlas& atlas, const std::string& path,
                                                   Existing existing, std::stop_token stop);

/// A row a cell: row, column, hits, height (empty where vacant), five leading descriptors' names.
/// Returns the number of cells; nothing where it was asked to stop.
[[nodiscard]] std::optional<std::uint64_t> export_csv(store::Atlas& atlas, const std::string& path,
                                                      Existing existing, std::stop_token stop);

enum class Layer : std::uint8_t { hits, umatrix, years, plane };

struct FigureRequest {
  Layer layer = Layer::hits;
  std::string descriptor;                  // UI or name, for a plane
  std::optional<std::size_t> label_count;  // none: 24 from side 16 on, else 0
};

/// The figure of one layer. Throws store::StoreError where the atlas has no such descriptor.
[[nodiscard]] MapFigure figure_of(store::Atlas& atlas, const FigureRequest& request);
/// Whether the picture was written: not where it was asked to stop.
[[nodiscard]] bool export_png(store::Atlas& atlas, const FigureRequest& request,
                              const std::string& path, Existing existing, std::stop_token stop);

/// The cells of an atlas of that side. Throws store::StoreError where they are not side * side.
[[nodiscard]] store::AtlasCells checked_cells(store::Atlas& atlas, std::uint32_t side);

}  // namespace somatlas::exports
