// One reader a format.
#include "tools/import/row_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>

#include "ingest/input_error.h"
#include "tools/import/text_file.h"

namespace somatlas::imports {
namespace {

constexpr std::size_t most_in_row = store::descriptors_per_article_limit;
constexpr std::uint64_t most_rows_a_byte = 16;
constexpr std::size_t longest_line = std::size_t{1} << 16;  // 64 bytes for each that a row may have

class TextRows : public RowReader {
 protected:
  explicit TextRows(const std::string& path) : text_(path, longest_line, "give one row a line") {}
  [[noreturn]] void refuse(const std::string& problem) const { text_.refuse(problem); }
  [[nodiscard]] bool next_line(std::string_view& line) { return text_.next(line); }
  void require_one(std::string_view value) const {
    if (number_of<double>(value) != 1.0) {
      refuse("the value " + quoted(value) + " is not 1; rows are binary, leave out what is 0");
    }
  }
  /// A column as the file numbers it.
  [[nodiscard]] std::uint32_t column(std::string_view word, std::uint32_t first) const {
    const auto number = number_of<std::uint32_t>(word);
    if (!number || *number < first || *number - first >= most_columns) {
      refuse(quoted(word) + " is no column; give whole numbers from " + std::to_string(first) +
             " to " + std::to_string(most_columns - 1 + first));
    }
    return *number - first;
  }
  void require_room(const std::vector<std::uint32_t>& columns) const {
    if (columns.size() == most_in_row) {
      refuse("a row has more than " + std::to_string(most_in_row) + " columns; leave it out");
    }
  }

