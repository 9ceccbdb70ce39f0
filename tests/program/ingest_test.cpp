// Ingest as a user meets it: what is refused and how it is said, what a second run does, and what
// never changes.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/delta_builder.h"
#include "store/store.h"
#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

std::string citation(unsigned pmid, const std::string& descriptors) {
  std::string text = "<PubmedArticle><MedlineCitation><PMID Version=\"1\">" + std::to_string(pmid) +
                     "</PMID><MeshHeadingList>";
  for (std::size_t at = 0; at < descriptors.size(); at += 8) {
    text += "<MeshHeading><DescriptorName UI=\"" + descriptors.substr(at, 7) +
            "\" MajorTopicYN=\"N\">x</DescriptorName></MeshHeading>";
  }
  return text + "</MeshHeadingList></MedlineCitation></PubmedArticle>\n";
}

std::string document(const std::string& records) {
  return "<?xml version=\"1.0\"?>\n<PubmedArticleSet>\n" + records + "</PubmedArticleSet>\n";
}

Ending ingest(const std::string& store, std::vector<std::string> files) {
  files.insert(files.begin(), {"ingest", "--store", store});
  return run_somatlas(files);
}

std::string dump(const std::string& store) {
  return run_somatlas({"dump", "--all", "--store", store}).out;
}

std::string state_id(const std::string& store) {
  const Ending ending = run_somatlas({"info", "--json", "--store", store});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  return nlohmann::json::parse(ending.out).at("state_id");
}

// One sentence that names what it is about.
void expect_refusal(const Ending& ending, const std::string& name) {
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_EQ(ending.out, "");
  EXPECT_NE(ending.err.find("refused: " + name), std::string::npos) << ending.err;
  EXPECT_NE(ending.err.find("Refused: " + name + "."), std::string::npos) << ending.err;
}

TEST(Ingest, WhatIsNotThereIsNamedAndLeavesNoStore) {
  const ScratchDirectory scratch;
  expect_refusal(ingest(scratch / "store", {scratch / "none.xml"}), scratch / "none.xml");
  EXPECT_FALSE(std::filesystem::exists(scratch / "store"));
}

TEST(Ingest, APlaceWhereNoStoreCanBeIsNamedWithTheReason) {
  const ScratchDirectory scratch;
  write_file(scratch / "file", "");
  const std::string loop = scratch / "loop";
  std::filesystem::create_symlink("loop", loop);
  const std::string remedy = ": name a place where folders can be made\n";
  for (const auto& [store, sentence] : std::vector<std::pair<std::string, std::string>>{
           {"/proc/q",
            "cannot make the store '/proc/q': its folder cannot be created (No such file or "
            "directory)" +
                remedy},
           {scratch / "file/q", "cannot make the store '" + scratch / "file/q" + "': the folder '" +
                                    scratch / "file" + "' cannot be created (Not a directory)" +
                                    remedy},
           {loop, "the store '" + loop +
                      "' cannot be looked at (Too many levels of symbolic links): check its path, "
                      "and who may read the folders on it\n"}}) {
    const Ending ending = ingest(store, {data("cases/no_mesh.xml")});
    EXPECT_EQ(ending.exit_code, 1);
    EXPECT_EQ(ending.out, "");
    EXPECT_EQ(ending.err, "somatlas: " + sentence);
  }
  EXPECT_EQ(ingest(loop, {"--dry-run", data("cases/no_mesh.xml")}).exit_code, 1);
}

TEST(Ingest, AStoreWithoutATableSaysWhatItLacks) {
  const ScratchDirectory scratch;
  const Ending ending = ingest(scratch / "store", {data("cases/missing_ui.xml")});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_NE(ending.err.find("The store has no MeSH table"), std::string::npos) << ending.err;
}

TEST(Ingest, AnEmptyDirectoryIsNamed) {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "empty");
  expect_refusal(ingest(scratch / "store", {scratch / "empty"}), scratch / "empty");
}

TEST(Ingest, WhatIsNoXmlIsNamedAndTheOthersGoOn) {
  const ScratchDirectory scratch;
  write_file(scratch / "a.xml.gz", "this is no gzip and no XML\n");
  write_file(scratch / "b.xml", document(citation(7, "D000001")));
  write_file(scratch / "c.xml", "");
  write_file(scratch / "notes.txt", "not looked at in a directory");
  const Ending ending = ingest(scratch / "store", {scratch.path()});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE(ending.err.find("Refused: " + scratch / "a.xml.gz" + ", " + scratch / "c.xml" + "."),
            std::string::npos)
      << ending.err;
  EXPECT_EQ(ending.err.find("notes.txt"), std::string::npos) << ending.err;
  EXPECT_EQ(dump(scratch / "store"), "7\t1\t-\tD000001\n");
}

