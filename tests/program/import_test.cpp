// somatlas import as a user runs it: other data than MEDLINE through the whole program.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

TEST(ImportProgram, RowsOfOtherDataTrainAndMap) {
  const ScratchDirectory scratch;
  write_file(scratch / "rows", "1 1:1 2:1\n1 1:1 3:1\n2 4:1 5:1\n2 4:1 6:1\n2\n");
  write_file(scratch / "names", "ale\nstout\nporter\nriesling\nmerlot\nrose\n");
  Ending ending = run_somatlas({"import", "--store", scratch / "s", "--format", "libsvm",
                                "--features", scratch / "names", scratch / "rows"});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.err, scratch / "s" + ": 5 rows of 6 features with 8 ones; without any: 1\n");
  ending = run_somatlas({"verify", "--store", scratch / "s"});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  ending = run_somatlas({"train", "--store", scratch / "s", "--atlas", scratch / "a", "--side", "4",
                         "--min-descriptors", "1", "--holdout", "0", "--device", "cpu"});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  write_file(scratch / "list", "Stout;ale\n");
  ending = run_somatlas({"map", "--atlas", scratch / "a", scratch / "list"});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_NE(ending.out.find("line 1\t"), std::string::npos) << ending.out;
}

TEST(ImportProgram, SaysWhatIsWrong) {
  const ScratchDirectory scratch;
  write_file(scratch / "rows", "1 1:1\n1 2:0.5\n");
  Ending ending =
      run_somatlas({"import", "--store", scratch / "s", "--format", "libsvm", scratch / "rows"});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_EQ(ending.err,
            "somatlas: " + scratch / "rows" +
                ":2: the value \"0.5\" is not 1; rows are binary, leave out what is 0\n");
  ending = run_somatlas({"import", "--store", scratch / "s", "--format", "mtx", "--dialect",
                         "somoclu", scratch / "rows"});
  EXPECT_EQ(ending.exit_code, 2);
}

TEST(ImportProgram, ASecondFileIsRefusedByNameAndTheSameOneChangesNothing) {
  const ScratchDirectory scratch;
  write_file(scratch / "rows", "1 1:1 2:1\n1 3:1\n");
  write_file(scratch / "more", "1 1:1 2:1\n1 3:1\n1 2:1\n");
  const auto import = [&](const std::string& file) {
    return run_somatlas({"import", "--store", scratch / "s", "--format", "libsvm", scratch / file});
  };
  EXPECT_EQ(import("rows").exit_code, 0);
  const std::string before = run_somatlas({"dump", "--store", scratch / "s"}).out;
  const Ending second = import("more");
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_EQ(second.err, "somatlas: " + scratch / "s" +
                            ": the store holds rows-part1 already, and numbers and columns of two "
                            "files would be mixed: give a new store, or join the files into one\n");
  EXPECT_EQ(import("rows").exit_code, 0);
  EXPECT_EQ(run_somatlas({"dump", "--store", scratch / "s"}).out, before);
}

class MapImport : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string rows;
    for (int i = 0; i < 60; ++i) {
      rows += "0 " + std::to_string(1 + i % 3) + ":1 " + std::to_string(4 + i % 4) + ":1\n";
    }
    write_file(scratch_ / "rows", rows);
    write_file(scratch_ / "names", "ale\nstout\nporter\nriesling\nmerlot\nrose\ngrappa\n");
    done({"import", "--store", scratch_ / "s", "--format", "libsvm", "--features",
          scratch_ / "names", scratch_ / "rows"});
    done({"train", "--store", scratch_ / "s", "--atlas", scratch_ / "a", "--side", "4",
          "--min-descriptors", "1", "--device", "cpu"});
  }
  void done(const std::vector<std::string>& arguments) const {
    const Ending ending = run_somatlas(arguments);
    EXPECT_EQ(ending.exit_code, 0) << ending.err;
  }
  [[nodiscard]] Ending import(const std::string& format, const std::string& file,
                              std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{
        "import",   "--store",     scratch_ / "s",      "--atlas", scratch_ / ("of-" + format),
        "--format", format,        "--min-descriptors", "1",       "--device",
        "cpu",      "--overwrite", scratch_ / file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_somatlas(arguments);
  }
  [[nodiscard]] std::string planes(const std::string& atlas) const {
    done({"export", "--atlas", scratch_ / atlas, "--format", "npy", "--overwrite",
          scratch_ / "planes"});
    return read_file(scratch_ / "planes/planes.npy") + read_file(scratch_ / "planes/places.tsv");
  }
  const ScratchDirectory scratch_;
};

