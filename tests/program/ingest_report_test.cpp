// What an ingest says of itself: progress, the summary as JSON, and what a dry run would do.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

using nlohmann::json;

std::string pmid(unsigned number, unsigned version) {
  return "<PMID Version=\"" + std::to_string(version) + "\">" + std::to_string(number) + "</PMID>";
}

std::string citation(unsigned number, const std::string& ui = "D000001", unsigned version = 1) {
  std::string text = "<PubmedArticle><MedlineCitation>" + pmid(number, version);
  if (!ui.empty()) {
    text += "<MeshHeadingList><MeshHeading><DescriptorName UI=\"" + ui +
            "\">x</DescriptorName></MeshHeading></MeshHeadingList>";
  }
  return text + "</MedlineCitation></PubmedArticle>\n";
}

std::string deletion(unsigned number) {
  return "<DeleteCitation>" + pmid(number, 1) + "</DeleteCitation>\n";
}

class IngestReport : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& records) const {
    write_file(scratch / name, "<PubmedArticleSet>\n" + records + "</PubmedArticleSet>\n");
    return scratch / name;
  }
  [[nodiscard]] json ingest(const std::vector<std::string>& arguments, int exit_code = 0) const {
    std::vector<std::string> all{"ingest", "--json", "--store", scratch / "store"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ending ending = run_somatlas(all);
    EXPECT_EQ(ending.exit_code, exit_code) << ending.err;
    return json::parse(ending.out);
  }
  const ScratchDirectory scratch;
};

TEST_F(IngestReport, RevisedAndDeletedAreArticlesOfThisRunsFiles) {
  // In the first run 3 has a second version in the same file, and 4 another record in the next.
  json said = ingest({file("x2.xml", citation(1) + citation(2) + citation(3) +
                                         citation(3, "D000002", 2) + citation(4) + citation(5)),
                      file("x3.xml", citation(4, ""))});
  EXPECT_EQ(said.at("citations"), 7);
  EXPECT_EQ(said.at("with_descriptors"), 6);
  EXPECT_EQ(said.at("revised"), 2);
  EXPECT_EQ(said.at("deleted"), 0);
  // 1 is revised; 6 is new; 2 goes; 9 never was there; 5's older version changes nothing.
  said = ingest({file("x4.xml", citation(1, "D000003") + citation(6) + deletion(2) + deletion(9))});
  EXPECT_EQ(said.at("revised"), 1);
  EXPECT_EQ(said.at("deletions"), 2);
  EXPECT_EQ(said.at("deleted"), 1);
  // A file that comes late and is older revises nothing that a later one has.
  said = ingest({file("x1.xml", citation(1) + citation(5, "D000004") + citation(7))});
  EXPECT_EQ(said.at("revised"), 0);
  // 2 comes back.
  said = ingest({file("x5.xml", citation(2))});
  EXPECT_EQ(said.at("revised"), 1);
  said = ingest({scratch / "x5.xml"});
  EXPECT_EQ(said.at("files_skipped"), 1);
  EXPECT_EQ(said.at("revised"), 0);
}

TEST_F(IngestReport, RefusedFilesAreNamedWithTheirReason) {
  write_file(scratch / "x1.xml", "no XML");
  const json said = ingest({scratch / "x1.xml", file("x2.xml", citation(1))}, 1);
  EXPECT_EQ(said.at("files_taken"), 1);
  ASSERT_EQ(said.at("refused").size(), 1U);
  EXPECT_EQ(said.at("refused")[0].at("path"), scratch / "x1.xml");
  EXPECT_NE(said.at("refused")[0].at("reason").get<std::string>().find("x1.xml"),
            std::string::npos);
}

