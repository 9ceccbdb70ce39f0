// A small atlas on disk through every export: the bytes of each file, refusals, stops.
#include "tools/export/atlas_export.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "store/store_error.h"
#include "tests/formats/scratch_folder.h"
#include "tests/formats/small_atlas.h"
#include "tools/export/category_colours.h"
#include "tools/export/decimal_text.h"

namespace somatlas::exports {
namespace {

using Names = std::vector<std::string>;

FigureRequest request(Layer layer, const std::string& descriptor = "") {
  FigureRequest result;
  result.layer = layer;
  result.descriptor = descriptor;
  return result;
}

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
      "row,column,hits,height,descriptor1,descriptor2,descriptor3,descriptor4,descriptor5,"
      "lift1,lift2,lift3,lift4,lift5,mean_year,growth,region,area,continent\r\n";
  for (std::uint32_t i = 0; i < 9; ++i) {
    // Shares over those of the training articles: of 4, 2 have either, 1 the fish.
    const auto lift = [&](store::DescriptorCode code, double of_all) {
      return decimals(small_.plane(code)[i] / 16383.0 / of_all, 2);
    };
    const std::string region = i == 0 ? "\"Fishes, \"\"Zebra\"\"\"" : "Humans";
    expected += std::to_string(i / 3) + "," + std::to_string(i % 3) + ",";
    expected +=
        i == SmallAtlas::vacant
            ? "0,,,,,,,,,,,,"
            : std::to_string(10 * i) + "," + distance_text((1U << 20) + i) + "," + region +
                  ",Neoplasms,,,," +
                  (i == 0 ? lift(SmallAtlas::zebrafish, 0.25) : lift(SmallAtlas::humans, 0.5)) +
                  "," + lift(SmallAtlas::neoplasms, 0.5) + ",,,,";
    // Of two dated articles one is recent, as of all: growth is 1.
    expected += i == SmallAtlas::vacant || i == 2 ? ",," : decimals(1990 + i / 2.0, 1) + ",1.000,";
    expected += region + ",Neoplasms,Diseases\r\n";
  }
  EXPECT_EQ(text_of(out()), expected);
}

TEST_F(AtlasExport, RegionsHaveARowEach) {
  EXPECT_EQ(export_regions(*atlas_, out(), Existing::refuse, {}), 4U);
  std::string expected = "level,number,parent,name,row,column,cells,hits,mean_year,growth";
  for (int i = 1; i <= 10; ++i) {
    expected += ",descriptor" + std::to_string(i) + ",lift" + std::to_string(i);
  }
  // Half of all training articles are of humans, half of neoplasms.
  expected +=
      "\r\ncontinent,0,,Diseases,2,1,9,350,1992.0,1.000" + std::string(20, ',') +
      "\r\narea,0,0,Neoplasms,2,1,9,350,1992.0,1.000,Neoplasms," + decimals(90.0 / 350 / 0.5, 2) +
      std::string(18, ',') + "\r\nregion,0,0,Humans,2,1,8,350,1992.3,1.000,Humans," +
      decimals(340.0 / 350 / 0.5, 2) + ",Neoplasms," + decimals(90.0 / 350 / 0.5, 2) +
      std::string(16, ',') + "\r\nregion,1,0,\"Fishes, \"\"Zebra\"\"\",0,0,1,0,1990.0,1.000" +
      std::string(20, ',') + "\r\n";
  EXPECT_EQ(text_of(out()), expected);
}

TEST_F(AtlasExport, NpyHoldsWhatCellsAre) {
  ASSERT_TRUE(export_npy(*atlas_, out(), Existing::refuse, {}));
  const std::string bytes = text_of(out() + "/cells.npy");
  ASSERT_EQ(bytes.size(), 128U + 6 * 9 * 4);
  EXPECT_NE(bytes.find("'descr': '<u4'"), std::string::npos);
  EXPECT_NE(bytes.find("'shape': (6, 3, 3), "), std::string::npos);
  const store::AtlasCells cells = small_.cells();
  std::vector<std::uint32_t> expected = cells.hits;
  expected.insert(expected.end(), cells.height.begin(), cells.height.end());
  expected.insert(expected.end(), cells.vacant.begin(), cells.vacant.end());
  expected.insert(expected.end(), cells.region.begin(), cells.region.end());
  expected.resize(54, 0);  // all lie in one area and continent
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::uint32_t value = 0;
    for (std::size_t byte = 4; byte-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(bytes[128 + 4 * i + byte]);
    }
    EXPECT_EQ(value, expected[i]) << i;
  }
  ASSERT_TRUE(export_regions(*atlas_, folder_ / "regions.csv", Existing::refuse, {}));
  EXPECT_EQ(text_of(out() + "/regions.csv"), text_of(folder_ / "regions.csv"));
}

TEST_F(AtlasExport, AStopLeavesNothing) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(export_npy(*atlas_, out(), Existing::refuse, stop.get_token()));
  EXPECT_FALSE(export_csv(*atlas_, out(), Existing::refuse, stop.get_token()));
  EXPECT_FALSE(export_regions(*atlas_, out(), Existing::refuse, stop.get_token()));
  EXPECT_FALSE(export_figure(*atlas_, {}, out(), Existing::refuse, stop.get_token()));
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
  const MapFigure hits = figure_of(*atlas_, request(Layer::hits));
  EXPECT_EQ(hits.value, (std::vector<double>{0, 10, 20, 30, 0, 50, 60, 70, 80}));
  EXPECT_EQ(hits.low, 1);
  EXPECT_EQ(hits.high, 80);
  EXPECT_EQ(hits.state[SmallAtlas::vacant], CellState::vacant);
  EXPECT_EQ(hits.state[0], CellState::no_value);
  EXPECT_EQ(hits.state[1], CellState::valued);
  EXPECT_EQ(hits.no_value, "no training article");
  EXPECT_EQ(hits.label_count, 0U);  // side 3

  const MapFigure umatrix = figure_of(*atlas_, request(Layer::umatrix));
  EXPECT_EQ(umatrix.low, 1.0);
  EXPECT_EQ(umatrix.high, 1.0 + 8.0 / (1 << 20));

  const MapFigure years = figure_of(*atlas_, request(Layer::years));
  EXPECT_EQ(years.state[2], CellState::no_value);
  EXPECT_EQ(years.value[3], 1991.5);
  EXPECT_EQ(years.low, 1990);
  EXPECT_EQ(years.no_value, "no dated article");

  const MapFigure growth = figure_of(*atlas_, request(Layer::growth));
  EXPECT_EQ(growth.state[2], CellState::no_value);
  EXPECT_EQ(growth.value[3], 1);
}