TEST(Ingest, ACutGzipGivesNothing) {
  const ScratchDirectory scratch;
  const std::string whole = read_file(data("cases/two_members.xml.gz"));
  write_file(scratch / "cut.xml.gz", whole.substr(0, whole.size() - 9));
  expect_refusal(ingest(scratch / "store", {scratch / "cut.xml.gz"}), scratch / "cut.xml.gz");
  EXPECT_EQ(dump(scratch / "store"), "");
}

TEST(Ingest, ALinkInAFolderIsWhatItPointsTo) {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "files");
  write_file(scratch / "elsewhere", document(citation(7, "D000001")));
  std::filesystem::create_symlink("../elsewhere", scratch / "files/x1.xml");
  std::filesystem::create_symlink("../gone", scratch / "files/x2.xml");
  std::filesystem::create_directory_symlink("..", scratch / "files/x3.xml");
  const Ending ending = ingest(scratch / "store", {scratch / "files"});
  expect_refusal(ending, scratch / "files/x2.xml");
  EXPECT_NE(ending.err.find("x2.xml: there is no such file or directory; check the name\n"),
            std::string::npos)
      << ending.err;
  EXPECT_EQ(dump(scratch / "store"), "7\t1\t-\tD000001\n");
}

// The name decides a file's place in the order, whether its bytes are its own or not.
TEST(Ingest, AFileUnderTwoNamesCountsUnderBoth) {
  const ScratchDirectory scratch;
  write_file(scratch / "x1.xml", document(citation(7, "D000001")));
  write_file(scratch / "x2.xml", document(citation(7, "D000002")));
  for (const std::string kind : {"copy", "hard link", "link"}) {
    const std::string third = scratch / "x3.xml";
    std::filesystem::remove(third);
    if (kind == "copy") {
      std::filesystem::copy_file(scratch / "x1.xml", third);
    } else if (kind == "hard link") {
      std::filesystem::create_hard_link(scratch / "x1.xml", third);
    } else {
      std::filesystem::create_symlink("x1.xml", third);
    }
    const std::string store = scratch / ("store of a " + kind);
    const Ending ending = ingest(store, {scratch / "x1.xml", scratch / "x2.xml", third});
    EXPECT_NE(ending.err.find("Took 3 files, skipped 0"), std::string::npos) << ending.err;
    EXPECT_EQ(dump(store), "7\t1\t-\tD000001\n") << kind;
  }
}

// A name that no terminal should obey, and that does not break a sentence in two.
TEST(Ingest, NamesAreShownWithoutControlCharacters) {
  const ScratchDirectory scratch;
  const std::string file = scratch / "a\n\x1b[31mb\x7f.xml";
  const auto expect_tame = [](const Ending& ending, int code) {
    EXPECT_EQ(ending.exit_code, code) << ending.err;
    EXPECT_EQ(ending.err.find_first_of("\x1b\x7f"), std::string::npos) << ending.err;
    EXPECT_EQ(ending.err.find("a\n"), std::string::npos) << ending.err;
  };
  expect_tame(ingest(scratch / "store", {file}), 1);  // there is none
  write_file(file, document(citation(0, "D000001") + citation(7, "D000001")));
  expect_tame(ingest(scratch / "store", {file}), 0);
  expect_tame(run_somatlas({"info", "--files", "--store", scratch / "store"}), 0);
  write_file(file, document(citation(0, "D000002")));
  expect_tame(ingest(scratch / "store", {file, "--progress"}), 0);
  write_file(file, "<PubmedArticleSet>");
  expect_tame(ingest(scratch / "store", {file}), 1);
  EXPECT_EQ(dump(scratch / "store"), "7\t1\t-\tD000001\n");
}

