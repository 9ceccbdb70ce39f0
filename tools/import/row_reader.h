// Rows of a sparse binary matrix from other programs' files: Matrix Market, LIBSVM and its
// dialects, the paper's .sbcsr. Text may be gzip.
// Always holds: memory is one row; a file that breaks its format's rules is refused with the line
// or row; whatever the bytes, nothing is read past what was checked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/shard.h"
#include "tools/export/article_rows.h"

namespace somatlas::imports {

/// A column number, from 0, is below this.
inline constexpr std::uint32_t most_columns = 100'000'000;

class RowReader {
 public:
  virtual ~RowReader() = default;
  /// The columns of the next row, ascending, at most store::descriptors_per_article_limit of them;
  /// false at the end. Throws ingest::InputError.
  [[nodiscard]] virtual bool next(std::vector<std::uint32_t>& columns) = 0;
  /// What the file calls column 0.
  [[nodiscard]] virtual std::uint32_t first_column() const = 0;
};

/// dialect: for libsvm alone. Throws ingest::InputError.
[[nodiscard]] std::unique_ptr<RowReader> open_rows(const std::string& path,
                                                   exports::RowFormat format,
                                                   exports::LibsvmDialect dialect);

}  // namespace somatlas::imports
