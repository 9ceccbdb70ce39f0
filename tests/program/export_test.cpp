// somatlas export as a user runs it: which options go together, and outputs that exist or do not
// fit.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/formats/small_atlas.h"
#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

class ExportProgram : public ::testing::Test {
 protected:
  void SetUp() override { exports::SmallAtlas().make_atlas(scratch_ / "atlas", "id", "state"); }

  [[nodiscard]] Ending export_as(const std::vector<std::string>& more,
                                 const std::string& name = "out") const {
    std::vector<std::string> arguments{"export", "--atlas", scratch_ / "atlas", "--format"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back(scratch_ / name);
    return run_somatlas(arguments);
  }
  [[nodiscard]] std::string out() const { return scratch_ / "out"; }
  [[nodiscard]] std::size_t entries() const {
    const std::filesystem::directory_iterator all(scratch_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  const ScratchDirectory scratch_;
};

TEST_F(ExportProgram, RefusesWordsThatNoFigureHasRoomFor) {
  for (const std::string option : {"--title", "--caption"}) {
    for (const std::string letter : {"x", "\xc3\xb6", "\xe2\x82\xac"}) {
      std::string words;
      for (int i = 0; i < 4000; ++i) {
        words += letter;
      }
      EXPECT_EQ(export_as({"svg", option, words}).exit_code, 0);
      const Ending ending = export_as({"svg", "--overwrite", option, words + letter});
      EXPECT_EQ(ending.exit_code, 2);
      EXPECT_NE(ending.err.find(option + ": is longer than 4000 characters"), std::string::npos)
          << ending.err;
      std::filesystem::remove(out());
    }
  }
}

TEST_F(ExportProgram, WritesEachFormat) {
  Ending ending = export_as({"npy"});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_EQ(ending.out, "");
  EXPECT_EQ(ending.err, out() +
                            ": planes of 4 descriptors, the assignment of 4 training articles, "
                            "the places of 4 articles; without a place: 1\n");
  EXPECT_TRUE(std::filesystem::exists(out() + "/planes.npy"));
  ending = export_as({"csv"}, "cells.csv");
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.err, scratch_ / "cells.csv" + ": 9 cells\n");
  ending = export_as({"regions"}, "regions.csv");
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_EQ(ending.err, scratch_ / "regions.csv" + ": 4 regions, areas and continents\n");
  for (const std::string layer : {"regions", "growth"}) {
    ending = export_as({"png", "--layer", layer}, layer + ".png");
    EXPECT_EQ(ending.exit_code, 0) << ending.err;
    EXPECT_EQ(ending.err, scratch_ / (layer + ".png") + ": a picture of the layer " + layer + "\n");
  }
  for (const std::string layer : {"hits", "umatrix", "years"}) {
    EXPECT_EQ(export_as({"png", "--layer", layer}, layer + ".png").exit_code, 0);
  }
  ending = export_as({"png", "--descriptor", "neoplasms", "--labels", "3"}, "plane.png");
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.err, scratch_ / "plane.png" + ": a picture of the plane of Neoplasms\n");
  EXPECT_EQ(read_file(scratch_ / "plane.png").substr(0, 4), "\x89PNG");
  EXPECT_NE(read_file(scratch_ / "hits.png"), read_file(scratch_ / "plane.png"));
}

TEST_F(ExportProgram, DrawsAListOfArticlesOverTheMap) {
  // The atlas has places of 10, 11, 70000 and 70001.
  const std::string list = scratch_ / "a <list> & more.txt";
  write_file(list, "70001\n10\n999\n10\n");
  Ending ending = export_as({"svg", "--layer", "umatrix", "--articles", list, "--title", "1 < 2",
                             "--caption", "\"MEDLINE\" & me"},
                            "list.svg");
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.out, "");
  EXPECT_EQ(ending.err,
            "999: the atlas has no place of it (with --store its descriptors are searched)\n"
            "articles: 4 (3 placed, 1 without a place)\n" +
                scratch_ / "list.svg" + ": a picture of the layer umatrix\n");
  const std::string svg = read_file(scratch_ / "list.svg");
  for (const std::string part :
       {"<title>1 &lt; 2</title>", ">&quot;MEDLINE&quot; &amp; me</text>",
        ">articles of a &lt;list&gt; &amp; more.txt in a cell; 3 in all, of 4 in the list</text>",
        "<circle "}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
  // Lines of descriptors are read as `map` reads them, from standard input's file too.
  write_file(list, "Neoplasms; humans\n");
  ending = export_as({"png", "--articles", list, "--scale", "2"}, "list.png");
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_EQ(read_file(scratch_ / "list.png").substr(0, 4), "\x89PNG");

  write_file(list, "999\n");
  ending = export_as({"png", "--articles", list}, "none.png");
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE(ending.err.find(list + ": no article of it has a place on the map; give articles that "
                                   "the atlas knows\n"),
            std::string::npos)
      << ending.err;
  write_file(list, "");
  EXPECT_EQ(export_as({"png", "--articles", list}, "none.png").exit_code, 1);
  ending = export_as({"png", "--articles", scratch_ / "no such"}, "none.png");
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE(ending.err.find("no such"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "none.png"));
}

TEST_F(ExportProgram, WritesAPageInAFolder) {
  const Ending ending = export_as({"html", "--planes", "2"});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_EQ(ending.out, "");
  EXPECT_TRUE(ending.err.starts_with(out() + ": a page with the planes of 2 descriptors, "))
      << ending.err;
  EXPECT_TRUE(ending.err.ends_with(" MiB; open " + out() + "/index.html\n")) << ending.err;
  const auto data = [this](const std::string& name) {
    const std::string text = read_file(out() + "/data/" + name + ".js");
    const std::string before = "api.take(\"" + name + "\", ";
    EXPECT_TRUE(text.starts_with(before) && text.ends_with(");\n")) << text;
    return nlohmann::json::parse(text.substr(before.size(), text.size() - before.size() - 3));
  };
  const auto atlas = data("atlas");
  EXPECT_EQ(atlas["side"], 3);
  // Those of most articles: Animals with 3; Humans and Neoplasms have 2, and the first counts.
  EXPECT_EQ(atlas["planes"].size(), 2U);
  EXPECT_EQ(atlas["planes"]["D000818"]["title"], "Animals");
  EXPECT_EQ(atlas["planes"]["D006801"]["title"], "Humans");
  EXPECT_EQ(read_file(out() + "/tile/D006801/0/0/0.png").substr(0, 4), "\x89PNG");
  EXPECT_FALSE(std::filesystem::exists(out() + "/tile/D009369"));
  EXPECT_EQ(data("cells/0").size(), 9U);
  const exports::SmallAtlas small;
  EXPECT_EQ(data("places/0")[0], (std::vector<std::uint32_t>{10, 1, 69'989, 1}));
  EXPECT_EQ(data("places/0").size(), 3U);
  EXPECT_EQ(data("places/0")[1][0], small.place(small.articles().at(10))->neuron);
  EXPECT_EQ(atlas["place_files"], std::vector<std::uint32_t>{10});
  EXPECT_NE(read_file(out() + "/index.html").find("Content-Security-Policy"), std::string::npos);

  EXPECT_EQ(export_as({"html"}).exit_code, 1);
  EXPECT_EQ(export_as({"html", "--overwrite", "--descriptors", "neoplasms"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(out() + "/tile/D009369"));
  EXPECT_FALSE(std::filesystem::exists(out() + "/tile/D006801"));
  EXPECT_EQ(entries(), 2U);
}

TEST_F(ExportProgram, WritesOtherProgramsFormats) {
  for (const std::vector<std::string>& more : {std::vector<std::string>{"umx"},
                                               {"wts", "--descriptors", "Humans;Neoplasms"},
                                               {"cod"},
                                               {"somw"},
                                               {"bm", "--bm-order", "somoclu"},
                                               {"vosviewer"},
                                               {"graphml"},
                                               {"sqlite"}}) {
    const Ending ending = export_as(more, more[0]);
    EXPECT_EQ(ending.exit_code, 0) << ending.err;
    EXPECT_TRUE(std::filesystem::exists(scratch_ / more[0]));
  }
  exports::SmallAtlas().make_store(scratch_ / "store");
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"mtx"}, {"sbcsr"}, {"libsvm", "--dialect", "sparse-som"}}) {
    std::vector<std::string> arguments{"export", "--store", scratch_ / "store", "--format"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back(scratch_ / more[0]);
    const Ending ending = run_somatlas(arguments);
    EXPECT_EQ(ending.exit_code, 0) << ending.err;
    EXPECT_EQ(ending.err, scratch_ / more[0] + ": 5 rows of 5 columns with 9 ones\n");
  }
}

TEST_F(ExportProgram, RefusesOptionsThatDoNotGoTogether) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"csv", "--layer", "hits"},
        {"npy", "--descriptor", "Neoplasms"},
        {"csv", "--labels", "3"},
        {"csv", "--articles", "list"},
        {"regions", "--title", "mine"},
        {"svg", "--scale", "2"},
        {"png", "--scale", "0"},
        {"png", "--scale", "9"},
        {"csv", "--descriptors", "Neoplasms"},
        {"wts", "--bm-order", "esom"},
        {"umx", "--dialect", "libsvm"},
        {"csv", "--planes", "2"},
        {"html", "--planes", "2", "--descriptors", "Humans"},
        {"mtx"},
        {"csv", "--store", "store"},
        {"png", "--layer", "plane"},
        {"png", "--layer", "hits", "--descriptor", "Neoplasms"},
        {"png", "--layer", "hills"},
        {"tiff"}}) {
    const Ending ending = export_as(wrong);
    EXPECT_EQ(ending.exit_code, 2) << ending.err;
    EXPECT_FALSE(ending.err.empty());
  }
  EXPECT_EQ(entries(), 1U);
}

