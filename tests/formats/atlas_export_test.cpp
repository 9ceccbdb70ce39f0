// A small atlas on disk through every export: the bytes of each file, refusals, stops.
#include "tools/export/atlas_export.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "store/store_error.h"
#include "tests/formats/scratch_folder.h"
#include "tests/formats/small_atlas.h"
#include "tools/export/decimal_text.h"

namespace somatlas::exports {
namespace {

using Names = std::vector<std::string>;

class AtlasExport : public ::testing::Test {
 protected:
  void SetUp() override {
    small_.make_atlas(folder_ / "atlas", "id", "state");
    atlas_ = store::Atlas::open(folder_ / "atlas", store::Atlas::Access::read);
  }
  [[nodiscard]] std::string out() const { return folder_ / "out"; }

  const ScratchFolder folder_;
  const SmallAtlas small_;
  std::unique_ptr<store::Atlas> atlas_;
};

TEST_F(AtlasExport, NpyHoldsThePlanesInTheOrderOfTheUis) {
  const auto summary = export_npy(*atlas_, out(), Existing::refuse, {});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->descriptors, 4U);
  EXPECT_EQ(summary->assigned, 4U);
  EXPECT_EQ(summary->placed, 4U);
  EXPECT_EQ(summary->unplaced, 1U);
  const std::string bytes = text_of(out() + "/planes.npy");
  ASSERT_EQ(bytes.size(), 128U + 4 * 9 * 2);
  EXPECT_NE(bytes.find("'shape': (4, 3, 3), "), std::string::npos);
  std::vector<std::uint16_t> expected;
  // D000009370 stands before D000818: UIs are in the order of their text.
  const std::vector<store::DescriptorCode> order{SmallAtlas::zebrafish, SmallAtlas::animals,
                                                 SmallAtlas::humans, SmallAtlas::neoplasms};
  for (const store::DescriptorCode code : order) {
    expected.insert(expected.end(), small_.plane(code).begin(), small_.plane(code).end());
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(static_cast<unsigned char>(bytes[128 + 2 * i]), expected[i] & 0xFFU);
    EXPECT_EQ(static_cast<unsigned char>(bytes[129 + 2 * i]), expected[i] >> 8);
  }
  EXPECT_EQ(text_of(out() + "/descriptors.tsv"),
            "ui\tname\tarticles\ttree_numbers\n"
            "D000009370\tFishes, \"Zebra\"\t1\tB01.2\n"
            "D000818\tAnimals\t3\tB01.050\n"
            "D006801\tHumans\t2\tB01.050.150.900;B01.1\n"
            "D009369\tNeoplasms\t2\t\n");
}

TEST_F(AtlasExport, NpyListsEveryPlaceAndTheAssignment) {
  ASSERT_TRUE(export_npy(*atlas_, out(), Existing::refuse, {}));
  std::string places = "pmid\trow\tcolumn\tdistance\n";
  std::string assignment = "pmid\trow\tcolumn\n";
  for (const auto& [pmid, codes] : small_.articles()) {
    if (const auto place = small_.place(codes)) {
      const std::uint32_t trained = (place->neuron + 1) % 9;
      places += std::to_string(pmid) + "\t" + std::to_string(place->neuron / 3) + "\t" +
                std::to_string(place->neuron % 3) + "\t" + distance_text(place->distance) + "\n";
      assignment += std::to_string(pmid) + "\t" + std::to_string(trained / 3) + "\t" +
                    std::to_string(trained % 3) + "\n";
    }
  }
  EXPECT_EQ(text_of(out() + "/places.tsv"), places);
  EXPECT_EQ(text_of(out() + "/assignment.tsv"), assignment);
}

TEST_F(AtlasExport, NpySaysWhatTheAtlasIs) {
  ASSERT_TRUE(export_npy(*atlas_, out(), Existing::refuse, {}));
  const auto meta = nlohmann::json::parse(text_of(out() + "/meta.json"));
  EXPECT_EQ(meta["side"], 3);
  EXPECT_EQ(meta["radius"], 1);
  EXPECT_EQ(meta["epochs"], 12);
  EXPECT_EQ(meta["earlier_epochs"], 0);
  EXPECT_EQ(meta["seed"], 7);
  EXPECT_EQ(meta["store_state"], "state");
  EXPECT_EQ(meta["counts"]["training_articles"], 4);
  EXPECT_EQ(meta["counts"]["unplaced_articles"], 1);
  EXPECT_EQ(meta["quality"]["qe"], 1.25);
  EXPECT_TRUE(meta["quality"]["cosine_qe"].is_null());
  EXPECT_EQ(meta["planes"]["weight_one"], 16383);
}

TEST_F(AtlasExport, CsvHasARowACell) {
  EXPECT_EQ(export_csv(*atlas_, out(), Existing::refuse, {}), 9U);
  std::string expected =
      "row,column,hits,height,descriptor1,descriptor2,descriptor3,descriptor4,descriptor5\r\n";
  for (std::uint32_t i = 0; i < 9; ++i) {
    expected += std::to_string(i / 3) + "," + std::to_string(i % 3) + ",";
    expected += i == SmallAtlas::vacant
                    ? "0,,,,,,\r\n"
                    : std::to_string(10 * i) + "," + distance_text((1U << 20) + i) + "," +
                          (i == 0 ? "\"Fishes, \"\"Zebra\"\"\"" : "Humans") + ",Neoplasms,,,\r\n";
  }
  EXPECT_EQ(text_of(out()), expected);
}

TEST_F(AtlasExport, AStopLeavesNothing) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(export_npy(*atlas_, out(), Existing::refuse, stop.get_token()));
  EXPECT_FALSE(export_csv(*atlas_, out(), Existing::refuse, stop.get_token()));
  EXPECT_FALSE(export_png(*atlas_, {}, out(), Existing::refuse, stop.get_token()));
  EXPECT_EQ(folder_.names(), Names{"atlas"});
}

