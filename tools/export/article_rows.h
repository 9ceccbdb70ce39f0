// The articles of a store as rows of a sparse binary matrix, for other programs: Matrix Market,
// LIBSVM and its dialects, and the paper's binary rows.
// Always holds: rows ascend by PMID, columns within a row too; memory is one shard; a directory
// holds the rows with tables of what rows and columns are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/store.h"
#include "tools/export/peer_formats.h"

namespace somatlas::exports {

enum class RowFormat : std::uint8_t { matrix_market, libsvm, sbcsr };

/// libsvm: a label (0) first, columns from 1. somoclu: no label, columns from 0, one blank between.
/// sparse_som: a label (0) first, columns from 0.
enum class LibsvmDialect : std::uint8_t { libsvm, somoclu, sparse_som };

struct RowSummary {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t nonzeros = 0;
};

/// A directory: rows.mtx, rows.libsvm or rows.sbcsr; features.tsv (ui, name, articles,
/// tree_numbers), a line a column, in the order of UIs; articles.tsv (pmid, version, year), a line
/// a row. Throws store::StoreError where the format cannot number that many columns or nonzeros.
[[nodiscard]] std::optional<RowSummary> export_rows(store::Store& store, RowFormat format,
                                                    LibsvmDialect dialect, const Target& target);

}  // namespace somatlas::exports