 private:
  TextFile text_;
};

class MatrixMarketRows final : public TextRows {
 public:
  explicit MatrixMarketRows(const std::string& path) : TextRows(path) {
    std::string_view line;
    read_banner(next_line(line) ? line : std::string_view());
    do {
      if (!next_line(line)) {
        refuse("the file ends before the line `rows columns nonzeros`");
      }
    } while (line.starts_with('%') || line.find_first_not_of(" \t") == std::string_view::npos);
    const auto rows = number_of<std::uint64_t>(next_word(line));
    const auto columns = number_of<std::uint64_t>(next_word(line));
    const auto nonzeros = number_of<std::uint64_t>(next_word(line));
    if (!rows || !columns || !nonzeros || !next_word(line).empty() ||
        *rows > std::uint32_t{0xFFFF'FFFF} || *columns > most_columns) {
      refuse("this is not `rows columns nonzeros`, with fewer than 2^32 rows and at most " +
             std::to_string(most_columns) + " columns");
    }
    // A row takes no byte of the file, so that a word could ask for hours.
    std::error_code unknown;
    const std::uint64_t bytes = std::filesystem::file_size(path, unknown);
    if (!unknown && *rows > most_rows_a_byte * bytes) {
      refuse(std::to_string(*rows) + " rows are announced, but the file has " +
             std::to_string(bytes) + " bytes: leave empty rows out");
    }
    rows_ = *rows;
    columns_ = *columns;
    missing_ = *nonzeros;
    read_entry();
  }

  bool next(std::vector<std::uint32_t>& columns) override {
    columns.clear();
    if (row_ == rows_) {
      return false;
    }
    ++row_;
    for (; entry_ && entry_->row == row_; read_entry()) {
      require_room(columns);
      if (!columns.empty() && columns.back() >= entry_->column) {
        refuse("column " + std::to_string(entry_->column + 1) + " does not stand in order");
      }
      columns.push_back(entry_->column);
    }
    return true;
  }
  [[nodiscard]] std::uint32_t first_column() const override { return 1; }

 private:
  struct Entry {
    std::uint64_t row;  // from 1
    std::uint32_t column;
  };

  void read_banner(std::string_view line) {
    std::string small(line);
    std::transform(small.begin(), small.end(), small.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    std::string_view rest = small;
    const bool coordinates = next_word(rest) == "%%matrixmarket" && next_word(rest) == "matrix" &&
                             next_word(rest) == "coordinate";
    const std::string_view field = next_word(rest);
    pattern_ = field == "pattern";
    if (!coordinates || (!pattern_ && field != "integer" && field != "real") ||
        next_word(rest) != "general") {
      refuse("the first line is not `%%MatrixMarket matrix coordinate pattern general`");
    }
  }

  void read_entry() {
    const std::uint64_t before = entry_ ? entry_->row : 1;
    entry_.reset();
    std::string_view line;
    std::string_view word;
    do {
      if (!next_line(line)) {
        if (missing_ != 0) {
          refuse("the file ends " + std::to_string(missing_) + " entries early; get it whole");
        }
        return;
      }
      word = next_word(line);
    } while (word.empty());
    if (missing_ == 0) {
      refuse("there are more entries than announced");
    }
    --missing_;
    const auto row = number_of<std::uint64_t>(word);
    if (!row || *row == 0 || *row > rows_) {
      refuse(quoted(word) + " is no row from 1 to " + std::to_string(rows_));
    }
    if (*row < before) {
      refuse("row " + std::to_string(*row) + " stands behind row " + std::to_string(before) +
             "; sort the entries by row and column");
    }
    const std::uint32_t place = column(next_word(line), 1);
    if (place >= columns_) {
      refuse("column " + std::to_string(place + 1) + " is past the " + std::to_string(columns_) +
             " announced");
    }
    if (!pattern_) {
      require_one(next_word(line));
    }
    if (!next_word(line).empty()) {
      refuse("there is more than an entry on the line");
    }
    entry_ = Entry{*row, place};
  }

  bool pattern_ = true;
  std::uint64_t rows_ = 0;
  std::uint64_t columns_ = 0;
  std::uint64_t missing_ = 0;
  std::uint64_t row_ = 0;
  std::optional<Entry> entry_;
};

class LibsvmRows final : public TextRows {
 public:
  LibsvmRows(const std::string& path, exports::LibsvmDialect dialect)
      : TextRows(path),
        labelled_(dialect != exports::LibsvmDialect::somoclu),
        first_(dialect == exports::LibsvmDialect::libsvm ? 1 : 0) {}

  bool next(std::vector<std::uint32_t>& columns) override {
    columns.clear();
    std::string_view line;
    if (!next_line(line)) {
      return false;
    }
    line = line.substr(0, line.find('#'));
    if (labelled_) {
      const std::string_view label = next_word(line);
      if (label.empty() || label.find(':') != std::string_view::npos) {
        refuse("the line does not begin with a label; is it --dialect somoclu?");
      }
      require_label(label);
    }
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      const std::size_t colon = word.find(':');
      if (colon == std::string_view::npos) {
        refuse(quoted(word) + " is not `column:1`" +
               (labelled_ ? "" : "; is there a label, in another dialect?"));
      }
      const std::uint32_t place = column(word.substr(0, colon), first_);
      require_one(word.substr(colon + 1));
      require_room(columns);
      if (!columns.empty() && columns.back() >= place) {
        refuse("column " + std::to_string(place + first_) + " does not stand in order");
      }
      columns.push_back(place);
    }
    return true;
  }
  [[nodiscard]] std::uint32_t first_column() const override { return first_; }

 private:
  /// A number, or several with commas between; anything else would make rows of any text.
  void require_label(std::string_view label) const {
    for (std::size_t begin = 0; begin <= label.size();) {
      const std::size_t end = std::min(label.find(',', begin), label.size());
      std::string_view part = label.substr(begin, end - begin);
      part.remove_prefix(part.starts_with('+') && !part.starts_with("+-") ? 1 : 0);
      const auto number = number_of<double>(part);
      if (!number || !std::isfinite(*number)) {
        refuse(quoted(label) + " is no label; a line begins with a number");
      }
      begin = end + 1;
    }
  }

  bool labelled_;
  std::uint32_t first_;
};

/// Read at two places at once, so it must be a plain file; its size is checked first.
class SbcsrRows final : public RowReader {
 public:
  explicit SbcsrRows(const std::string& path)
      : path_(path), ends_(path, std::ios::binary), columns_(path, std::ios::binary) {
    static_assert(std::endian::native == std::endian::little);
    std::error_code error;
    const std::uint64_t bytes = std::filesystem::file_size(path, error);
    if (error || !ends_ || !columns_) {
      throw ingest::InputError(path_, 0, "cannot be read as a file");
    }
    std::array<char, 8> magic{};
    std::array<std::uint32_t, 4> header{};
    if (bytes < 24) {
      throw ingest::InputError(path_, 0, "is too short for a .sbcsr file");
    }
    read(ends_, std::span(magic));
    read(ends_, std::span(header));
    if (std::string_view(magic.data(), magic.size()) != std::string_view("SBCSR1\0\0", 8)) {
      throw ingest::InputError(path_, 0, "does not begin with SBCSR1, so it is no .sbcsr file");
    }
    rows_ = header[0];
    features_ = header[1];
    nonzeros_ = header[2];
    const std::uint64_t begin = 24 + 4 * (std::uint64_t{rows_} + 1);
    if (bytes != begin + 2 * std::uint64_t{nonzeros_}) {
      throw ingest::InputError(path_, 0,
                               "has " + std::to_string(bytes) + " bytes where its header means " +
                                   std::to_string(begin + 2 * std::uint64_t{nonzeros_}) +
                                   "; get it whole");
    }
    columns_.seekg(static_cast<std::streamoff>(begin));
    if (read_end() != 0) {
      refuse("the first row does not begin at 0");
    }
  }