TEST_F(AtlasExport, AnExistingOutputIsReplacedOnlyWhenAskedTo) {
  ASSERT_TRUE(export_npy(*atlas_, out(), Existing::refuse, {}));
  write_text(out() + "/places.tsv", "old");
  EXPECT_THROW(static_cast<void>(export_npy(*atlas_, out(), Existing::refuse, {})),
               OutputFileError);
  EXPECT_EQ(text_of(out() + "/places.tsv"), "old");
  ASSERT_TRUE(export_npy(*atlas_, out(), Existing::replace, {}));
  EXPECT_NE(text_of(out() + "/places.tsv"), "old");
  EXPECT_THROW(static_cast<void>(export_csv(*atlas_, out(), Existing::replace, {})),
               OutputFileError);
  EXPECT_EQ(folder_.names(), (Names{"atlas", "out"}));
}

TEST_F(AtlasExport, AFigureShowsTheValuesOfItsLayer) {
  const MapFigure hits = figure_of(*atlas_, {Layer::hits, "", std::nullopt});
  EXPECT_EQ(hits.value, (std::vector<double>{0, 10, 20, 30, 0, 50, 60, 70, 80}));
  EXPECT_EQ(hits.low, 1);
  EXPECT_EQ(hits.high, 80);
  EXPECT_EQ(hits.state[SmallAtlas::vacant], CellState::vacant);
  EXPECT_EQ(hits.state[0], CellState::no_value);
  EXPECT_EQ(hits.state[1], CellState::valued);
  EXPECT_EQ(hits.no_value, "no training article");
  EXPECT_TRUE(hits.labels.empty());  // side 3

  const MapFigure umatrix = figure_of(*atlas_, {Layer::umatrix, "", std::nullopt});
  EXPECT_EQ(umatrix.low, 1.0);
  EXPECT_EQ(umatrix.high, 1.0 + 8.0 / (1 << 20));

  const MapFigure years = figure_of(*atlas_, {Layer::years, "", std::nullopt});
  EXPECT_EQ(years.state[2], CellState::no_value);
  EXPECT_EQ(years.value[3], 1991.5);
  EXPECT_EQ(years.low, 1990);
  EXPECT_EQ(years.no_value, "no dated article");
}

TEST_F(AtlasExport, APlaneIsFoundByUiAndByName) {
  for (const std::string wanted : {"D000009370", "Fishes, \"Zebra\"", " fishes, \"zebra\" "}) {
    const MapFigure plane = figure_of(*atlas_, {Layer::plane, wanted, std::nullopt});
    EXPECT_EQ(plane.title, "Fishes, \"Zebra\"");
    EXPECT_EQ(plane.value[0], 9000 / 16383.0);
    EXPECT_EQ(plane.high, 9000 / 16383.0);
    EXPECT_EQ(plane.low, 0);
  }
  try {
    static_cast<void>(figure_of(*atlas_, {Layer::plane, "neoplasm", std::nullopt}));
    ADD_FAILURE() << "found";
  } catch (const store::StoreError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("has no descriptor \"neoplasm\" (give the UI or the name of a MeSH "
                        "heading); did you mean \"Neoplasms\"?"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(AtlasExport, LabelsNameTheLeadingDescriptorsOfPeaks) {
  const MapFigure figure = figure_of(*atlas_, {Layer::hits, "", 5});
  ASSERT_FALSE(figure.labels.empty());
  EXPECT_EQ(figure.labels[0].neuron, 8U);
  EXPECT_EQ(figure.labels[0].name, "Humans");
  EXPECT_EQ(figure.label_count, 5U);
}

TEST_F(AtlasExport, PngIsWritten) {
  ASSERT_TRUE(export_png(*atlas_, {}, out(), Existing::refuse, {}));
  EXPECT_EQ(text_of(out()).substr(0, 8), "\x89PNG\r\n\x1A\n");
}

TEST(AtlasExportOfHalfAnAtlas, IsRefused) {
  const ScratchFolder folder;
  {
    const auto atlas = store::Atlas::open(folder / "atlas", store::Atlas::Access::create);
    atlas->put_cells(SmallAtlas().cells());
  }
  const auto atlas = store::Atlas::open(folder / "atlas", store::Atlas::Access::read);
  EXPECT_THROW(static_cast<void>(export_npy(*atlas, folder / "out", Existing::refuse, {})),
               store::StoreError);
  EXPECT_THROW(static_cast<void>(export_csv(*atlas, folder / "out", Existing::refuse, {})),
               store::StoreError);
  EXPECT_THROW(static_cast<void>(export_png(*atlas, {}, folder / "out", Existing::refuse, {})),
               store::StoreError);
  EXPECT_EQ(folder.names(), Names{"atlas"});
}

}  // namespace
}  // namespace somatlas::exports
