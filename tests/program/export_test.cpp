// somatlas export as a user runs it: which options go together, and outputs that exist or do not
// fit.
#include <gtest/gtest.h>

#include <filesystem>
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
  ending = export_as({"png", "--descriptor", "Neoplasms", "--labels", "3"}, "plane.png");
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.err, scratch_ / "plane.png" + ": a picture of the plane of Neoplasms\n");
  EXPECT_EQ(read_file(scratch_ / "plane.png").substr(0, 4), "\x89PNG");
  EXPECT_NE(read_file(scratch_ / "hits.png"), read_file(scratch_ / "plane.png"));
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
        {"csv", "--descriptors", "Neoplasms"},
        {"wts", "--bm-order", "esom"},
        {"umx", "--dialect", "libsvm"},
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