// All that one file says is held in memory until it is taken.
TEST(Ingest, AFileOfMoreRecordsThanAreTakenAtOnceIsRefused) {
  const ScratchDirectory scratch;
  std::string deletions = "<DeleteCitation>";
  for (std::size_t i = 0; i < pipeline::most_records; ++i) {
    deletions += "<PMID>9</PMID>";
  }
  const std::string end = "</DeleteCitation>";
  write_file(scratch / "x1.xml", document(citation(7, "D000001") + deletions + end));
  write_file(scratch / "x2.xml", document(deletions + end));
  write_file(scratch / "x3.xml", document(citation(8, "D000001")));
  const Ending ending = ingest(scratch / "store", {scratch.path()});
  expect_refusal(ending, scratch / "x1.xml");
  EXPECT_NE(ending.err.find("x1.xml: holds more than 1048576 records and deletions, or"),
            std::string::npos)
      << ending.err;
  EXPECT_EQ(dump(scratch / "store"), "8\t1\t-\tD000001\n9\t1\t-\tdeleted\n");
}

TEST(Ingest, AnExplicitFileMayHaveAnyName) {
  const ScratchDirectory scratch;
  write_file(scratch / "records.txt", document(citation(7, "D000001")));
  EXPECT_EQ(ingest(scratch / "store", {scratch / "records.txt"}).exit_code, 0);
  EXPECT_EQ(dump(scratch / "store"), "7\t1\t-\tD000001\n");
}

TEST(Ingest, TheSameFileTwiceIsTakenOnce) {
  const ScratchDirectory scratch;
  const std::string file = scratch / "x1.xml";
  write_file(file, document(citation(7, "D000001") + citation(8, "D000002 D000003")));
  Ending ending = ingest(scratch / "store", {file, file, scratch.path() / "." / "x1.xml"});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_NE(ending.err.find("Took 1 file, skipped 0"), std::string::npos) << ending.err;
  const std::string before = state_id(scratch / "store");
  const std::string text = dump(scratch / "store");
  ending = ingest(scratch / "store", {file});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_NE(ending.err.find("Took 0 files, skipped 1"), std::string::npos) << ending.err;
  EXPECT_EQ(state_id(scratch / "store"), before);
  EXPECT_EQ(dump(scratch / "store"), text);
  EXPECT_EQ(run_somatlas({"verify", "--store", scratch / "store"}).exit_code, 0);
}

TEST(Ingest, TheSameFilesGiveTheSameStateIdInAnyOrder) {
  const ScratchDirectory scratch;
  write_file(scratch / "x1.xml", document(citation(7, "D000001")));
  write_file(scratch / "x2.xml", document(citation(7, "D000002")));
  ASSERT_EQ(ingest(scratch / "a", {scratch / "x1.xml", scratch / "x2.xml"}).exit_code, 0);
  ASSERT_EQ(ingest(scratch / "b", {scratch / "x2.xml"}).exit_code, 0);
  EXPECT_NE(state_id(scratch / "b"), state_id(scratch / "a"));
  ASSERT_EQ(ingest(scratch / "b", {scratch / "x1.xml"}).exit_code, 0);
  EXPECT_EQ(state_id(scratch / "b"), state_id(scratch / "a"));
}

TEST(Ingest, AChangedFileIsTakenOverItsOldText) {
  const ScratchDirectory scratch;
  const std::string file = scratch / "x1.xml";
  write_file(file, document(citation(7, "D000001") + citation(8, "D000002")));
  ASSERT_EQ(ingest(scratch / "store", {file}).exit_code, 0);
  write_file(file, document(citation(8, "D000004") + citation(9, "D000005")));
  const Ending ending = ingest(scratch / "store", {file});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_NE(ending.err.find(file + ": its text has changed"), std::string::npos) << ending.err;
  EXPECT_NE(ending.err.find("and 1 PMID that only the old one had stays"), std::string::npos)
      << ending.err;
  EXPECT_NE(ending.err.find("4 records = 3 kept with descriptors + 0 kept without + 1 superseded"),
            std::string::npos)
      << ending.err;
  EXPECT_EQ(dump(scratch / "store"), "7\t1\t-\tD000001\n8\t1\t-\tD000004\n9\t1\t-\tD000005\n");
  EXPECT_EQ(run_somatlas({"verify", "--store", scratch / "store"}).exit_code, 0);
}