TEST_F(MapImport, CodebooksComeBackAndMapAndGoOn) {
  const std::string before = planes("a");
  for (const std::string format : {"wts", "cod", "somw", "umx"}) {
    done({"export", "--atlas", scratch_ / "a", "--format", format, scratch_ / format});
  }
  const std::vector<std::string> named{"--features", scratch_ / "planes/descriptors.tsv"};
  const std::vector<std::tuple<std::string, std::string, std::vector<std::string>>> all{
      {"wts", "wts", {"--heights", scratch_ / "umx"}},
      {"cod", "cod", {}},
      {"somw", "somw/codebook.somw", named},
      {"npy", "planes/planes.npy", named}};
  for (const auto& [format, file, more] : all) {
    const Ending ending = import(format, file, more);
    EXPECT_EQ(ending.exit_code, 0) << ending.err;
    EXPECT_TRUE(ending.err.starts_with(scratch_ / ("of-" + format) +
                                       ": a map of side 4 with 7 descriptors; 60 articles placed"))
        << ending.err;
    EXPECT_EQ(planes("of-" + format), before) << format;
  }
  write_file(scratch_ / "list", "Stout;merlot\n");
  const std::vector<std::string> place{"map", "--atlas", scratch_ / "a", scratch_ / "list"};
  EXPECT_EQ(run_somatlas({"map", "--atlas", scratch_ / "of-wts", scratch_ / "list"}).out,
            run_somatlas(place).out);
  done({"train", "--store", scratch_ / "s", "--from", scratch_ / "of-cod", "--atlas",
        scratch_ / "next", "--device", "cpu"});
  EXPECT_NE(run_somatlas({"info", "--atlas", scratch_ / "of-cod"}).out.find("imported"),
            std::string::npos);
}

TEST_F(MapImport, BestMatchesInEitherOrderGiveOneMap) {
  std::string esom;
  for (const std::string order : {"esom", "somoclu"}) {
    done({"export", "--atlas", scratch_ / "a", "--format", "bm", "--bm-order", order, "--overwrite",
          scratch_ / "bm"});
    const Ending ending = import("bm", "bm", {"--bm-order", order});
    EXPECT_EQ(ending.exit_code, 0);
    EXPECT_TRUE(ending.err.starts_with(scratch_ / "bm" + ": read as key, " +
                                       (order == "esom" ? "row, column (--bm-order esom)\n"
                                                        : "column, row (--bm-order somoclu)\n")))
        << ending.err;
    const std::string other = order == "esom" ? "somoclu" : "esom";
    const std::string said = import("bm", "bm", {"--bm-order", other, "--overwrite"}).err;
    EXPECT_NE(said.find(std::string("; its first line looks like ") +
                        (order == "esom" ? "ESOM Tools'" : "somoclu's") +
                        ", so if that wrote it, import again with --bm-order " + order +
                        ": rows and columns are exchanged otherwise\n"),
              std::string::npos)
        << said;
    EXPECT_EQ(import("bm", "bm", {"--bm-order", order, "--overwrite"}).exit_code, 0);
    if (esom.empty()) {
      esom = planes("of-bm");
    }
    EXPECT_EQ(planes("of-bm"), esom);
  }
  // somoclu numbers rows from 0.
  std::string lines = "%4 4\n%60\n";
  std::string of_pmids = lines;
  for (int i = 0; i < 60; ++i) {
    const std::string place = " " + std::to_string(i % 4) + " " + std::to_string(i % 3) + "\n";
    lines += std::to_string(i) + place;
    of_pmids += std::to_string(i + 1) + place;
  }
  write_file(scratch_ / "bm", of_pmids);
  EXPECT_EQ(import("bm", "bm", {"--bm-order", "somoclu"}).exit_code, 0);
  const std::string expected = planes("of-bm");
  write_file(scratch_ / "bm", lines);
  EXPECT_EQ(import("bm", "bm", {"--bm-order", "somoclu", "--first-number", "1"}).exit_code, 0);
  EXPECT_EQ(planes("of-bm"), expected);
  done({"export", "--store", scratch_ / "s", "--format", "mtx", scratch_ / "mtx"});
  EXPECT_EQ(
      import("bm", "bm", {"--bm-order", "somoclu", "--articles", scratch_ / "mtx/articles.tsv"})
          .exit_code,
      0);
  EXPECT_EQ(planes("of-bm"), expected);
  write_file(scratch_ / "bm", "%4 4\n%1\n60 0 0\n");
  EXPECT_NE(
      import("bm", "bm", {"--bm-order", "somoclu", "--articles", scratch_ / "mtx/articles.tsv"})
          .err.find("the key 60 is past the 60 rows of"),
      std::string::npos);
}

