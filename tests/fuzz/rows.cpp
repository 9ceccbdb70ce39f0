// Rows of a matrix in the form and dialect that the first byte names. Promises: a row's columns
// ascend, are not too many, and come in a time that the file bounds; every refusal names a line.
#include <algorithm>
#include <cstdint>
#include <functional>

#include "tests/fuzz/foreign_file.h"
#include "tools/import/row_reader.h"

namespace somatlas::fuzz {
namespace {

constexpr std::size_t most_rows = 1'000'000;

void check_rows(const std::string& path, std::uint8_t form) {
  using exports::LibsvmDialect;
  using exports::RowFormat;
  const auto rows = imports::open_rows(path,
                                       form == 0   ? RowFormat::matrix_market
                                       : form == 1 ? RowFormat::sbcsr
                                                   : RowFormat::libsvm,
                                       form == 2   ? LibsvmDialect::libsvm
                                       : form == 3 ? LibsvmDialect::somoclu
                                                   : LibsvmDialect::sparse_som);
  std::vector<std::uint32_t> columns;
  std::size_t count = 0;
  while (rows->next(columns)) {
    expect(columns.size() <= store::descriptors_per_article_limit, "a row is not too long");
    expect(
        std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>()) == columns.end(),
        "columns ascend");
    expect(columns.empty() || columns.back() < imports::most_columns, "a column is not too large");
    expect(++count <= most_rows, "rows are bounded by the file");
  }
}

}  // namespace
}  // namespace somatlas::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return somatlas::fuzz::check_reading(data, size, 5, somatlas::fuzz::check_rows);
}