TEST_F(IngestReport, ADryRunSaysOfEachFileWhatItWouldDo) {
  file("x1.xml", citation(1));
  file("x2.xml", citation(2));
  (void)ingest({scratch.path()});
  file("x2.xml", citation(2) + citation(3));
  file("x3.xml", citation(4));
  const std::string before = run_somatlas({"dump", "--all", "--store", scratch / "store"}).out;
  const Ending ending =
      run_somatlas({"ingest", "--dry-run", "--store", scratch / "store", scratch.path()});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.out, "skip\t" + scratch / "x1.xml" + "\ntake again\t" + scratch / "x2.xml" +
                            "\ntake\t" + scratch / "x3.xml" + "\n");
  EXPECT_TRUE(
      ending.err.starts_with("Would take 2 files (1 again with a changed text), skip 1 that "
                             "the store has already, refuse 0.\n"))
      << ending.err;
  const json said = ingest({"--dry-run", scratch.path()});
  EXPECT_EQ(said.at("files_taken"), 2);
  EXPECT_EQ(said.at("files_changed"), 1);
  EXPECT_EQ(said.at("files_skipped"), 1);
  const json plan{{{"path", scratch / "x1.xml"}, {"plan", "skip"}},
                  {{"path", scratch / "x2.xml"}, {"plan", "take again"}},
                  {{"path", scratch / "x3.xml"}, {"plan", "take"}}};
  EXPECT_EQ(said.at("plan"), plan);
  EXPECT_EQ(said.at("dry_run"), true);
  for (const char* unread : {"citations", "revised", "deletions", "deleted", "left_out"}) {
    EXPECT_TRUE(said.at(unread).is_null()) << unread;
  }
  EXPECT_EQ(run_somatlas({"dump", "--all", "--store", scratch / "store"}).out, before);
}

TEST_F(IngestReport, ADryRunRefusesAChangedFileThatItsCompanionDoesNotFit) {
  const std::string path = file("x1.xml", citation(1));
  EXPECT_EQ(ingest({path}).at("dry_run"), false);
  write_file(path + ".md5", std::string(32, '0') + "\n");
  const json said = ingest({"--dry-run", path}, 1);
  EXPECT_EQ(said.at("files_taken"), 0);
  EXPECT_EQ(said.at("plan"), json::array());
  EXPECT_EQ(said.at("refused"), ingest({path}, 1).at("refused"));
}

TEST_F(IngestReport, ATableThatComesTooLateIsSaidToBe) {
  const std::string record =
      "<PubmedArticle><MedlineCitation>" + pmid(1, 1) +
      "<MeshHeadingList><MeshHeading><DescriptorName>Abdomen</DescriptorName></MeshHeading>"
      "</MeshHeadingList></MedlineCitation></PubmedArticle>\n";
  write_file(scratch / "table.tsv", "ui\tname\ttree_numbers\nD000005\tAbdomen\t\n");
  const std::string hint = "Files taken earlier had 1 heading by names unknown then";
  const auto said = [&](const std::string& store, const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"ingest", "--store", scratch / store};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_somatlas(all).err;
  };
  const std::string path = file("x1.xml", record);
  EXPECT_EQ(said("late", {path}).find(hint), std::string::npos);
  EXPECT_NE(said("late", {"--mesh", scratch / "table.tsv", path}).find(hint), std::string::npos);
  EXPECT_EQ(said("late", {"--mesh", scratch / "table.tsv"}).find(hint), std::string::npos);
  EXPECT_EQ(said("in time", {"--mesh", scratch / "table.tsv", path}).find(hint), std::string::npos);
}

TEST_F(IngestReport, ProgressHasFilesCitationsSpeedAndTimeLeft) {
  file("x1.xml", citation(1) + citation(2));
  (void)ingest({scratch / "x1.xml"});
  file("x2.xml", citation(3) + citation(4) + citation(5));
  file("x3.xml", citation(6));
  const Ending ending =
      run_somatlas({"ingest", "--progress", "--store", scratch / "store", scratch.path()});
  EXPECT_EQ(ending.exit_code, 0);
  const std::regex line(
      "([0-9]+) of 3 files, ([0-9]+) citations?"
      "(, [0-9]+ MB/s of XML, ([0-9]+ h )?([0-9]+ min ?)?([0-9]+ s)? left)?");
  std::istringstream lines(ending.err);
  std::vector<std::string> shown;
  for (std::string text; std::getline(lines, text);) {
    if (text.find(" of 3 files") != std::string::npos) {
      EXPECT_TRUE(std::regex_match(text, line)) << text;
      shown.push_back(text);
    }
  }
  ASSERT_FALSE(shown.empty()) << ending.err;
  EXPECT_TRUE(shown.back().starts_with("3 of 3 files, 4 citations, ")) << shown.back();
  EXPECT_TRUE(shown.back().ends_with(" MB/s of XML, 0 s left")) << shown.back();
}

}  // namespace
}  // namespace somatlas::program_test
