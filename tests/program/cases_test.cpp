// The invented cases, through the whole program: what each input leaves in the store, in any order
// of files, in one call or many, as files or as a directory.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> files;  // in the order of their keys
  std::string dump;                // fields by tabs, as dump prints
};

constexpr const char* adult_five = "D000328 D005260 D006801 D008297 D008875";

std::string line(const std::string& pmid, const std::string& version, const std::string& year,
                 const std::string& descriptors) {
  return pmid + "\t" + version + "\t" + year + "\t" + descriptors + "\n";
}

std::vector<Case> cases() {
  return {
      {"nested_pmids",
       {"nested_pmids.xml"},
       line("90000101", "1", "2021", "D000368 D004232 D006801 D006973 D007668 D012964")},
      {"versions",
       {"versions.xml"},
       line("90000201", "3", "2021", "D000818 D005215 D005947 D007328 D008099 D051381") +
           line("90000202", "1", "2021", adult_five)},
      {"updates",
       {"update_0001_baseline.xml", "update_0002_update.xml"},
       line("90000301", "1", "2021", "D000318 D000420 D001249 D002648 D005260 D006801") +
           line("90000303", "1", "2021", "D009584 D010788 D010944 D012987 D014867") +
           line("90000304", "1", "2021", "D000368 D005260 D006801 D007251 D008297 D014611")},
      {"medline_date",
       {"medline_date.xml"},
       line("90000401", "1", "1998", adult_five) + line("90000402", "1", "2003", adult_five) +
           line("90000403", "1", "1987", adult_five) + line("90000404", "1", "2000", adult_five) +
           line("90000405", "1", "2010", adult_five)},
      {"inline_markup",
       {"inline_markup.xml"},
       line("90000501", "1", "2021", "D004926 D006861 D007656 D007785 D018384")},
      {"no_mesh",
       {"no_mesh.xml"},
       line("90000603", "1", "2021", "D006801 D015706") +
           line("90000604", "1", "2021", adult_five)},
      {"missing_ui", {"missing_ui.xml"}, line("90000701", "1", "2021", "D000368 D001921 D020521")},
      {"repeated_descriptor",
       {"repeated_descriptor.xml"},
       line("90000801", "1", "2021", "D002681 D006801 D008175* D008297 D012907*")},
      {"book_article",
       {"book_article.xml"},
       line("90000901", "1", "2021", adult_five) +
           line("90000903", "1", "2021", "D000420 D001249 D002648 D006801 D009330")},
      {"external_dtd", {"external_dtd.xml"}, line("90001101", "1", "2021", adult_five)},
      {"id_forms",
       {"id_forms.xml"},
       line("1", "1", "2021", "D000071443 D000073738 D000077713 D006801 D012984") +
           line("4294967", "1", "2021", "D000071443 D000073738 D000077713 D006801 D012984") +
           line("90001202", "1", "2021", "D000071443 D000073738 D000077713 D006801 D012984")},
      {"two_members",
       {"two_members.xml.gz"},
       line("90001301", "1", "2021", adult_five) +
           line("90001302", "1", "2021", "D000368 D005260 D006801 D007251 D008297 D014611")},
  };
}

std::string case_file(const std::string& name) {
  return data("cases/" + name);
}

std::string dump(const std::string& store) {
  const Ending ending = run_somatlas({"dump", "--store", store});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_EQ(ending.err, "");
  return ending.out;
}

Ending ingest(const std::string& store, std::vector<std::string> files) {
  files.insert(files.begin(), {"ingest", "--store", store});
  return run_somatlas(files);
}

class CaseTest : public testing::TestWithParam<Case> {};

TEST_P(CaseTest, LeavesWhatIsExpected) {
  const ScratchDirectory scratch;
  std::vector<std::string> files;
  for (const std::string& name : GetParam().files) {
    files.push_back(case_file(name));
  }
  const Ending ending = ingest(scratch / "store", files);
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_EQ(ending.out, "");
  EXPECT_EQ(dump(scratch / "store"), GetParam().dump);
}

