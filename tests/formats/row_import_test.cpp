// Rows of other programs into a store: what export writes comes back, files made by hand after the
// formats' descriptions are read, what breaks their rules is refused with its line, and damaged
// files never do worse than that.
#include "tools/import/row_import.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <random>
#include <set>

#include "ingest/input_error.h"
#include "store/store_error.h"
#include "tests/formats/damage.h"
#include "tests/formats/scratch_folder.h"
#include "tests/formats/small_atlas.h"
#include "tests/seed.h"
#include "tools/export/article_rows.h"
#include "tools/import/row_reader.h"

namespace somatlas::imports {
namespace {

using exports::LibsvmDialect;
using exports::RowFormat;
using Rows = std::vector<std::vector<std::uint32_t>>;

Rows rows_of(const std::string& path, RowFormat format, LibsvmDialect dialect = {}) {
  const auto reader = open_rows(path, format, dialect);
  Rows rows;
  std::vector<std::uint32_t> row;
  while (reader->next(row)) {
    rows.push_back(row);
  }
  return rows;
}

class RowFiles : public ::testing::Test {
 protected:
  [[nodiscard]] Rows read(const std::string& text, RowFormat format,
                          LibsvmDialect dialect = {}) const {
    exports::write_text(folder_ / "rows", text);
    return rows_of(folder_ / "rows", format, dialect);
  }
  /// What a refusal says behind the folder's name; empty where there is none.
  [[nodiscard]] std::string refusal(const std::string& text, RowFormat format,
                                    LibsvmDialect dialect = {}) const {
    try {
      static_cast<void>(read(text, format, dialect));
    } catch (const ingest::InputError& error) {
      return std::string(error.what()).substr((folder_ / "rows").size());
    }
    return "";
  }
  const exports::ScratchFolder folder_;
};

TEST_F(RowFiles, OfEachDialectAreReadAsTheyAreMeant) {
  const Rows rows{{0, 2}, {1}, {}};
  EXPECT_EQ(read("+1 1:1 3:1\n-1 2:1.0 # two\r\n0\n", RowFormat::libsvm), rows);
  EXPECT_EQ(read("0:1 2:1\n1:1\n\n", RowFormat::libsvm, LibsvmDialect::somoclu), rows);
  EXPECT_EQ(read("0 0:1 2:1\n0 1:1\n7", RowFormat::libsvm, LibsvmDialect::sparse_som), rows);
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate pattern general\n% by hand\n\n3 3 3\n1 1\n"
                 "1 3\n2 2\n",
                 RowFormat::matrix_market),
            rows);
  EXPECT_EQ(read("%%MatrixMarket  MATRIX coordinate real general\n3 3 3\n1 1 1\n1 3 1.0\n"
                 "2 2 1e0\n\n",
                 RowFormat::matrix_market),
            rows);
  EXPECT_EQ(read(std::string("SBCSR1\0\0\3\0\0\0\3\0\0\0\3\0\0\0\0\0\0\0"
                             "\0\0\0\0\2\0\0\0\3\0\0\0\3\0\0\0\0\0\2\0\1\0",
                             46),
                 RowFormat::sbcsr),
            rows);
}