TEST_F(AtlasExport, AFigureOfRegionsHasTheirColoursBordersAndNames) {
  const MapFigure figure = figure_of(*atlas_, request(Layer::regions));
  const store::AtlasCells cells = small_.cells();
  EXPECT_EQ(figure.parts,
            (std::vector<std::vector<std::uint32_t>>{cells.region, std::vector<std::uint32_t>(9),
                                                     std::vector<std::uint32_t>(9)}));
  // Humans are organisms; the other region has no leading descriptor.
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(figure.colour[i], category_colour(i == 0 ? '-' : 'B'));
  }
  ASSERT_EQ(figure.legend.size(), 2U);
  EXPECT_EQ(figure.legend[0].text, "Organisms");
  EXPECT_EQ(figure.legend[1].text, "no category");
  std::vector<std::string> names;
  for (const MapLabel& label : figure.labels) {
    names.push_back(label.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"DISEASES", "Neoplasms", "Humans", "Fishes, \"Zebra\""}));
  EXPECT_EQ(figure.labels[2].neuron, 7U);
  EXPECT_GT(layout_of(figure).height, 0U);
}

TEST_F(AtlasExport, APlaneIsFoundByUiAndByName) {
  for (const std::string wanted : {"D000009370", "Fishes, \"Zebra\"", " fishes, \"zebra\" "}) {
    const MapFigure plane = figure_of(*atlas_, request(Layer::plane, wanted));
    EXPECT_EQ(plane.title, "Fishes, \"Zebra\"");
    EXPECT_EQ(plane.value[0], 9000 / 16383.0);
    EXPECT_EQ(plane.high, 9000 / 16383.0);
    EXPECT_EQ(plane.low, 0);
  }
  try {
    static_cast<void>(figure_of(*atlas_, request(Layer::plane, "neoplasm")));
    ADD_FAILURE() << "found";
  } catch (const store::StoreError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("has no descriptor \"neoplasm\" (give the UI or the name of a MeSH "
                        "heading); did you mean \"Neoplasms\"?"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(AtlasExport, AFigureNamesTheRegionsWithMostArticles) {
  FigureRequest with_labels = request(Layer::hits);
  with_labels.label_count = 5;
  const MapFigure figure = figure_of(*atlas_, with_labels);
  ASSERT_EQ(figure.labels.size(), 2U);
  EXPECT_EQ(figure.labels[0].neuron, 7U);
  EXPECT_EQ(figure.labels[0].name, "Humans");
  EXPECT_EQ(figure.labels[0].kind, LabelKind::place);
  EXPECT_EQ(figure.labels[1].name, "Fishes, \"Zebra\"");
  EXPECT_EQ(figure.label_count, 5U);
  EXPECT_NE(figure.subtitle.find("; names: "), std::string::npos);
  EXPECT_EQ(figure_of(*atlas_, request(Layer::hits)).subtitle.find("names"), std::string::npos);
}

TEST_F(AtlasExport, AFigureSaysWhatItIsOf) {
  FigureRequest own = request(Layer::hits);
  own.title = "My title";
  own.caption = "A corpus of 1990";
  own.overlay.assign(9, 0);
  own.overlay[3] = 4;
  own.overlay_text = "a list";
  const MapFigure figure = figure_of(*atlas_, own);
  EXPECT_EQ(figure.title, "My title");
  EXPECT_EQ(figure.caption,
            (Names{"A corpus of 1990",
                   "corpus: 4 articles with a place, years to 1994; store state state",
                   "map: 3 x 3 cells trained on 4 articles with 4 descriptors; radius 1; 12 "
                   "epochs; seed 7; somatlas",
                   "quantization error 1.2500; topographic error 50.00 %"}));
  EXPECT_EQ(figure.overlay, own.overlay);
  EXPECT_EQ(figure.overlay_text, "a list");
}

TEST_F(AtlasExport, PngAndSvgAreWritten) {
  ASSERT_TRUE(export_figure(*atlas_, {}, out(), Existing::refuse, {}));
  EXPECT_EQ(text_of(out()).substr(0, 8), "\x89PNG\r\n\x1A\n");
  FigureRequest svg = request(Layer::plane, "Fishes, \"Zebra\"");
  svg.form = FigureForm::svg;
  ASSERT_TRUE(export_figure(*atlas_, svg, out() + ".svg", Existing::refuse, {}));
  const std::string text = text_of(out() + ".svg");
  EXPECT_EQ(text.substr(0, 5), "<?xml");
  EXPECT_NE(text.find("<title>Fishes, &quot;Zebra&quot;</title>"), std::string::npos);
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
  EXPECT_THROW(static_cast<void>(export_figure(*atlas, {}, folder / "out", Existing::refuse, {})),
               store::StoreError);
  EXPECT_EQ(folder.names(), Names{"atlas"});
}

}  // namespace
}  // namespace somatlas::exports
