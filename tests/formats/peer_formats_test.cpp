// A small atlas and store through the writers of other programs' formats, byte for byte where the
// format is text.
#include "tools/export/peer_formats.h"

#include <gtest/gtest.h>
#include <libxml/parser.h>
#include <sqlite3.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "store/store_error.h"
#include "tests/formats/scratch_folder.h"
#include "tests/formats/small_atlas.h"
#include "tools/export/article_rows.h"
#include "tools/export/codebook_text.h"
#include "tools/export/decimal_text.h"

namespace somatlas::exports {
namespace {

class PeerFormats : public ::testing::Test {
 protected:
  void SetUp() override {
    small_.make_atlas(folder_ / "atlas", "id", "state");
    atlas_ = store::Atlas::open(folder_ / "atlas", store::Atlas::Access::read);
  }
  [[nodiscard]] Target out() const { return {folder_ / "out", Existing::refuse, {}}; }
  [[nodiscard]] std::string text() const { return text_of(folder_ / "out"); }

  const ScratchFolder folder_;
  const SmallAtlas small_;
  std::unique_ptr<store::Atlas> atlas_;
};

TEST(WeightText, ReadsBackAsTheWeight) {
  EXPECT_EQ(weight_text(0), "0");
  EXPECT_EQ(weight_text(16383), "1");
  EXPECT_EQ(weight_text(1), "0.00006");
  for (std::uint32_t weight = 0; weight <= 16383; ++weight) {
    const std::string text = weight_text(static_cast<std::uint16_t>(weight));
    EXPECT_EQ(std::llround(std::stod(text) * 16383), weight);
    EXPECT_LE(text.size(), 7U);
  }
}

TEST_F(PeerFormats, UmxHoldsTheHeightsRowByRow) {
  EXPECT_EQ(export_umx(*atlas_, out()), 9U);
  std::string expected = "% 3 3\n";
  for (std::uint32_t i = 0; i < 9; ++i) {
    expected += (i == SmallAtlas::vacant ? "0.0000000" : distance_text((1U << 20) + i)) +
                (i % 3 == 2 ? "\n" : "\t");
  }
  EXPECT_EQ(text(), expected);
}

TEST_F(PeerFormats, WtsAndCodHoldTheChosenWeightsNeuronByNeuron) {
  EXPECT_EQ(export_wts(*atlas_, "neoplasms; D000818;Neoplasms", out()), 2U);
  std::string wts = "#n D000818 D009369\n% 3 3\n% 2\n";
  std::string cod = "2 rect 3 3 gaussian\n#n D000818 D009369\n";
  for (std::uint32_t i = 0; i < 9; ++i) {
    const std::string animals = weight_text(small_.plane(SmallAtlas::animals)[i]);
    const std::string neoplasms = weight_text(small_.plane(SmallAtlas::neoplasms)[i]);
    wts += animals + "\t" + neoplasms + "\n";
    cod += animals + " " + neoplasms + (i == 0 ? " Fishes,_\"Zebra\"\n" : " Humans\n");
  }
  EXPECT_EQ(text(), wts);
  EXPECT_EQ(export_cod(*atlas_, "neoplasms; D000818", {folder_ / "cod", Existing::refuse, {}}), 2U);
  EXPECT_EQ(text_of(folder_ / "cod"), cod);
  EXPECT_THROW(static_cast<void>(export_wts(*atlas_, "Neoplasm", out())), store::StoreError);
}

TEST_F(PeerFormats, BandsOfAnySizeGiveTheSameNeurons) {
  const auto all = chosen_descriptors(*atlas_, "");
  for (const std::size_t band_bytes : {std::size_t{1}, std::size_t{40}, std::size_t{1} << 20}) {
    std::uint32_t neuron = 0;
    EXPECT_TRUE(for_each_neuron(
        *atlas_, 3, all, {},
        [&](std::span<const std::uint16_t> row) {
          ASSERT_EQ(row.size(), all.size());
          for (std::size_t d = 0; d < all.size(); ++d) {
            EXPECT_EQ(row[d], small_.plane(all[d].code)[neuron]);
          }
          ++neuron;
        },
        band_bytes));
    EXPECT_EQ(neuron, 9U);
  }
}

TEST_F(PeerFormats, ATextOfAHugeMapIsRefusedUnlessChosen) {
  EXPECT_THROW(refuse_absurd_text(*atlas_, 1024, 30'000, false), store::StoreError);
  EXPECT_NO_THROW(refuse_absurd_text(*atlas_, 1024, 300, true));
  EXPECT_NO_THROW(refuse_absurd_text(*atlas_, 1024, 256, false));
  EXPECT_THROW(refuse_absurd_text(*atlas_, 1024, 257, false), store::StoreError);
}

TEST_F(PeerFormats, BmHoldsEveryPlaceInTheNamedOrder) {
  for (const BestMatchOrder order : {BestMatchOrder::esom, BestMatchOrder::somoclu}) {
    std::string expected = order == BestMatchOrder::esom ? "% 3 3\n% 4\n" : "%3 3\n%4\n";
    for (const auto& [pmid, codes] : small_.articles()) {
      if (const auto place = small_.place(codes)) {
        const std::string row = std::to_string(place->neuron / 3);
        const std::string column = std::to_string(place->neuron % 3);
        expected += std::to_string(pmid) + "\t" +
                    (order == BestMatchOrder::esom ? row + "\t" + column : column + "\t" + row) +
                    "\n";
      }
    }
    EXPECT_EQ(export_bm(*atlas_, order, {folder_ / "out", Existing::replace, {}}), 4U);
    EXPECT_EQ(text(), expected);
  }
}

TEST_F(PeerFormats, SomwHoldsFloatsDescriptorByDescriptor) {
  EXPECT_EQ(export_somw(*atlas_, "", out()), 4U);
  const std::string bytes = text_of(folder_ / "out/codebook.somw");
  ASSERT_EQ(bytes.size(), 24U + 4 * 9 * 4);
  EXPECT_EQ(bytes.substr(0, 24), std::string("SSOMW1\0\0\3\0\0\0\3\0\0\0\4\0\0\0\0\0\0\0", 24));
  std::size_t at = 24;
  for (const store::AtlasDescriptor& descriptor : small_.descriptors()) {
    for (const std::uint16_t weight : small_.plane(descriptor.code)) {
      float value = 0;
      std::memcpy(&value, bytes.data() + at, sizeof(value));
      EXPECT_EQ(value, static_cast<float>(weight / 16383.0));
      at += sizeof(value);
    }
  }
  EXPECT_NE(text_of(folder_ / "out/descriptors.tsv").find("D009369\tNeoplasms\t2\t\n"),
            std::string::npos);
}

TEST_F(PeerFormats, VosviewerGetsRegionsAndTheirBorders) {
  EXPECT_EQ(export_vosviewer(*atlas_, out()), 2U);
  EXPECT_EQ(text_of(folder_ / "out/map.txt"),
            "id,label,x,y,cluster,weight<hits>,score<avg year>\r\n"
            "1,Humans,0.000000,-0.666667,1,350,1992.29\r\n"
            "2,\"Fishes, \"\"Zebra\"\"\",-0.666667,0.666667,1,0,1990.00\r\n");
  EXPECT_EQ(text_of(folder_ / "out/network.txt"), "1\t2\t2\n");
  const auto json = nlohmann::json::parse(text_of(folder_ / "out/atlas.json"))["network"];
  ASSERT_EQ(json["items"].size(), 2U);
  EXPECT_EQ(json["items"][0]["label"], "Humans");
  EXPECT_EQ(json["items"][0]["weights"]["hits"], 350);
  EXPECT_EQ(json["items"][0]["url"], "https://meshb.nlm.nih.gov/record/ui?ui=D006801");
  EXPECT_EQ(json["items"][1]["description"], "<b>Fishes, &quot;Zebra&quot;</b><br>Neoplasms<br>");
  EXPECT_EQ(json["links"][0],
            (nlohmann::json{{"source_id", 1}, {"target_id", 2}, {"strength", 2}}));
}

TEST_F(PeerFormats, GraphmlIsWellFormedAndHoldsTheSame) {
  EXPECT_EQ(export_graphml(*atlas_, out()), 2U);
  const std::string graph = text();
  EXPECT_NE(graph.find("<data key=\"label\">Fishes, &quot;Zebra&quot;</data>"), std::string::npos);
  EXPECT_NE(graph.find("<edge source=\"r0\" target=\"r1\"><data key=\"weight\">2</data></edge>"),
            std::string::npos);
  const std::unique_ptr<xmlDoc, void (*)(xmlDoc*)> document(
      xmlReadMemory(graph.data(), static_cast<int>(graph.size()), nullptr, nullptr,
                    XML_PARSE_NONET),
      xmlFreeDoc);
  EXPECT_NE(document, nullptr);
}

std::string answer(const std::string& path, const std::string& question) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  std::string text;
  const auto row = [](void* to, int count, char** values, char**) {
    for (int i = 0; i < count; ++i) {
      *static_cast<std::string*>(to) += (values[i] == nullptr ? "-" : std::string(values[i])) + "|";
    }
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(database, question.c_str(), row, &text, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
  return text;
}

TEST_F(PeerFormats, SqliteAnswersQuestions) {
  EXPECT_EQ(export_sqlite(*atlas_, out()), 9U);
  const std::string path = folder_ / "out";
  EXPECT_EQ(answer(path, "PRAGMA integrity_check"), "ok|");
  EXPECT_EQ(answer(path, "SELECT count(*), sum(hits), sum(vacant) FROM cells"), "9|320|1|");
  EXPECT_EQ(answer(path, "SELECT height, mean_year FROM cells WHERE cell = 4"), "-|-|");
  EXPECT_EQ(answer(path, "SELECT mean_year FROM cells WHERE cell = 3"), "1991.5|");
  EXPECT_EQ(answer(path, "SELECT ui, articles FROM descriptors WHERE name = 'Fishes, \"Zebra\"'"),
            "D000009370|1|");
  EXPECT_EQ(answer(path, "SELECT kind, key FROM labels WHERE labels MATCH 'zebra' ORDER BY kind"),
            "descriptor|D000009370|region|1/1|");
  EXPECT_EQ(answer(path, "SELECT name, parent FROM regions WHERE level = 3"), "Diseases|-|");
  std::string places;
  for (const auto& [pmid, codes] : small_.articles()) {
    if (!codes.empty()) {
      const auto place = small_.place(codes);
      places += std::to_string(pmid) + "|" + (place ? std::to_string(place->neuron) : "-") + "|";
    }
  }
  EXPECT_EQ(answer(path, "SELECT pmid, cell FROM articles ORDER BY pmid"), places);
}

TEST_F(PeerFormats, AStopLeavesNothing) {
  std::stop_source stop;
  stop.request_stop();
  const Target target{folder_ / "out", Existing::refuse, stop.get_token()};
  EXPECT_FALSE(export_umx(*atlas_, target));
  EXPECT_FALSE(export_wts(*atlas_, "", target));
  EXPECT_FALSE(export_bm(*atlas_, BestMatchOrder::esom, target));
  EXPECT_FALSE(export_cod(*atlas_, "", target));
  EXPECT_FALSE(export_somw(*atlas_, "", target));
  EXPECT_FALSE(export_vosviewer(*atlas_, target));
  EXPECT_FALSE(export_graphml(*atlas_, target));
  EXPECT_FALSE(export_sqlite(*atlas_, target));
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"atlas"});
}

TEST_F(PeerFormats, RowsAreTheArticlesOfTheStore) {
  small_.make_store(folder_ / "store");
  const auto store = store::Store::open(folder_ / "store", store::Store::Access::read);
  const auto write = [&](RowFormat format, LibsvmDialect dialect) {
    const auto summary =
        export_rows(*store, format, dialect, {folder_ / "out", Existing::replace, {}});
    EXPECT_TRUE(summary);
    EXPECT_EQ(summary->rows, 5U);
    EXPECT_EQ(summary->columns, 5U);
    EXPECT_EQ(summary->nonzeros, 9U);
    std::filesystem::path rows;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "out")) {
      rows = entry.path().stem() == "rows" ? entry.path() : rows;
    }
    const std::string bytes = text_of(rows.string());
    EXPECT_EQ(text_of(folder_ / "out/articles.tsv"),
              "pmid\tversion\tyear\n10\t1\t\n11\t1\t\n12\t1\t\n70000\t1\t\n70001\t1\t\n");
    EXPECT_EQ(text_of(folder_ / "out/features.tsv"),
              "ui\tname\tarticles\ttree_numbers\nD000009370\tD000009370\t1\t\n"
              "D000077\tD000077\t2\t\nD000818\tD000818\t2\t\nD006801\tD006801\t2\t\n"
              "D009369\tD009369\t2\t\n");
    std::filesystem::remove_all(folder_ / "out");
    return bytes;
  };
  EXPECT_EQ(write(RowFormat::matrix_market, {}),
            "%%MatrixMarket matrix coordinate pattern general\n5 5 9\n"
            "1 1\n1 3\n2 4\n2 5\n3 2\n4 2\n4 4\n4 5\n5 3\n");
  EXPECT_EQ(write(RowFormat::libsvm, LibsvmDialect::libsvm),
            "0 1:1 3:1\n0 4:1 5:1\n0 2:1\n0 2:1 4:1 5:1\n0 3:1\n");
  EXPECT_EQ(write(RowFormat::libsvm, LibsvmDialect::somoclu),
            "0:1 2:1\n3:1 4:1\n1:1\n1:1 3:1 4:1\n2:1\n");
  EXPECT_EQ(write(RowFormat::libsvm, LibsvmDialect::sparse_som),
            "0 0:1 2:1\n0 3:1 4:1\n0 1:1\n0 1:1 3:1 4:1\n0 2:1\n");
  const std::string sbcsr = write(RowFormat::sbcsr, {});
  ASSERT_EQ(sbcsr.size(), 24U + 6 * 4 + 9 * 2);
  EXPECT_EQ(sbcsr.substr(0, 24), std::string("SBCSR1\0\0\5\0\0\0\5\0\0\0\11\0\0\0\0\0\0\0", 24));
  EXPECT_EQ(sbcsr.substr(24, 24),
            std::string("\0\0\0\0\2\0\0\0\4\0\0\0\5\0\0\0\10\0\0\0\11\0\0\0", 24));
  EXPECT_EQ(sbcsr.substr(48), std::string("\0\0\2\0\3\0\4\0\1\0\1\0\3\0\4\0\2\0", 18));
}

}  // namespace
}  // namespace somatlas::exports