TEST_F(RowFiles, ThatBreakTheRulesAreRefusedWithTheLine) {
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";
  const auto starts = [](const std::string& text, const std::string& with) {
    EXPECT_TRUE(text.starts_with(with)) << text;
  };
  starts(refusal("0 1:1\n0 2:1 1:1\n", RowFormat::libsvm), ":2: column 1 does not stand in order");
  starts(refusal("0 1:1 1:1\n", RowFormat::libsvm), ":1: column 1 does not stand in order");
  starts(refusal("0 0:1\n", RowFormat::libsvm), ":1: \"0\" is no column");
  starts(refusal("0 1:2\n", RowFormat::libsvm), ":1: the value \"2\" is not 1");
  starts(refusal("0 1\n", RowFormat::libsvm), ":1: \"1\" is not `column:1`");
  starts(refusal("1:1\n", RowFormat::libsvm), ":1: the line does not begin with a label");
  starts(refusal("\n", RowFormat::libsvm), ":1: the line does not begin with a label");
  for (const char* const label :
       {"nonsense", "1,", ",1", "1,x,2", "0x1", "+", "+-1", "nan", "infinity"}) {
    starts(refusal(std::string(label) + " 1:1\n", RowFormat::libsvm),
           ":1: \"" + std::string(label) + "\" is no label");
  }
  for (const char* const label : {"1", "+1", "-1", "0.5", "1e3", "1,2,30"}) {
    EXPECT_EQ(read(std::string(label) + " 1:1\n", RowFormat::libsvm), Rows{{0}}) << label;
  }
  starts(refusal("0 99999999999:1\n", RowFormat::libsvm), ":1: \"99999999999\" is no column");
  starts(refusal("0 100000001:1\n", RowFormat::libsvm), ":1: \"100000001\" is no column");
  starts(refusal("5 0:1\n", RowFormat::libsvm, LibsvmDialect::somoclu), ":1: \"5\" is not");
  starts(refusal("%%MatrixMarket matrix array real general\n", RowFormat::matrix_market),
         ":1: the first line is not");
  starts(refusal("", RowFormat::matrix_market), ": the first line is not");
  starts(refusal(banner, RowFormat::matrix_market), ":1: the file ends before");
  starts(refusal(banner + "2 2 1\n3 1\n", RowFormat::matrix_market), ":3: \"3\" is no row from 1");
  starts(refusal(banner + "2 2 1\n1 3\n", RowFormat::matrix_market), ":3: column 3 is past the 2");
  starts(refusal(banner + "2 2 2\n2 1\n1 1\n", RowFormat::matrix_market),
         ":4: row 1 stands behind row 2");
  starts(refusal(banner + "2 2 2\n1 1\n", RowFormat::matrix_market),
         ":3: the file ends 1 entries early");
  starts(refusal(banner + "2 2 1\n1 1\n1 2\n", RowFormat::matrix_market),
         ":4: there are more entries");
  starts(refusal(banner + "2 2 1\n1 1 1\n", RowFormat::matrix_market), ":3: there is more than");
  starts(refusal(banner + "4000000000 2 1\n4000000000 1\n", RowFormat::matrix_market),
         ":2: 4000000000 rows are announced, but the file has 77 bytes");
  EXPECT_EQ(read(banner + "1000 2 1\n1000 1\n", RowFormat::matrix_market).size(), 1000U);
  std::string many = "0";
  for (int i = 1; i <= 1024; ++i) {
    many += " " + std::to_string(i) + ":1";
  }
  starts(refusal(many, RowFormat::libsvm), ":1: a row has more than 1023 columns");
  starts(refusal(std::string("SBCSR1\0\0\1\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1\0", 34),
                 RowFormat::sbcsr),
         ": row 1: column 1 is not in order");
  starts(refusal(std::string("SBCSR1\0\0\1\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1", 33),
                 RowFormat::sbcsr),
         ": has 33 bytes where its header means 34");
  starts(refusal("SBCSR", RowFormat::sbcsr), ": is too short");
}

TEST_F(RowFiles, DamagedAnywhereAreReadOrRefused) {
  std::mt19937_64 random(test_seed());
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n40 90 40\n";
  std::string lines;
  std::string binary("SBCSR1\0\0\50\0\0\0\132\0\0\0\50\0\0\0\0\0\0\0", 24);
  for (char i = 0; i <= 40; ++i) {
    binary += std::string{i, 0, 0, 0};
  }
  for (char i = 1; i <= 40; ++i) {
    text += std::to_string(i) + " " + std::to_string(2 * i) + "\n";
    lines += "1 " + std::to_string(2 * i) + ":1\n";
    binary += std::string{static_cast<char>(2 * i), 0};
  }
  const std::vector<std::pair<std::string, RowFormat>> files{
      {text, RowFormat::matrix_market}, {lines, RowFormat::libsvm}, {binary, RowFormat::sbcsr}};
  for (const auto& [whole, format] : files) {
    EXPECT_EQ(read(whole, format).size(), 40U);
    for (int trial = 0; trial < 600; ++trial) {
      try {
        for (const std::vector<std::uint32_t>& row :
             read(exports::damaged(whole, random), format)) {
          EXPECT_LE(row.size(), store::descriptors_per_article_limit);
          EXPECT_TRUE(std::adjacent_find(row.begin(), row.end(), std::greater_equal<>()) ==
                      row.end());
          EXPECT_TRUE(row.empty() || row.back() < most_columns);
        }
      } catch (const ingest::InputError&) {
      }
    }
  }
}