TEST(Ingest, TwoFilesOfOneNameAndOtherContentAreNotBothTaken) {
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "a");
  std::filesystem::create_directory(scratch / "b");
  write_file(scratch / "a/x1.xml", document(citation(7, "D000001")));
  write_file(scratch / "b/x1.xml", document(citation(8, "D000001")));
  expect_refusal(ingest(scratch / "store", {scratch / "a", scratch / "b"}), scratch / "b/x1.xml");
  EXPECT_EQ(dump(scratch / "store"), "7\t1\t-\tD000001\n");
}

TEST(Ingest, ARecordWithoutAPmidIsReportedCountedAndLeftOut) {
  const ScratchDirectory scratch;
  const std::string file = scratch / "x1.xml";
  std::string bad = citation(7, "D000001");
  bad.replace(bad.find(">7<"), 3, ">seven<");
  write_file(file, document(bad + citation(8, "D000002")));
  const Ending ending = ingest(scratch / "store", {file});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_NE(ending.err.find(file + ":3: "), std::string::npos) << ending.err;
  EXPECT_NE(ending.err.find("\"seven\""), std::string::npos) << ending.err;
  EXPECT_NE(ending.err.find("Left out 1 record with an unusable PMID or version."),
            std::string::npos)
      << ending.err;
  EXPECT_NE(ending.err.find("2 records = 1 kept with descriptors"), std::string::npos)
      << ending.err;
  EXPECT_EQ(dump(scratch / "store"), "8\t1\t-\tD000002\n");
}

TEST(Ingest, ABadVersionIsBlamedAndNotThePmid) {
  const ScratchDirectory scratch;
  const std::string file = scratch / "x1.xml";
  std::string bad = citation(7, "D000001");
  bad.replace(bad.find("Version=\"1\""), 11, "Version=\"first\"");
  write_file(file, document(bad + citation(8, "D000002")));
  const Ending ending = ingest(scratch / "store", {file});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_NE(ending.err.find(file + ":3: the version of the record's PMID is no number from 1 to "
                                   "65535: \"PMID 7, Version 'first'\"; it is left out\n"),
            std::string::npos)
      << ending.err;
  EXPECT_NE(ending.err.find("2 records = 1 kept with descriptors"), std::string::npos)
      << ending.err;
}

TEST(Ingest, ADocumentThatIsCutOrNoMedlineIsRefusedWhole) {
  const ScratchDirectory scratch;
  const std::string whole = document(citation(7, "D000001") + citation(8, "D000002"));
  const std::string file = scratch / "x1.xml";
  for (const std::size_t kept : {whole.rfind("</PubmedArticleSet>"), whole.rfind("<MeshHeading>"),
                                 whole.rfind("Version="), whole.size() - 3}) {
    write_file(file, whole.substr(0, kept));
    const Ending ending = ingest(scratch / "store", {file});
    expect_refusal(ending, file);
    EXPECT_NE(ending.err.find("is cut short: it ends before its root element PubmedArticleSet is "
                              "closed"),
              std::string::npos)
        << ending.err;
    EXPECT_EQ(dump(scratch / "store"), "");
  }
  write_file(file, "<html>\n" + citation(7, "D000001") + "</html>");
  const Ending ending = ingest(scratch / "store", {file});
  expect_refusal(ending, file);
  EXPECT_NE(ending.err.find(file + ":1: is no MEDLINE XML: its root element is html"),
            std::string::npos)
      << ending.err;
  EXPECT_EQ(dump(scratch / "store"), "");
}

TEST(Ingest, TheMostFrequentUnknownHeadingsAreNamedAndAllAreCounted) {
  const ScratchDirectory scratch;
  const auto with_names = [](unsigned pmid, unsigned names) {
    std::string record = citation(pmid, "");
    std::string headings;
    for (unsigned name = 1; name <= names; ++name) {
      headings += "\n<MeshHeading><DescriptorName>Name " + std::to_string(name) +
                  "</DescriptorName></MeshHeading>";
    }
    return record.insert(record.find("</MeshHeadingList>"), headings);
  };
  // Name 1 is in records 1 to 12, name 2 in 2 to 12, ... name 12 in the last alone: 78 in all.
  std::string records;
  for (unsigned pmid = 1; pmid <= 12; ++pmid) {
    records += with_names(pmid, pmid);
  }
  const std::string file = scratch / "x1.xml";
  write_file(file, document(records));
  const Ending ending = ingest(scratch / "store", {file});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_NE(
      ending.err.find("warning: 78 headings have neither a UI nor a name that the store's MeSH "
                      "table knows; their articles are kept without that heading:\n"
                      "  \"Name 1\": 12 times, first in " +
                      file + ":4\n"),
      std::string::npos)
      << ending.err;
  EXPECT_NE(ending.err.find("  \"Name 10\": 3 times, first in " + file +
                            ":67\n  and 2 other names: 3 times\n"),
            std::string::npos)
      << ending.err;
  EXPECT_EQ(ending.err.find("Name 11"), std::string::npos) << ending.err;
  EXPECT_NE(ending.err.find("78 unknown headings."), std::string::npos) << ending.err;
}