TEST_F(ExportProgram, RefusesStandardOutputAndNoName) {
  for (const std::string format : {"csv", "npy"}) {
    const auto refused = [&](const std::string& name, const std::string& sentence) {
      const Ending ending =
          run_somatlas({"export", "--atlas", scratch_ / "atlas", "--format", format, name});
      EXPECT_EQ(ending.exit_code, 2);
      EXPECT_TRUE(ending.err.starts_with("somatlas: " + sentence + "\n")) << ending.err;
    };
    refused("", "OUT is empty: name the file or directory to write");
    refused("-",
            "an export is not written to standard output: name the file or directory to write");
  }
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST_F(ExportProgram, RefusesAnExistingOutputUntilToldTo) {
  write_file(out(), "mine");
  const Ending ending = export_as({"csv"});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_EQ(ending.err,
            "somatlas: " + out() + ": exists already; choose another name or give --overwrite\n");
  EXPECT_EQ(read_file(out()), "mine");
  EXPECT_EQ(export_as({"csv", "--overwrite"}).exit_code, 0);
  EXPECT_EQ(read_file(out()).substr(0, 4), "row,");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(ExportProgram, NamesAnUnknownDescriptor) {
  const Ending ending = export_as({"png", "--descriptor", "Tumours"});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_EQ(ending.err,
            "somatlas: " + scratch_ / "atlas" +
                ": has no descriptor \"Tumours\" (give the UI or the name of a MeSH heading)\n");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(ExportProgram, SaysWhereThereIsNoAtlas) {
  const Ending ending =
      run_somatlas({"export", "--atlas", scratch_ / "none", "--format", "csv", out()});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE(ending.err.find("none"), std::string::npos);
  EXPECT_EQ(entries(), 1U);
}

}  // namespace
}  // namespace somatlas::program_test
