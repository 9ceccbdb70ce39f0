// A pass over the store counts what headers announce, one or two more write the rows.
#include "tools/export/article_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/store_error.h"
#include "tools/export/atlas_export.h"
#include "tools/export/delimited.h"

namespace somatlas::exports {
namespace {

struct Feature {
  std::uint64_t articles = 0;
  std::uint32_t column = 0;  // from 0
};

class RowExport {
 public:
  RowExport(store::Store& store, PendingDirectory& directory, std::string_view rows_name,
            const std::stop_token& stop)
      : store_(store),
        directory_(directory),
        rows_(directory.path_of(rows_name), directory.shown(rows_name)),
        stop_(stop) {}

  std::optional<RowSummary> write(RowFormat format, LibsvmDialect dialect) {
    if (!count() || !write_tables()) {
      return std::nullopt;
    }
    const bool complete = format == RowFormat::matrix_market ? write_matrix_market()
                          : format == RowFormat::libsvm      ? write_libsvm(dialect)
                                                             : write_sbcsr();
    if (!complete) {
      return std::nullopt;
    }
    rows_.close();
    return summary_;
  }

 private:
  /// Every article of the store, in the order of PMIDs.
  bool for_each_row(const std::function<void(const store::Shard&, std::size_t)>& take) {
    for (const std::uint32_t range : store_.ranges()) {
      if (stop_.stop_requested()) {
        return false;
      }
      const auto shard = store_.shard(range);
      for (std::size_t r = 0; shard && r < shard->rows(); ++r) {
        if (shard->state[r] == store::ArticleState::article) {
          take(*shard, r);
        }
      }
    }
    return true;
  }

  /// The same with the columns of each, ascending.
  bool for_each_columns(const std::function<void(std::span<const std::uint32_t>)>& take) {
    std::vector<std::uint32_t> columns;
    return for_each_row([&](const store::Shard& shard, std::size_t r) {
      columns.clear();
      for (const store::DescriptorCode code : shard.row(r)) {
        columns.push_back(features_.at(code).column);
      }
      std::sort(columns.begin(), columns.end());
      take(columns);
    });
  }

  bool count() {
    const bool complete = for_each_row([&](const store::Shard& shard, std::size_t r) {
      ++summary_.rows;
      for (const store::DescriptorCode code : shard.row(r)) {
        ++features_[code].articles;
        ++summary_.nonzeros;
      }
    });
    for (const auto& [code, feature] : features_) {
      order_.push_back(code);
    }
    std::sort(order_.begin(), order_.end(), store::ui_less);
    for (std::size_t c = 0; c < order_.size(); ++c) {
      features_[order_[c]].column = static_cast<std::uint32_t>(c);
    }
    summary_.columns = order_.size();
    return complete;
  }

  bool write_tables() {
    std::unordered_map<store::DescriptorCode, store::DescriptorEntry> entries;
    for (store::DescriptorEntry& entry : store_.descriptors()) {
      entries[entry.code] = std::move(entry);
    }
    NewFile features(directory_.path_of("features.tsv"), directory_.shown("features.tsv"));
    features.write(descriptor_heading());
    for (const store::DescriptorCode code : order_) {
      store::DescriptorEntry& entry = entries[code];
      features.write(descriptor_line(
          {code, entry.name.empty() ? store::descriptor_ui(code) : std::move(entry.name),
           std::move(entry.tree_numbers), features_.at(code).articles}));
    }
    features.close();
    NewFile articles(directory_.path_of("articles.tsv"), directory_.shown("articles.tsv"));
    articles.write(tsv_line({"pmid", "version", "year"}));
    const bool complete = for_each_row([&](const store::Shard& shard, std::size_t r) {
      articles.write(
          tsv_line({std::to_string(shard.pmid(r)), std::to_string(shard.version[r]),
                    shard.year[r] == 0 ? std::string() : std::to_string(shard.year[r])}));
    });
    articles.close();
    return complete;
  }

  bool write_matrix_market() {
    rows_.write("%%MatrixMarket matrix coordinate pattern general\n" +
                std::to_string(summary_.rows) + " " + std::to_string(summary_.columns) + " " +
                std::to_string(summary_.nonzeros) + "\n");
    std::uint64_t row = 0;
    return for_each_columns([&](std::span<const std::uint32_t> columns) {
      const std::string number = std::to_string(++row) + " ";
      for (const std::uint32_t column : columns) {
        rows_.write(number + std::to_string(column + 1) + "\n");
      }
    });
  }

  bool write_libsvm(LibsvmDialect dialect) {
    const std::uint32_t first = dialect == LibsvmDialect::libsvm ? 1 : 0;
    std::string line;
    return for_each_columns([&](std::span<const std::uint32_t> columns) {
      line = dialect == LibsvmDialect::somoclu ? "" : "0";
      for (const std::uint32_t column : columns) {
        line += (line.empty() ? "" : " ") + std::to_string(column + first) + ":1";
      }
      rows_.write(line + "\n");
    });
  }

  bool write_sbcsr() {
    static_assert(std::endian::native == std::endian::little);
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    if (summary_.columns > 65'536 || summary_.rows >= most || summary_.nonzeros > most) {
      throw store::StoreError(store_.directory() + ": .sbcsr numbers 65,536 columns and 2^32 - 1 " +
                              "nonzeros, the store has " + std::to_string(summary_.columns) +
                              " and " + std::to_string(summary_.nonzeros) + "; export mtx");
    }
    rows_.write(std::string_view("SBCSR1\0\0", 8));
    write_number(static_cast<std::uint32_t>(summary_.rows));
    write_number(static_cast<std::uint32_t>(summary_.columns));
    write_number(static_cast<std::uint32_t>(summary_.nonzeros));
    write_number(0);
    std::uint32_t end = 0;
    write_number(end);
    const bool complete = for_each_row([&](const store::Shard& shard, std::size_t r) {
      end += static_cast<std::uint32_t>(shard.row(r).size());
      write_number(end);
    });
    std::vector<std::uint16_t> narrow;
    return complete && for_each_columns([&](std::span<const std::uint32_t> columns) {
             narrow.assign(columns.begin(), columns.end());
             rows_.write(std::as_bytes(std::span(narrow)));
           });
  }

  void write_number(std::uint32_t number) {
    rows_.write(std::as_bytes(std::span<const std::uint32_t>(&number, 1)));
  }

  store::Store& store_;
  PendingDirectory& directory_;
  NewFile rows_;
  std::stop_token stop_;
  RowSummary summary_;
  std::unordered_map<store::DescriptorCode, Feature> features_;
  std::vector<store::DescriptorCode> order_;
};

}  // namespace

std::optional<RowSummary> export_rows(store::Store& store, RowFormat format, LibsvmDialect dialect,
                                      const Target& target) {
  const std::array<std::string_view, 3> names{format == RowFormat::matrix_market ? "rows.mtx"
                                              : format == RowFormat::libsvm      ? "rows.libsvm"
                                                                                 : "rows.sbcsr",
                                              "features.tsv", "articles.tsv"};
  PendingDirectory directory(target.path, names, target.existing);
  const auto summary = RowExport(store, directory, names[0], target.stop).write(format, dialect);
  if (summary) {
    directory.commit();
  }
  return summary;
}

}  // namespace somatlas::exports
