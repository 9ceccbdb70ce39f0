// A pass that checks and counts, then a pass that commits.
#include "tools/import/row_import.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ingest/byte_source.h"
#include "ingest/input_error.h"
#include "pipeline/article_set.h"
#include "store/store_error.h"
#include "tools/import/feature_table.h"
#include "tools/import/row_reader.h"
#include "tools/import/text_file.h"

namespace somatlas::imports {
namespace {

constexpr std::uint64_t rows_a_part = std::uint64_t{1} << 20;
constexpr std::size_t longest_line = 4096;
constexpr std::uint32_t first_own_number = 900'000'000;

/// What columns are called: entries[i] is column i's.
std::vector<store::DescriptorEntry> entries_of(const std::vector<Feature>& features) {
  std::vector<store::DescriptorEntry> entries;
  for (const Feature& feature : features) {
    store::DescriptorEntry& entry = entries.emplace_back();
    entry.code = feature.code.value_or(store::descriptor_code(
        first_own_number + static_cast<std::uint32_t>(entries.size() - 1), 9));
    entry.name = feature.name;
    entry.tree_numbers = feature.tree_numbers;
  }
  return entries;
}

/// A row with its number.
struct Row {
  std::uint32_t number = 0;
  std::uint16_t version = 1;
  std::uint16_t year = 0;
  std::vector<std::uint32_t> columns;
};

class NumberedRows {
 public:
  explicit NumberedRows(const RowInput& input)
      : input_(input),
        rows_(open_rows(input.path, input.format, input.dialect)),
        next_(input.first_number) {
    if (!input.articles.empty()) {
      articles_.emplace(input.articles, longest_line, "give one article a line");
      std::string_view line;
      if (!articles_->next(line) || line != "pmid\tversion\tyear") {
        articles_->refuse("the table does not begin with the columns pmid, version, year");
      }
    }
  }

  bool next(Row& row) {
    const bool more = rows_->next(row.columns);
    if (articles_) {
      return next_article(row, more);
    }
    if (more && next_ > std::numeric_limits<std::uint32_t>::max()) {
      throw ingest::InputError(input_.path, 0,
                               "row numbers pass 2^32 - 1; give a smaller --first-number");
    }
    row.number = static_cast<std::uint32_t>(next_++);
    return more;
  }
  [[nodiscard]] std::uint32_t first_column() const { return rows_->first_column(); }

 private:
  bool next_article(Row& row, bool more) {
    std::string_view line;
    if (articles_->next(line) != more) {
      articles_->refuse(more ? "the table ends before the rows do" : "there are no more rows");
    }
    if (!more) {
      return false;
    }
    const std::uint32_t before = row.number;
    const std::vector<std::string_view> fields = fields_of(line);
    const auto number = number_of<std::uint32_t>(fields[0]);
    const auto version = number_of<std::uint16_t>(fields.size() == 3 ? fields[1] : "");
    const auto year =
        number_of<std::uint16_t>(fields.size() == 3 && !fields[2].empty() ? fields[2] : "0");
    if (!number || !version || !year || *number <= before) {
      articles_->refuse("this is no PMID above the one before, with version and year");
    }
    row.number = *number;
    row.version = *version;
    row.year = *year;
    if (row.columns.empty()) {
      row.year = 0;  // a store keeps no year of what has no descriptor
    }
    return true;
  }

  const RowInput& input_;
  std::unique_ptr<RowReader> rows_;
  std::optional<TextFile> articles_;
  std::uint64_t next_;
};

class Importer {
 public:
  Importer(store::Store& store, const RowInput& input, std::stop_token stop)
      : store_(store), input_(input), stop_(std::move(stop)) {}

  std::optional<RowImport> run() {
    if (!input_.features.empty()) {
      features_ = entries_of(read_features(input_.features));
    }
    if (!check()) {
      return std::nullopt;
    }
    make_sum();
    refuse_others();
    put_features();
    return commit() ? std::optional(result_) : std::nullopt;
  }

 private:
  bool check() {
    NumberedRows rows(input_);
    first_column_ = rows.first_column();
    Row row;
    while (rows.next(row)) {
      if (stop_.stop_requested()) {
        return false;
      }
      ++result_.rows;
      result_.empty_rows += row.columns.empty() ? 1 : 0;
      result_.nonzeros += row.columns.size();
      for (const std::uint32_t column : row.columns) {
        if (!input_.features.empty() && column >= features_.size()) {
          throw ingest::InputError(input_.path, 0,
                                   "row " + std::to_string(result_.rows) + " has column " +
                                       std::to_string(column + first_column_) +
                                       ", but the table of features ends before it");
        }
        occurring_.insert(column);
      }
      if (occurring_.size() > most_features) {
        throw ingest::InputError(input_.path, 0,
                                 "has more than " + std::to_string(most_features) +
                                     " different columns; leave the rarest out");
      }
    }
    if (result_.rows == 0) {
      throw ingest::InputError(input_.path, 0, "holds no rows");
    }
    result_.features = occurring_.size();
    return true;
  }

