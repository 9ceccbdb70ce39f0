// An atlas as an SQLite database: cells, regions, articles, descriptors, and names to search.
// Always holds: rows stream in, SQLite's cache is the memory; text goes in as parameters.
#include <sqlite3.h>

#include <memory>
#include <stdexcept>
#include <string_view>

#include "pipeline/atlas_meta.h"
#include "pipeline/lift.h"
#include "store/store_error.h"
#include "tools/export/atlas_export.h"
#include "tools/export/peer_formats.h"

namespace somatlas::exports {
namespace {

constexpr std::uint32_t no_neuron = 0xFFFF'FFFF;
constexpr double distance_one = 1 << 20;

constexpr const char* schema = R"(
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
BEGIN;
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE descriptors(ui TEXT PRIMARY KEY, name TEXT NOT NULL, articles INTEGER NOT NULL,
  tree_numbers TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE regions(level INTEGER NOT NULL, region INTEGER NOT NULL, name TEXT NOT NULL,
  parent INTEGER, cells INTEGER NOT NULL, centre INTEGER NOT NULL, hits INTEGER NOT NULL,
  dated INTEGER NOT NULL, mean_year REAL, recent INTEGER NOT NULL,
  PRIMARY KEY(level, region)) WITHOUT ROWID;
CREATE TABLE region_descriptors(level INTEGER NOT NULL, region INTEGER NOT NULL,
  place INTEGER NOT NULL, ui TEXT NOT NULL, articles INTEGER NOT NULL,
  PRIMARY KEY(level, region, place)) WITHOUT ROWID;
CREATE TABLE cells(cell INTEGER PRIMARY KEY, "row" INTEGER NOT NULL, "column" INTEGER NOT NULL,
  region INTEGER NOT NULL, vacant INTEGER NOT NULL, hits INTEGER NOT NULL, height REAL,
  dated INTEGER NOT NULL, mean_year REAL, recent INTEGER NOT NULL);
CREATE TABLE cell_descriptors(cell INTEGER NOT NULL, place INTEGER NOT NULL, ui TEXT NOT NULL,
  weight REAL NOT NULL, PRIMARY KEY(cell, place)) WITHOUT ROWID;
CREATE TABLE articles(pmid INTEGER PRIMARY KEY, cell INTEGER, second_cell INTEGER, distance REAL);
CREATE VIRTUAL TABLE labels USING fts5(name, kind UNINDEXED, key UNINDEXED);
)";
constexpr const char* indices = R"(
CREATE INDEX articles_of_cells ON articles(cell);
CREATE INDEX cells_of_regions ON cells(region);
COMMIT;
)";

class Database {
 public:
  Database(const std::string& path, std::string shown) : shown_(std::move(shown)) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
    handle_.reset(opened);
    check(code);
  }
  void run(const char* sql) { check(sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr)); }
  void check(int code) const {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
      throw OutputFileError(shown_ + ": cannot be written: " + sqlite3_errmsg(handle_.get()) +
                            (code == SQLITE_FULL ? "; give it more room and export again" : ""));
    }
  }
  [[nodiscard]] sqlite3* get() const { return handle_.get(); }
  void close() { check(sqlite3_close(handle_.release())); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::string shown_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// Inserts rows into a table, parameter by parameter.
class Insert {
 public:
  Insert(Database& database, const std::string& table, int columns) : database_(database) {
    std::string sql = "INSERT INTO " + table + " VALUES(?";
    for (int i = 1; i < columns; ++i) {
      sql += ",?";
    }
    database_.check(
        sqlite3_prepare_v2(database_.get(), (sql + ")").c_str(), -1, &statement_, nullptr));
  }
  ~Insert() { sqlite3_finalize(statement_); }
  Insert(const Insert&) = delete;
  Insert& operator=(const Insert&) = delete;

  template <typename... Values>
  void row(const Values&... values) {
    int at = 0;
    (bind(++at, values), ...);
    database_.check(sqlite3_step(statement_));
    database_.check(sqlite3_reset(statement_));
  }

 private:
  void bind(int at, std::string_view text) {
    // A view that is empty may have no address, which would bind NULL.
    database_.check(sqlite3_bind_text(statement_, at, text.empty() ? "" : text.data(),
                                      static_cast<int>(text.size()), SQLITE_TRANSIENT));
  }
  void bind(int at, double value) { database_.check(sqlite3_bind_double(statement_, at, value)); }
  void bind(int at, std::uint64_t value) {
    database_.check(sqlite3_bind_int64(statement_, at, static_cast<sqlite3_int64>(value)));
  }
  void bind(int at, std::uint32_t value) { bind(at, std::uint64_t{value}); }
  template <typename Value>
  void bind(int at, const std::optional<Value>& value) {
    if (value) {
      bind(at, *value);
    } else {
      database_.check(sqlite3_bind_null(statement_, at));
    }
  }

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

std::optional<double> mean(std::uint64_t sum, std::uint64_t count) {
  return count == 0 ? std::nullopt
                    : std::optional(static_cast<double>(sum) / static_cast<double>(count));
}

void write_meta(Database& database, const pipeline::AtlasMeta& meta, std::uint32_t recent_from) {
  Insert insert(database, "meta", 2);
  insert.row(std::string_view("side"), meta.settings.side);
  insert.row(std::string_view("training_articles"), meta.training_articles);
  insert.row(std::string_view("placed_articles"), meta.placed_articles);
  insert.row(std::string_view("quantization_error"), meta.quality.qe);
  insert.row(std::string_view("topographic_error"), meta.quality.topographic_error);
  insert.row(std::string_view("recent_from"), recent_from);
  insert.row(std::string_view("store_id"), std::string_view(meta.store_id));
  insert.row(std::string_view("store_state"), std::string_view(meta.store_state));
}

void write_descriptors(Database& database, store::Atlas& atlas) {
  Insert insert(database, "descriptors", 4);
  Insert label(database, "labels", 3);
  for (const store::AtlasDescriptor& descriptor : atlas.descriptors()) {
    std::string trees;
    for (const std::string& tree : descriptor.tree_numbers) {
      trees += (trees.empty() ? "" : ";") + tree;
    }
    const std::string ui = store::descriptor_ui(descriptor.code);
    insert.row(std::string_view(ui), std::string_view(descriptor.name), descriptor.articles,
               std::string_view(trees));
    label.row(std::string_view(descriptor.name), std::string_view("descriptor"),
              std::string_view(ui));
  }
}

void write_regions(Database& database, const store::AtlasCells& cells) {
  Insert insert(database, "regions", 10);
  Insert leading(database, "region_descriptors", 5);
  Insert label(database, "labels", 3);
  for (std::uint32_t level = 0; level < cells.levels.size(); ++level) {
    for (std::uint32_t r = 0; r < cells.levels[level].size(); ++r) {
      const store::AtlasRegion& region = cells.levels[level][r];
      const bool last = level + 1 == cells.levels.size();
      insert.row(level + 1, r, std::string_view(region.name),
                 last ? std::optional<std::uint32_t>() : region.parent, region.cells, region.centre,
                 region.hits, region.year_count, mean(region.year_sum, region.year_count),
                 region.recent_count);
      for (std::uint32_t k = 0; k < region.leading.size(); ++k) {
        const std::string ui = store::descriptor_ui(region.leading[k].code);
        leading.row(level + 1, r, k + 1, std::string_view(ui), region.leading[k].articles);
      }
      const std::string key = std::to_string(level + 1) + "/" + std::to_string(r);
      label.row(std::string_view(region.name), std::string_view("region"), std::string_view(key));
    }
  }
}

bool write_cells(Database& database, const store::AtlasCells& cells, std::uint32_t side,
                 const std::stop_token& stop) {
  Insert insert(database, "cells", 10);
  Insert leading(database, "cell_descriptors", 4);
  for (std::uint32_t i = 0; i < cells.hits.size(); ++i) {
    if (stop.stop_requested()) {
      return false;
    }
    insert.row(
        i, i / side, i % side, cells.region[i], std::uint32_t{cells.vacant[i]}, cells.hits[i],
        cells.vacant[i] != 0 ? std::optional<double>() : cells.height[i] / distance_one,
        cells.year_count[i], mean(cells.year_sum[i], cells.year_count[i]), cells.recent_count[i]);
    for (std::uint32_t k = 0; k < store::leading_per_cell; ++k) {
      const std::size_t at = std::size_t{i} * store::leading_per_cell + k;
      if (cells.leading[at] != store::no_descriptor) {
        const std::string ui = store::descriptor_ui(cells.leading[at]);
        leading.row(i, k + 1, std::string_view(ui), cells.leading_weight[at] / 16383.0);
      }
    }
  }
  return true;
}

bool write_articles(Database& database, store::Atlas& atlas, const std::stop_token& stop) {
  Insert insert(database, "articles", 4);
  for (const std::uint32_t range : atlas.place_ranges()) {
    if (stop.stop_requested()) {
      return false;
    }
    const auto shard = atlas.places(range);
    for (std::size_t i = 0; shard && i < shard->low.size(); ++i) {
      const auto cell = [](std::uint32_t neuron) {
        return neuron == no_neuron ? std::nullopt : std::optional(neuron);
      };
      const std::optional<std::uint32_t> place = cell(shard->neuron[i]);
      insert.row(std::uint64_t{range} * store::pmids_per_shard + shard->low[i], place,
                 cell(shard->second[i]),
                 place ? std::optional(shard->distance[i] / distance_one) : std::nullopt);
    }
  }
  return true;
}

}  // namespace

std::optional<std::uint64_t> export_sqlite(store::Atlas& atlas, const Target& target) {
  const pipeline::AtlasMeta meta = pipeline::read_atlas_meta(atlas);
  const store::AtlasCells cells = checked_cells(atlas, meta.settings.side);
  PendingFile output(target.path, target.existing);
  Database database(output.file().path(), output.file().shown());
  database.run(schema);
  write_meta(database, meta, cells.recent_from);
  write_descriptors(database, atlas);
  write_regions(database, cells);
  if (!write_cells(database, cells, meta.settings.side, target.stop) ||
      !write_articles(database, atlas, target.stop)) {
    return std::nullopt;
  }
  database.run(indices);
  database.close();
  output.commit();
  return cells.hits.size();
}

}  // namespace somatlas::exports