/// Every article: number, version, year, UIs.
std::string dump(store::Store& store) {
  std::string text;
  for (const std::uint32_t range : store.ranges()) {
    const auto shard = store.shard(range);
    for (std::size_t r = 0; r < shard->rows(); ++r) {
      if (shard->state[r] != store::ArticleState::article) {
        continue;
      }
      text += std::to_string(shard->pmid(r)) + " " + std::to_string(shard->version[r]) + " " +
              std::to_string(shard->year[r]);
      for (const store::DescriptorCode code : shard->row(r)) {
        text += " " + store::descriptor_ui(code);
      }
      text += "\n";
    }
  }
  return text;
}

class RowImporting : public RowFiles {
 protected:
  [[nodiscard]] std::unique_ptr<store::Store> create(const std::string& name) const {
    return store::Store::open(folder_ / name, store::Store::Access::create);
  }
};

TEST_F(RowImporting, WhatWasExportedComesBack) {
  exports::SmallAtlas().make_store(folder_ / "store");
  const auto store = store::Store::open(folder_ / "store", store::Store::Access::read);
  const std::vector<std::tuple<RowFormat, LibsvmDialect, std::string>> forms{
      {RowFormat::matrix_market, {}, "/rows.mtx"},
      {RowFormat::libsvm, LibsvmDialect::libsvm, "/rows.libsvm"},
      {RowFormat::libsvm, LibsvmDialect::somoclu, "/rows.libsvm"},
      {RowFormat::libsvm, LibsvmDialect::sparse_som, "/rows.libsvm"},
      {RowFormat::sbcsr, {}, "/rows.sbcsr"}};
  int count = 0;
  for (const auto& [format, dialect, name] : forms) {
    const std::string out = folder_ / "out" + std::to_string(++count);
    ASSERT_TRUE(exports::export_rows(*store, format, dialect, {out, {}, {}}));
    const auto copy = create("copy" + std::to_string(count));
    const RowInput input{out + name, format, dialect, out + "/features.tsv", out + "/articles.tsv",
                         1};
    const auto result = import_rows(*copy, input, {});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->rows, 5U);
    EXPECT_EQ(result->features, 5U);
    EXPECT_EQ(dump(*copy), dump(*store));
    copy->verify([](const store::Fault& fault) { ADD_FAILURE() << fault.where << fault.what; });
    // The same again changes nothing.
    const std::string state = copy->state_id();
    ASSERT_TRUE(import_rows(*copy, input, {}));
    EXPECT_EQ(copy->state_id(), state);
  }
}

TEST_F(RowImporting, TreeNumbersComeBack) {
  exports::write_text(folder_ / "rows", "0 1:1 2:1\n0 1:1\n");
  exports::write_text(folder_ / "names",
                      "ui\tname\tarticles\ttree_numbers\nD009369\tNeoplasms\t2\tC04\n"
                      "D001943\tBreast Neoplasms\t1\tC04.588.180;C17.800.090.500\n");
  const auto store = create("store");
  RowInput input;
  input.path = folder_ / "rows";
  input.features = folder_ / "names";
  ASSERT_TRUE(import_rows(*store, input, {}));
  auto entries = store->descriptors();
  std::ranges::sort(entries, {}, &store::DescriptorEntry::name);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].tree_numbers, (std::vector<std::string>{"C04.588.180", "C17.800.090.500"}));
  EXPECT_EQ(entries[1].tree_numbers, std::vector<std::string>{"C04"});
  ASSERT_TRUE(exports::export_rows(*store, RowFormat::libsvm, LibsvmDialect::libsvm,
                                   {folder_ / "out", {}, {}}));
  const auto copy = create("copy");
  input.path = folder_ / "out/rows.libsvm";
  input.features = folder_ / "out/features.tsv";
  ASSERT_TRUE(import_rows(*copy, input, {}));
  EXPECT_EQ(copy->descriptors(), store->descriptors());
}