TEST(Ingest, TreeTablesAddToNamesThatAreKnown) {
  const ScratchDirectory scratch;
  write_file(scratch / "table.tsv", "ui\tname\ttree_numbers\nD000005\tAbdomen\t\n");
  write_file(scratch / "mtrees.bin", "Abdomen;A01.047\nAbdomen;A01.923.047\nBody Regions;A01\n");
  const Ending ending = ingest(scratch / "store",
                               {"--mesh", scratch / "mtrees.bin", "--mesh", scratch / "table.tsv"});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_NE(ending.err.find("warning: 1 name of the tree tables"), std::string::npos) << ending.err;
  EXPECT_NE(ending.err.find("Read the tree numbers of 2 names from tables: 2 added to those that "
                            "descriptors had, 1 name passed over.\n"),
            std::string::npos)
      << ending.err;
  EXPECT_EQ(run_somatlas({"dump", "--descriptors", "--store", scratch / "store"}).out,
            "D000005\tAbdomen\tA01.047;A01.923.047\n");
}

TEST(Ingest, ATableThatCannotBeReadStopsEverything) {
  const ScratchDirectory scratch;
  write_file(scratch / "x1.xml", document(citation(7, "D000001")));
  const Ending ending =
      ingest(scratch / "store", {"--mesh", scratch / "none.tsv", scratch / "x1.xml"});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_TRUE(ending.err.starts_with("somatlas: " + scratch / "none.tsv")) << ending.err;
  EXPECT_FALSE(std::filesystem::exists(scratch / "store"));
}

TEST(Ingest, DryRunTakesNothing) {
  const ScratchDirectory scratch;
  write_file(scratch / "x1.xml", document(citation(7, "D000001")));
  write_file(scratch / "x2.xml", document(citation(8, "D000001")));
  Ending ending = ingest(scratch / "store", {"--dry-run", scratch.path()});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_NE(ending.err.find("Would take 2 files"), std::string::npos) << ending.err;
  EXPECT_FALSE(std::filesystem::exists(scratch / "store"));
  ASSERT_EQ(ingest(scratch / "store", {scratch / "x1.xml"}).exit_code, 0);
  const std::string before = dump(scratch / "store");
  ending = ingest(scratch / "store", {"--dry-run", scratch / "x1.xml", scratch / "x2.xml"});
  EXPECT_NE(ending.err.find("Would take 1 file, skip 1"), std::string::npos) << ending.err;
  EXPECT_EQ(dump(scratch / "store"), before);
}

TEST(Ingest, ProgressIsShownOnlyWhenAskedForAndNamesCommits) {
  const ScratchDirectory scratch;
  write_file(scratch / "x1.xml", document(citation(7, "D000001")));
  const Ending quiet = ingest(scratch / "a", {scratch / "x1.xml"});
  EXPECT_EQ(quiet.err.find("of 1 file"), std::string::npos) << quiet.err;
  const Ending shown = ingest(scratch / "b", {"--progress", scratch / "x1.xml"});
  EXPECT_NE(shown.err.find("committed x1.xml\n"), std::string::npos) << shown.err;
  EXPECT_NE(shown.err.find("1 of 1 file"), std::string::npos) << shown.err;
}

TEST(Ingest, AStoreInUseIsLeftAlone) {
  const ScratchDirectory scratch;
  write_file(scratch / "x1.xml", document(citation(7, "D000001")));
  const auto held = store::Store::open(scratch / "store", store::Store::Access::create);
  const Ending ending = ingest(scratch / "store", {scratch / "x1.xml"});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_TRUE(ending.err.starts_with("somatlas: ")) << ending.err;
  EXPECT_NE(ending.err.find(scratch / "store"), std::string::npos) << ending.err;
  EXPECT_TRUE(held->ledger().empty());
}

}  // namespace
}  // namespace somatlas::program_test