  [[nodiscard]] store::DescriptorCode code_of(std::uint32_t column) const {
    return input_.features.empty() ? store::descriptor_code(first_own_number + column, 9)
                                   : features_[column].code;
  }

  /// Of the file and of what numbers and codes its rows get, where a MEDLINE file's MD5 would be.
  void make_sum() {
    std::vector<store::DescriptorCode> said{input_.first_number,
                                            static_cast<std::uint32_t>(input_.format),
                                            static_cast<std::uint32_t>(input_.dialect)};
    for (const store::DescriptorEntry& entry : features_) {
      said.push_back(entry.code);
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::uint64_t hash = pipeline::fingerprint(said);
    sum_ = ingest::md5_of_file(input_.path).substr(0, 16);
    for (int i = 0; i < 16; ++i, hash >>= 4) {
      sum_ += digits[hash & 15];
    }
  }

  [[nodiscard]] store::FileKey part_key(std::uint64_t part) const {
    return store::file_key(std::filesystem::path(input_.path).filename().string() + "-part" +
                           std::to_string(part));
  }

  /// Before anything is put.
  void refuse_others() {
    for (const store::LedgerEntry& entry : store_.ledger()) {
      bool ours = false;
      for (std::uint64_t part = 1; (part - 1) * rows_a_part < result_.rows && !ours; ++part) {
        ours = entry.key == part_key(part) && entry.md5 == sum_;
      }
      if (!ours) {
        throw store::StoreError(store_.directory() + ": the store holds " + entry.key.name +
                                " already, and numbers and columns of two files would be mixed: "
                                "give a new store, or join the files into one");
      }
    }
  }

  void put_features() {
    std::vector<store::DescriptorEntry> entries;
    for (const std::uint32_t column : occurring_) {
      store::DescriptorEntry& entry = entries.emplace_back();
      if (input_.features.empty()) {
        entry.code = code_of(column);
        entry.name = "feature " + std::to_string(column + first_column_);
      } else {
        entry = features_[column];
      }
    }
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return store::ui_less(a.code, b.code); });
    store_.put_descriptors(entries);
  }

  bool commit() {
    NumberedRows rows(input_);
    Row row;
    bool more = rows.next(row);
    for (std::uint64_t part = 1; more; ++part) {
      if (stop_.stop_requested()) {
        return false;
      }
      store::LedgerEntry entry;
      entry.key = part_key(part);
      entry.md5 = sum_;
      std::vector<store::Shard> deltas;
      for (; more && entry.citations < rows_a_part; more = rows.next(row)) {
        add(deltas, entry, row);
      }
      if (!store_.ledger_entry(entry.key)) {
        entry.taken_at = std::chrono::duration_cast<std::chrono::seconds>(
                             std::chrono::system_clock::now().time_since_epoch())
                             .count();
        store_.commit(deltas, entry);
      }
    }
    store_.compact();
    return true;
  }

  void add(std::vector<store::Shard>& deltas, store::LedgerEntry& entry, const Row& row) {
    const std::uint32_t range = row.number / store::pmids_per_shard;
    if (deltas.empty() || deltas.back().range != range) {
      store::Shard& fresh = deltas.emplace_back();
      fresh.range = range;
      fresh.keys.push_back(entry.key);
      fresh.offsets.push_back(0);
    }
    store::Shard& shard = deltas.back();
    const bool bare = row.columns.empty();
    shard.low.push_back(static_cast<std::uint16_t>(row.number % store::pmids_per_shard));
    shard.version.push_back(row.version);
    shard.year.push_back(row.year);
    shard.state.push_back(bare ? store::ArticleState::bare : store::ArticleState::article);
    shard.key.push_back(0);
    shard.records.push_back(1);
    const auto first = static_cast<std::ptrdiff_t>(shard.descriptors.size());
    for (const std::uint32_t column : row.columns) {
      shard.descriptors.push_back(code_of(column));
    }
    std::sort(shard.descriptors.begin() + first, shard.descriptors.end());
    shard.major.resize(shard.descriptors.size(), 0);
    shard.offsets.push_back(static_cast<std::uint32_t>(shard.descriptors.size()));
    ++entry.citations;
    entry.with_descriptors += bare ? 0 : 1;
  }

  store::Store& store_;
  const RowInput& input_;
  std::stop_token stop_;
  RowImport result_;
  std::vector<store::DescriptorEntry> features_;  // of a table; empty where there is none
  std::unordered_set<std::uint32_t> occurring_;
  std::uint32_t first_column_ = 0;
  std::string sum_;
};

}  // namespace

std::optional<RowImport> import_rows(store::Store& store, const RowInput& input,
                                     std::stop_token stop) {
  return Importer(store, input, std::move(stop)).run();
}

}  // namespace somatlas::imports