INSTANTIATE_TEST_SUITE_P(All, CaseTest, testing::ValuesIn(cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(Cases, UpdatesGiveTheSameInEitherOrderAndInOneCallOrTwo) {
  const ScratchDirectory scratch;
  const std::string first = case_file("update_0001_baseline.xml");
  const std::string second = case_file("update_0002_update.xml");
  ASSERT_EQ(ingest(scratch / "a", {first, second}).exit_code, 0);
  ASSERT_EQ(ingest(scratch / "b", {second, first}).exit_code, 0);
  ASSERT_EQ(ingest(scratch / "c", {first}).exit_code, 0);
  ASSERT_EQ(ingest(scratch / "c", {second}).exit_code, 0);
  ASSERT_EQ(ingest(scratch / "d", {second}).exit_code, 0);
  ASSERT_EQ(ingest(scratch / "d", {first}).exit_code, 0);
  const auto all = [](const std::string& store) {
    return run_somatlas({"dump", "--all", "--store", store}).out;
  };
  const std::string expected = all(scratch / "a");
  EXPECT_NE(expected.find("90000302\t1\t-\tdeleted\n"), std::string::npos) << expected;
  EXPECT_NE(expected.find("90999999\t1\t-\tdeleted\n"), std::string::npos) << expected;
  for (const char* store : {"b", "c", "d"}) {
    EXPECT_EQ(all(scratch / store), expected) << store;
  }
}

TEST(Cases, DumpAllShowsCitationsWithoutDescriptors) {
  const ScratchDirectory scratch;
  ASSERT_EQ(ingest(scratch / "store", {case_file("no_mesh.xml")}).exit_code, 0);
  EXPECT_EQ(run_somatlas({"dump", "--all", "--store", scratch / "store"}).out,
            line("90000601", "1", "-", "") + line("90000602", "1", "-", "") +
                line("90000603", "1", "2021", "D006801 D015706") +
                line("90000604", "1", "2021", adult_five));
}

TEST(Cases, HeadingsWithoutUiAreFoundInTheTableOrReported) {
  const ScratchDirectory scratch;
  write_file(scratch / "table.tsv",
             "ui\tname\ttree_numbers\nD006801\tHumans\tB01.050\nD005260\tFemale\t\n");
  const std::string file = case_file("missing_ui.xml");
  const Ending ending = ingest(scratch / "with", {"--mesh", scratch / "table.tsv", file});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_NE(ending.err.find("missing_ui.xml:38\n"), std::string::npos) << ending.err;
  EXPECT_NE(ending.err.find("Invented Heading Nowhere"), std::string::npos) << ending.err;
  EXPECT_NE(ending.err.find("1 unknown heading."), std::string::npos) << ending.err;
  EXPECT_EQ(dump(scratch / "with"),
            line("90000701", "1", "2021", "D000368 D001921 D005260 D006801 D020521"));
  EXPECT_EQ(run_somatlas({"dump", "--descriptors", "--store", scratch / "with"}).out,
            "D005260\tFemale\t\nD006801\tHumans\tB01.050\n");

  const Ending without = ingest(scratch / "without", {file});
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_NE(without.err.find("3 unknown headings."), std::string::npos) << without.err;
}

TEST(Cases, BooksAreCountedAndPassedOver) {
  const ScratchDirectory scratch;
  const Ending ending = ingest(scratch / "store", {case_file("book_article.xml")});
  EXPECT_NE(ending.err.find("Read 2 citations, 2 with descriptors; 0 deletions; 1 book passed"),
            std::string::npos)
      << ending.err;
}

TEST(Cases, ACutDocumentGivesNothingAndTheOthersGoOn) {
  const ScratchDirectory scratch;
  const Ending ending =
      ingest(scratch / "store", {case_file("truncated.xml"), case_file("external_dtd.xml")});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE(ending.err.find("truncated.xml:63: "), std::string::npos) << ending.err;
  EXPECT_NE(ending.err.find("Refused: " + case_file("truncated.xml") + "."), std::string::npos)
      << ending.err;
  EXPECT_EQ(dump(scratch / "store"), line("90001101", "1", "2021", adult_five));
}

TEST(Cases, AWrongChecksumIsRefusedUnlessNoneIsAskedFor) {
  const ScratchDirectory scratch;
  const std::string file = case_file("checksum.xml.gz");
  const Ending ending = ingest(scratch / "store", {file});
  EXPECT_EQ(ending.exit_code, 1);
  const std::string companion = read_file(file + ".md5");
  const std::string expected = companion.substr(companion.find("= ") + 2, 32);
  EXPECT_NE(ending.err.find(expected), std::string::npos) << ending.err;
  EXPECT_NE(ending.err.find("checksum.xml.gz: its MD5 sum is "), std::string::npos) << ending.err;
  EXPECT_FALSE(std::filesystem::exists(scratch / "store"));
  const std::string kept = line("90001401", "1", "2021", adult_five);
  EXPECT_EQ(ingest(scratch / "store", {"--no-md5", file}).exit_code, 0);
  EXPECT_EQ(dump(scratch / "store"), kept);

  std::filesystem::copy_file(file, scratch / "checksum.xml.gz");
  EXPECT_EQ(ingest(scratch / "other", {scratch / "checksum.xml.gz"}).exit_code, 0);
  EXPECT_EQ(dump(scratch / "other"), kept);
}

TEST(Cases, ADirectoryIsItsFilesAndEveryRecordIsAccountedFor) {
  const ScratchDirectory scratch;
  const Ending ending = ingest(scratch / "store", {data("cases"), "--json"});
  EXPECT_EQ(ending.exit_code, 1);  // the cut file and the one of the wrong sum
  const auto json = nlohmann::json::parse(ending.out);
  EXPECT_EQ(json.at("files_taken"), 13);
  EXPECT_EQ(json.at("files_refused"), 2);
  EXPECT_EQ(json.at("refused").size(), 2U);
  const auto& store = json.at("store");
  const auto count = [&store](const char* name) { return store.at(name).get<std::uint64_t>(); };
  EXPECT_EQ(count("records"), json.at("citations"));
  EXPECT_EQ(count("records"), count("kept_with_descriptors") + count("kept_without_descriptors") +
                                  count("superseded") + count("deleted") + count("left_out"));
  EXPECT_EQ(count("superseded"), 3U);  // two versions, one revision
  EXPECT_EQ(count("deleted"), 1U);
  EXPECT_EQ(count("tombstones"), 2U);

  std::string expected;
  for (const Case& each : cases()) {
    expected += each.dump;
  }
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < expected.size();) {
    const std::size_t end = expected.find('\n', at) + 1;
    lines.push_back(expected.substr(at, end - at));
    at = end;
  }
  std::ranges::sort(lines, {}, [](const std::string& text) { return std::stoull(text); });
  std::string sorted;
  for (const std::string& text : lines) {
    sorted += text;
  }
  EXPECT_EQ(dump(scratch / "store"), sorted);
}

}  // namespace
}  // namespace somatlas::program_test
