// A new MeSH year in the program: newer tables, lists of changed descriptors, what is read through
// them, and how they are taken back.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

using nlohmann::json;

constexpr const char* header = "change\tui_2017\tname_2017\tui_2024\tname_2024\n";

// A descriptor given by UI, or by name where it is no UI; `*` behind it marks a major topic.
std::string heading(std::string text) {
  const bool major = text.ends_with('*');
  text.resize(text.size() - (major ? 1 : 0));
  const bool ui = text[0] == 'D' && text.find_first_not_of("0123456789", 1) == std::string::npos;
  return "<MeshHeading><DescriptorName MajorTopicYN=\"" + std::string(major ? "Y\"" : "N\"") +
         (ui ? " UI=\"" + text + "\">x" : ">" + text) + "</DescriptorName></MeshHeading>\n";
}

std::string citation(unsigned pmid, const std::vector<std::string>& headings) {
  std::string text = "<PubmedArticle><MedlineCitation><PMID Version=\"1\">" + std::to_string(pmid) +
                     "</PMID><MeshHeadingList>\n";
  for (const std::string& one : headings) {
    text += heading(one);
  }
  return text + "</MeshHeadingList></MedlineCitation></PubmedArticle>\n";
}

class MeshYear : public testing::Test {
 protected:
  void SetUp() override {
    write_file(scratch / "2017.tsv",
               "ui\tname\ttree_numbers\nD003040\tCobra Venoms\tD20.888.850.325;D23.946\n"
               "D004546\tElapid Venoms\tD20.888.850\nD000043\tAbstracting as Topic\tL01.453\n"
               "D002362\tCascara\tD20.215\nD006801\tHumans\tB01\n");
    write_file(scratch / "2024.tsv",
               "ui\tname\ttree_numbers\nD004546\tElapid Venoms\tD20.999\n"
               "D000043\tAbstracting\tL01.453\nD006801\tHumans\tB01\nD000099\tNew One\t\n");
    write_file(scratch / "changes.tsv",
               std::string(header) +
                   "renamed\tD000043\tAbstracting as Topic\tD000043\tAbstracting\n"
                   "merged\tD003040\tCobra Venoms\tD004546\tElapid Venoms\n"
                   "removed\tD002362\tCascara\t\t\n");
    write_file(scratch / "later.tsv",
               "change\tui_2024\tname_2024\tui_2026\tname_2026\n"
               "merged\tD004546\tElapid Venoms\tD065092\tSnake Venoms\n");
    write_file(scratch / "x1.xml",
               "<PubmedArticleSet>\n" + citation(1, {"D003040*", "D004546", "D006801"}) +
                   citation(2, {"D002362"}) + citation(3, {"D002362*", "D000043"}) +
                   citation(4, {"D006801"}) + "</PubmedArticleSet>\n");
    ASSERT_EQ(ingest({"--mesh", scratch / "2017.tsv", scratch / "x1.xml"}).exit_code, 0);
  }

  [[nodiscard]] Ending ingest(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"ingest", "--store", store});
    return run_somatlas(arguments);
  }
  [[nodiscard]] std::string dump(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {"dump", "--store", store});
    return run_somatlas(arguments).out;
  }
  [[nodiscard]] json info() const {
    return json::parse(run_somatlas({"info", "--json", "--store", store}).out);
  }

  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  const std::string as_filed =
      "1\t1\t-\tD003040* D004546 D006801\n2\t1\t-\tD002362\n3\t1\t-\tD000043 D002362*\n"
      "4\t1\t-\tD006801\n";
  const std::string as_changed = "1\t1\t-\tD004546* D006801\n3\t1\t-\tD000043\n4\t1\t-\tD006801\n";
};

TEST_F(MeshYear, ANewerTableReplacesNamesAndTreeNumbers) {
  const Ending dry = ingest({"--dry-run", "--mesh", scratch / "2024.tsv"});
  const std::string counts =
      "Read 4 descriptors from tables: 1 new, 1 renamed, 1 with other tree numbers, 1 unchanged.";
  EXPECT_NE(dry.err.find(counts), std::string::npos) << dry.err;
  const std::string before = dump({"--descriptors"});
  EXPECT_NE(before.find("D000043\tAbstracting as Topic\tL01.453\n"), std::string::npos) << before;
  const Ending ending = ingest({"--json", "--mesh", scratch / "2024.tsv"});
  EXPECT_NE(ending.err.find(counts), std::string::npos) << ending.err;
  const json expected{{"new", 1},
                      {"renamed", 1},
                      {"moved", 1},
                      {"unchanged", 1},
                      {"entry_words", 0},
                      {"tree_numbers_added", 0},
                      {"tree_names_unknown", 0}};
  EXPECT_EQ(json::parse(ending.out).at("mesh"), expected);
  EXPECT_EQ(dump({"--descriptors"}),
            "D000043\tAbstracting\tL01.453\nD000099\tNew One\t\nD002362\tCascara\tD20.215\n"
            "D003040\tCobra Venoms\tD20.888.850.325;D23.946\nD004546\tElapid Venoms\tD20.999\n"
            "D006801\tHumans\tB01\n");
  EXPECT_EQ(json::parse(ingest({"--json", "--mesh", scratch / "2024.tsv"}).out)
                .at("mesh")
                .at("unchanged"),
            4);
}