TEST_F(MapImport, ComparesWithWhatItCameFromAndRefusesOtherColumns) {
  done({"export", "--atlas", scratch_ / "a", "--format", "cod", scratch_ / "cod"});
  EXPECT_EQ(import("cod", "cod").exit_code, 0);
  std::filesystem::rename(scratch_ / "of-cod", scratch_ / "first");
  EXPECT_EQ(import("cod", "cod").exit_code, 0);
  // A trained one and an imported one of one store, and two imported ones.
  for (const std::string earlier : {"a", "first"}) {
    const Ending ending = run_somatlas({"diff", scratch_ / earlier, scratch_ / "of-cod", "--json"});
    EXPECT_EQ(ending.exit_code, 0) << ending.err;
    const auto json = nlohmann::json::parse(ending.out);
    EXPECT_EQ(json.at("matched_by"), "articles");
    EXPECT_EQ(json.at("cells_compare"), false);
    for (const auto& region : json.at("after").at("regions")) {
      EXPECT_EQ(region.at("fate"), "goes on");
    }
  }
  // Columns of another store have the same numbers.
  const auto other = [&](const std::string& names) {
    write_file(scratch_ / "other-names", names);
    for (const std::string made : {"t", "b"}) {
      std::filesystem::remove_all(scratch_ / made);
    }
    done({"import", "--store", scratch_ / "t", "--format", "libsvm", "--features",
          scratch_ / "other-names", scratch_ / "rows"});
    done({"train", "--store", scratch_ / "t", "--atlas", scratch_ / "b", "--side", "4",
          "--min-descriptors", "1", "--device", "cpu"});
    return run_somatlas({"diff", scratch_ / "a", scratch_ / "b"});
  };
  const Ending refused = other("oak\nash\nelm\nfir\nmerlot\nyew\nbirch\n");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(refused.err,
            "somatlas: " + scratch_ / "b" + ": most of the columns that it shares with " +
                scratch_ / "a" +
                " by number are others, as D900000000 is \"ale\" there and \"oak\" here; import "
                "the rows of both with their columns in one order\n");
  // A column or two may have a new name.
  EXPECT_EQ(other("ale\nstout\nporter\nriesling\nmerlot\nrose\nmarc\n").exit_code, 0);
  // UIs of its own: nothing is shared but numbers of articles.
  const Ending apart = other(
      "ui\tname\nD000001\tale\nD000002\tstout\nD000003\tporter\n"
      "D000004\trye\nD000005\tmerlot\nD000006\trose\nD000007\tmarc\n");
  EXPECT_EQ(apart.exit_code, 1);
  EXPECT_EQ(apart.err, "somatlas: " + scratch_ / "b" +
                           ": has neither articles nor descriptors in common with " +
                           scratch_ / "a" + " by which to match regions\n");
}

