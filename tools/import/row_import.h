// Rows of any sparse binary matrix into a store, so that what is made for MEDLINE works on them.
// A column is a descriptor: with a table of features by its UI and name; without, or where the
// table has names alone, by a UI of its own, D9 and the column in eight digits, which MeSH does not
// use. A row is an article: with a table of articles by its PMID, else it is numbered from 1.
// Always holds: the whole input is checked before anything is committed; parts of a million rows
// are then committed each in one step, and the same import goes on where it was interrupted.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "store/store.h"
#include "tools/export/article_rows.h"

namespace somatlas::imports {

struct RowInput {
  std::string path;
  exports::RowFormat format = exports::RowFormat::libsvm;
  exports::LibsvmDialect dialect = exports::LibsvmDialect::libsvm;
  std::string features;  // `ui<TAB>name` and a line a column, or a name a line; empty: none
  std::string articles;  // `pmid<TAB>version<TAB>year` and a line a row; empty: none
  std::uint32_t first_number = 1;  // of the first row, where there is no table of articles
};

struct RowImport {
  std::uint64_t rows = 0;
  std::uint64_t empty_rows = 0;  // kept, with no place on any map
  std::uint64_t features = 0;    // that occur
  std::uint64_t nonzeros = 0;
};

/// Nothing where it was asked to stop before it was done. Throws ingest::InputError with what is
/// wrong in the input and store::StoreError where the store holds something else of that name.
[[nodiscard]] std::optional<RowImport> import_rows(store::Store& store, const RowInput& input,
                                                   std::stop_token stop);

}  // namespace somatlas::imports