TEST_F(MeshYear, AListIsAViewThatIsReportedAndTakenBack) {
  const std::string state = info().at("state_id");
  ASSERT_EQ(dump(), as_filed);
  const Ending dry = ingest({"--dry-run", "--mesh-changes", scratch / "changes.tsv"});
  EXPECT_NE(
      dry.err.find("Would take 1 list of changed descriptors: 1 merged, 1 removed, 1 renamed"),
      std::string::npos)
      << dry.err;
  EXPECT_EQ(dump(), as_filed);
  const Ending ending = ingest({"--mesh-changes", scratch / "changes.tsv"});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_NE(ending.err.find("Took 1 list of changed descriptors: 1 merged, 1 removed, 1 renamed"),
            std::string::npos)
      << ending.err;
  EXPECT_EQ(dump(), as_changed);
  EXPECT_EQ(dump({"--as-filed"}), as_filed);
  EXPECT_NE(dump({"--descriptors"}).find("D000043\tAbstracting\t"), std::string::npos);
  EXPECT_NE(dump({"--descriptors", "--as-filed"}).find("D000043\tAbstracting as Topic\t"),
            std::string::npos);
  const json changed = info();
  EXPECT_NE(changed.at("state_id"), state);
  EXPECT_EQ(changed.at("articles_without_descriptors"), 1);
  EXPECT_EQ(changed.at("distinct_descriptors"), 3);
  const json& view = changed.at("mesh_changes");
  EXPECT_EQ(view.at("lists").at(0).at("name"), "changes.tsv");
  EXPECT_EQ(view.at("replaced_descriptors"), 1);
  EXPECT_EQ(view.at("removed_descriptors"), 1);
  EXPECT_EQ(view.at("articles"), 3);
  EXPECT_EQ(view.at("articles_emptied"), 1);
  EXPECT_NE(run_somatlas({"info", "--store", store})
                .out.find("1 replaced, 1 removed: 3 articles read with other descriptors than "
                          "filed, 1 of them left without any\n"),
            std::string::npos);
  EXPECT_EQ(run_somatlas({"verify", "--store", store}).exit_code, 0);
  EXPECT_NE(ingest({"--mesh-changes", scratch / "changes.tsv"}).err.find("Passed over 1 list"),
            std::string::npos);
  EXPECT_NE(ingest({"--mesh-changes", "none"}).err.find("Took back 1 list"), std::string::npos);
  EXPECT_NE(ingest({"--mesh-changes", "none"}).err.find("no lists of changed descriptors to take"),
            std::string::npos);
  EXPECT_EQ(dump(), as_filed);
  EXPECT_EQ(info().at("state_id"), state);
}

TEST_F(MeshYear, ListsChainAndCanBeExchangedInOneCall) {
  ASSERT_EQ(ingest({"--mesh-changes", scratch / "changes.tsv"}).exit_code, 0);
  ASSERT_EQ(ingest({"--mesh-changes", scratch / "later.tsv"}).exit_code, 0);
  const std::string chained = "1\t1\t-\tD006801 D065092*\n3\t1\t-\tD000043\n4\t1\t-\tD006801\n";
  EXPECT_EQ(dump(), chained);
  const json frequency =
      json::parse(run_somatlas({"info", "--descriptors", "--json", "--store", store}).out);
  const json snakes{
      {"ui", "D065092"}, {"name", "Snake Venoms"}, {"articles", 1}, {"major_topics", 1}};
  EXPECT_EQ(frequency.at(2), snakes);
  ASSERT_EQ(ingest({"--mesh-changes", "none", "--mesh-changes", scratch / "later.tsv"}).exit_code,
            0);
  EXPECT_EQ(info().at("mesh_changes").at("lists").size(), 1U);
  EXPECT_EQ(dump().substr(0, dump().find('\n')), "1\t1\t-\tD003040* D006801 D065092");
}