TEST_F(MapImport, IsDrawnAndShownInEveryWay) {
  done({"export", "--atlas", scratch_ / "a", "--format", "cod", scratch_ / "cod"});
  EXPECT_EQ(import("cod", "cod").exit_code, 0);
  write_file(scratch_ / "list", "Stout;merlot\n3\n");
  const auto drawn = [&](const std::string& atlas, const std::string& format,
                         const std::string& layer, bool with_list) {
    std::vector<std::string> arguments{
        "export", "--atlas",     scratch_ / atlas, "--format", format,         "--layer",
        layer,    "--overwrite", "--title",        "T",        "--descriptor", "stout"};
    if (layer != "plane") {
      arguments.resize(10);
    }
    if (with_list) {
      arguments.insert(arguments.end(), {"--articles", scratch_ / "list"});
    }
    arguments.push_back(scratch_ / "figure");
    done(arguments);
    return read_file(scratch_ / "figure");
  };
  for (const std::string format : {"svg", "png"}) {
    for (const std::string layer : {"hits", "umatrix", "regions", "plane"}) {
      for (const bool with_list : {false, true}) {
        const std::string imported = drawn("of-cod", format, layer, with_list);
        EXPECT_GT(imported.size(), 500U);
        if (format == "svg") {  // but for the caption, which says where it comes from
          const std::string trained = drawn("a", format, layer, with_list);
          EXPECT_EQ(imported.substr(0, imported.find("corpus:")),
                    trained.substr(0, trained.find("corpus:")))
              << layer;
        }
      }
    }
  }
  EXPECT_NE(drawn("of-cod", "svg", "hits", false)
                .find("map: 4 x 4 cells of another program with 7 descriptors; imported"),
            std::string::npos);
  for (const std::string layer : {"years", "growth"}) {
    const Ending ending = run_somatlas({"export", "--atlas", scratch_ / "of-cod", "--format", "svg",
                                        "--layer", layer, scratch_ / layer});
    EXPECT_EQ(ending.exit_code, 1);
    EXPECT_EQ(ending.err, "somatlas: " + scratch_ / "of-cod" +
                              ": no article in it has a year, so there is no layer " + layer +
                              "\n");
    EXPECT_FALSE(std::filesystem::exists(scratch_ / layer));
  }
  for (const std::string atlas : {"a", "of-cod"}) {
    done({"export", "--atlas", scratch_ / atlas, "--format", "html", "--store", scratch_ / "s",
          scratch_ / ("page-" + atlas)});
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch_ / "page-a")) {
    const std::string file = std::filesystem::relative(entry.path(), scratch_ / "page-a");
    EXPECT_TRUE(std::filesystem::exists(scratch_ / ("page-of-cod/" + file))) << file;
    if (entry.path().extension() == ".png") {
      EXPECT_EQ(read_file(entry.path()), read_file(scratch_ / ("page-of-cod/" + file))) << file;
    }
  }
}

TEST_F(MapImport, SaysWhatIsWrong) {
  const auto says = [&](const std::string& format, const std::string& text,
                        const std::vector<std::string>& more, const std::string& sentence) {
    write_file(scratch_ / "file", text);
    const Ending ending = import(format, "file", more);
    EXPECT_EQ(ending.exit_code, 1);
    EXPECT_EQ(ending.err, "somatlas: " + scratch_ / "file" + sentence + "\n");
    EXPECT_FALSE(std::filesystem::exists(scratch_ / ("of-" + format)));
  };
  says("cod", "1 rect 1 1 bubble\n1\n", {},
       ": does not say what its 1 planes are: give --features with a name a line, or the "
       "descriptors.tsv of its export");
  says("cod", "2 rect 1 1 bubble\n#n ale\n1 1\n", {}, ": has 2 planes, but names 1");
  says("cod", "2 rect 1 1 bubble\n#n ale Ale\n1 1\n", {}, ": planes 1 and 2 are both of \"Ale\"");
  says("cod", "1 rect 1 1 bubble\n#n sout\n1\n", {},
       ": plane 1 is of \"sout\", which is no UI or name of a descriptor of " + scratch_ / "s" +
           "; did you mean \"stout\"?");
  says("cod", "1 rect 1 1 bubble\n#n ale\n0\n", {},
       ": all its weights are 0, so that nothing has a place");
  says("cod", "1 rect 1 1 bubble\n#n ale\n2\n", {},
       ":3: weight 1 of the neuron is \"2\"; weights lie from 0 to 1");
  const std::vector<std::pair<std::string, std::vector<std::string>>> wrong{
      {"bm", {}},
      {"wts", {"--bm-order", "esom"}},
      {"wts", {"--dialect", "somoclu"}},
      {"wts", {"--first-number", "2"}},
      {"bm", {"--bm-order", "esom", "--features", scratch_ / "names"}},
      {"mtx", {}}};  // --atlas is of maps
  for (const auto& [format, more] : wrong) {
    EXPECT_EQ(import(format, "rows", more).exit_code, 2) << format;
  }
  EXPECT_EQ(
      run_somatlas({"import", "--store", scratch_ / "s", "--format", "wts", scratch_ / "rows"})
          .exit_code,
      2);
}

}  // namespace
}  // namespace somatlas::program_test