TEST_F(RowImporting, RowsAndFeaturesWithoutNamesGetSomeOfTheirOwn) {
  exports::write_text(folder_ / "rows", "0 1:1 3:1\n0\n0 3:1\n");
  const auto store = create("store");
  RowInput input;
  input.path = folder_ / "rows";
  input.first_number = 65'535;
  const auto result = import_rows(*store, input, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->rows, 3U);
  EXPECT_EQ(result->empty_rows, 1U);
  EXPECT_EQ(result->features, 2U);
  EXPECT_EQ(dump(*store), "65535 1 0 D900000000 D900000002\n65537 1 0 D900000002\n");
  const auto descriptors = store->descriptors();
  ASSERT_EQ(descriptors.size(), 2U);
  EXPECT_EQ(descriptors[0].name, "feature 1");
  EXPECT_EQ(descriptors[1].name, "feature 3");

  exports::write_text(folder_ / "names", "wine\nbeer\nwater, still\n");
  const auto named = create("named");
  input.features = folder_ / "names";
  ASSERT_TRUE(import_rows(*named, input, {}));
  EXPECT_EQ(named->descriptors()[1].name, "water, still");
  EXPECT_EQ(dump(*named), dump(*store));
}

TEST_F(RowImporting, NothingIsTakenOfWhatIsRefused) {
  exports::write_text(folder_ / "rows", "0 1:1\n0 2:1\n0 2:1 2:1\n");
  const auto store = create("store");
  RowInput input;
  input.path = folder_ / "rows";
  EXPECT_THROW(static_cast<void>(import_rows(*store, input, {})), ingest::InputError);
  exports::write_text(folder_ / "rows", "");
  EXPECT_THROW(static_cast<void>(import_rows(*store, input, {})), ingest::InputError);
  exports::write_text(folder_ / "rows", "0 1:1\n0 2:1\n");
  for (const std::string names :
       {"one\n", "one\none\n\n", "ui\tname\nD1\tone\n", "ui\tname\nD000001\tone\nD000001\ttwo\n",
        "ui\tname\ttree_numbers\nD000001\tone\tC04\nD000002\ttwo\tfour\n", "one\n\xff\xfe\n",
        "\x1b[2J\ntwo\n", "ui\tname\nD000001\tone\nD000002\tcaf\xe9\n"}) {
    exports::write_text(folder_ / "names", names);
    input.features = folder_ / "names";
    EXPECT_THROW(static_cast<void>(import_rows(*store, input, {})), ingest::InputError) << names;
  }
  input.features.clear();
  for (const std::string articles :
       {"", "pmid\tversion\tyear\n1\t1\t\n", "pmid\tversion\tyear\n1\t1\t\n1\t1\t\n",
        "pmid\tversion\tyear\n1\t1\t\n2\t1\t\n3\t1\t\n", "pmid\tversion\tyear\n1\t1\t\n2\t1\n"}) {
    exports::write_text(folder_ / "articles", articles);
    input.articles = folder_ / "articles";
    EXPECT_THROW(static_cast<void>(import_rows(*store, input, {})), ingest::InputError) << articles;
  }
  EXPECT_TRUE(store->ranges().empty());
  EXPECT_TRUE(store->ledger().empty());
  EXPECT_TRUE(store->descriptors().empty());
  input.articles.clear();
  ASSERT_TRUE(import_rows(*store, input, {}));
  exports::write_text(folder_ / "rows", "0 1:1\n0 3:1\n");
  EXPECT_THROW(static_cast<void>(import_rows(*store, input, {})), store::StoreError);
}

}  // namespace
}  // namespace somatlas::imports