TEST_F(MeshYear, ACircleIsRefusedWithItsLine) {
  ASSERT_EQ(ingest({"--mesh-changes", scratch / "changes.tsv"}).exit_code, 0);
  write_file(scratch / "back.tsv", std::string(header) +
                                       "renamed\tD006801\tHumans\tD006801\tHumans\n"
                                       "merged\tD004546\tElapid Venoms\tD003040\tCobra Venoms\n");
  const Ending ending = ingest({"--mesh-changes", scratch / "back.tsv"});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_EQ(ending.err,
            "somatlas: " + scratch / "back.tsv" +
                ":3: D004546 would become D003040, which would become D004546 again; take one "
                "of these changes out, or take the lists that the store has back first "
                "with --mesh-changes none\n");
  EXPECT_EQ(dump(), as_changed);
}

TEST_F(MeshYear, AVeryLongCircleIsNamedByItsBeginning) {
  std::string text = header;
  for (unsigned i = 0; i < 5000; ++i) {
    text += "merged\tD" + std::to_string(100'000 + i) + "\ta\tD" +
            std::to_string(100'000 + (i + 1) % 5000) + "\tb\n";
  }
  write_file(scratch / "circle.tsv", text);
  const Ending ending = ingest({"--mesh-changes", scratch / "circle.tsv"});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_EQ(ending.err,
            "somatlas: " + scratch / "circle.tsv" +
                ":2: D100000 would become D100001, which would become D100002, which would become "
                "D100003, which would become D100004, which would become one of 4995 others, and "
                "in the end D100000 again; take one of these changes out, or take the lists that "
                "the store has back first with --mesh-changes none\n");
}

TEST_F(MeshYear, HeadingsByOldNamesAreFiledAsWhatTheyWere) {
  ASSERT_EQ(ingest({"--mesh-changes", scratch / "changes.tsv"}).exit_code, 0);
  const std::string fresh = scratch / "fresh";
  write_file(scratch / "x2.xml",
             "<PubmedArticleSet>\n" +
                 citation(7, {"Cobra Venoms*", "Abstracting as Topic", "Cascara", "Humans"}) +
                 "</PubmedArticleSet>\n");
  const Ending ending =
      run_somatlas({"ingest", "--store", fresh, "--mesh", scratch / "2024.tsv", "--mesh-changes",
                    scratch / "changes.tsv", scratch / "x2.xml"});
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_NE(ending.err.find("0 unknown headings"), std::string::npos) << ending.err;
  EXPECT_EQ(run_somatlas({"dump", "--as-filed", "--store", fresh}).out,
            "7\t1\t-\tD000043 D002362 D003040* D006801\n");
  EXPECT_EQ(run_somatlas({"dump", "--store", fresh}).out, "7\t1\t-\tD000043 D004546* D006801\n");
}

TEST_F(MeshYear, ListsThatAreNoneAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "is a list without a change"},
      {header, "is a list without a change"},
      {"ui\tname\ttree_numbers\n", ":1: is no header of a list of changes"},
      {std::string(header) + "renamed\tD000043\ta\tD000043\n", ":2: has not five columns"},
      {std::string(header) + "renamed\tD000043\ta\tD000044\tb\n", ":2: gives a renamed descriptor"},
      {std::string(header) + "merged\tD000043\ta\tD000043\tb\n", ":2: merges D000043 into itself"},
      {std::string(header) + "removed\tD000043\ta\tD000044\tb\n", ":2: removes D000043, but names"},
      {std::string(header) + "moved\tD000043\ta\tD000044\tb\n", ":2: 'moved' is no kind of change"},
      {std::string(header) + "merged\tC000043\ta\tD000044\tb\n", ":2: 'C000043' is no descriptor"},
      {std::string(header) + "merged\tD000043\t\tD000044\tb\n", ":2: D000043 has no name"},
      {std::string(header) + "removed\tD000043\ta\t\t\nremoved\tD000043\ta\t\t\n",
       ":3: D000043 stands here for the second time"},
      {std::string(header) + "merged\tD000043\ta\tD000044\tb\nmerged\tD000044\tb\tD000043\ta\n",
       ":2: D000043 would become D000044, which would become D000043 again"}};
  for (const auto& [text, fault] : cases) {
    write_file(scratch / "bad.tsv", text);
    const Ending ending = run_somatlas({"ingest", "--store", scratch / "none", "--mesh-changes",
                                        scratch / "bad.tsv", scratch / "x1.xml"});
    EXPECT_EQ(ending.exit_code, 1) << text;
    EXPECT_TRUE(ending.err.starts_with("somatlas: " + scratch / "bad.tsv")) << ending.err;
    EXPECT_NE(ending.err.find(fault), std::string::npos) << ending.err;
    EXPECT_FALSE(std::filesystem::exists(scratch / "none"));
  }
  const Ending nowhere =
      run_somatlas({"ingest", "--store", scratch / "none", "--mesh-changes", "none"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_NE(nowhere.err.find("there is no store at"), std::string::npos) << nowhere.err;
}

}  // namespace
}  // namespace somatlas::program_test