  bool next(std::vector<std::uint32_t>& columns) override {
    columns.clear();
    if (row_ == rows_) {
      if (end_ != nonzeros_) {
        refuse("the rows end at " + std::to_string(end_) + " of " + std::to_string(nonzeros_) +
               " nonzeros");
      }
      return false;
    }
    ++row_;
    const std::uint32_t begin = end_;
    end_ = read_end();
    if (end_ < begin || end_ > nonzeros_) {
      refuse("it ends before it begins or behind the last nonzero");
    }
    if (end_ - begin > most_in_row) {
      refuse("it has more than " + std::to_string(most_in_row) + " columns; leave it out");
    }
    narrow_.resize(end_ - begin);
    read(columns_, std::span(narrow_));
    for (const std::uint16_t column : narrow_) {
      if (column >= features_ || (!columns.empty() && columns.back() >= column)) {
        refuse("column " + std::to_string(column) + " is not in order, or past the " +
               std::to_string(features_) + " announced");
      }
      columns.push_back(column);
    }
    return true;
  }
  [[nodiscard]] std::uint32_t first_column() const override { return 0; }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw ingest::InputError(path_, 0, "row " + std::to_string(row_) + ": " + problem);
  }
  template <typename Value, std::size_t extent>
  void read(std::ifstream& file, std::span<Value, extent> values) const {
    file.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size_bytes()));
    if (!file) {
      throw ingest::InputError(path_, 0, "changed or failed while it was read; import it again");
    }
  }
  std::uint32_t read_end() {
    std::uint32_t end = 0;
    read(ends_, std::span(&end, 1));
    return end;
  }

  std::string path_;
  std::ifstream ends_;
  std::ifstream columns_;
  std::uint32_t rows_ = 0;
  std::uint32_t features_ = 0;
  std::uint32_t nonzeros_ = 0;
  std::uint32_t row_ = 0;
  std::uint32_t end_ = 0;
  std::vector<std::uint16_t> narrow_;
};

}  // namespace

std::unique_ptr<RowReader> open_rows(const std::string& path, exports::RowFormat format,
                                     exports::LibsvmDialect dialect) {
  switch (format) {
    case exports::RowFormat::matrix_market:
      return std::make_unique<MatrixMarketRows>(path);
    case exports::RowFormat::libsvm:
      return std::make_unique<LibsvmRows>(path, dialect);
    case exports::RowFormat::sbcsr:
      return std::make_unique<SbcsrRows>(path);
  }
  throw ingest::InputError(path, 0, "is of no known format");
}

}  // namespace somatlas::imports
