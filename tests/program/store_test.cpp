// Looking at a store: info, dump and verify, on sound, empty, missing and foreign ones.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/program/sample_job.h"

namespace somatlas::program_test {
namespace {

class StoreOfCases : public testing::Test {
 protected:
  void SetUp() override {
    write_file(scratch / "table.tsv",
               "ui\tname\ttree_numbers\nD006801\tHumans\tB01.050\nD005260\tFemale\t\n");
    const Ending ending = run_somatlas({"ingest", "--store", store, "--mesh", scratch / "table.tsv",
                                        data("cases/medline_date.xml"), data("cases/no_mesh.xml")});
    ASSERT_EQ(ending.exit_code, 0) << ending.err;
  }
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
};

TEST_F(StoreOfCases, InfoCountsWhatIsThere) {
  const Ending ending = run_somatlas({"info", "--store", store, "--json"});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.err, "");
  const auto json = nlohmann::json::parse(ending.out);
  EXPECT_EQ(json.at("files"), 2);
  EXPECT_EQ(json.at("citations"), 9);
  EXPECT_EQ(json.at("articles_with_descriptors"), 7);
  EXPECT_EQ(json.at("distinct_descriptors"), 6);
  EXPECT_DOUBLE_EQ(json.at("mean_descriptors"), 32.0 / 7);
  EXPECT_EQ(json.at("first_year"), 1987);
  EXPECT_EQ(json.at("last_year"), 2021);
  const nlohmann::json decades{{"1980", 1}, {"1990", 1}, {"2000", 2}, {"2010", 1}, {"2020", 2}};
  EXPECT_EQ(json.at("articles_by_decade"), decades);
  const auto& frequent = json.at("most_frequent");
  ASSERT_EQ(frequent.size(), 6U);
  EXPECT_EQ(frequent[0].at("ui"), "D006801");
  EXPECT_EQ(frequent[0].at("name"), "Humans");
  EXPECT_EQ(frequent[0].at("articles"), 7);
  EXPECT_EQ(frequent[1].at("ui"), "D000328");  // of the same count as others: by UI
  EXPECT_EQ(frequent[5].at("ui"), "D015706");
  EXPECT_GT(json.at("disk_bytes"), 0);
  EXPECT_EQ(json.at("ledger").at("citations"), 9);
}

TEST_F(StoreOfCases, InfoForPeopleSaysTheSame) {
  const Ending ending = run_somatlas({"info", "--store", store});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.err, "");
  for (const char* text :
       {"citations                   9           kept now", "years                       1987 to",
        "  D006801                   7  Humans\n"}) {
    EXPECT_NE(ending.out.find(text), std::string::npos) << ending.out;
  }
}

TEST_F(StoreOfCases, InfoHasEveryYearFileFrequencyAndPart) {
  const auto json = nlohmann::json::parse(run_somatlas({"info", "--store", store, "--json"}).out);
  EXPECT_EQ(json.at("files_by_year").at("none").at("files"), 2);
  std::uint64_t bytes = 0;
  for (const char* part : {"shards", "ledger", "descriptors", "meta"}) {
    EXPECT_GT(json.at("disk_bytes_by_part").at(part), 0) << part;
    bytes += json.at("disk_bytes_by_part").at(part).get<std::uint64_t>();
  }
  EXPECT_EQ(json.at("disk_bytes"), bytes);
  EXPECT_EQ(json.at("mesh_changes").at("lists").size(), 0U);

  // Counted again from what dump prints.
  std::map<std::string, std::pair<int, int>> counted;
  std::map<std::string, int> years;
  std::istringstream dumped(run_somatlas({"dump", "--store", store}).out);
  for (std::string line; std::getline(dumped, line);) {
    const std::size_t last = line.rfind('\t');
    const std::size_t year = line.rfind('\t', last - 1) + 1;
    ++years[line.substr(year, last - year)];
    std::istringstream uis(line.substr(last + 1));
    for (std::string ui; uis >> ui;) {
      const bool major = ui.ends_with('*');
      auto& [articles, major_topics] = counted[ui.substr(0, ui.size() - (major ? 1 : 0))];
      ++articles;
      major_topics += major ? 1 : 0;
    }
  }
  ASSERT_FALSE(counted.empty());
  ASSERT_GT(years.size(), 3U);
  EXPECT_EQ(json.at("articles_by_year"), nlohmann::json(years));
  std::istringstream table(run_somatlas({"info", "--descriptors", "--store", store}).out);
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line, "UI\tname\tarticles\tmajor topics");
  std::size_t lines = 0;
  for (; std::getline(table, line); ++lines) {
    const auto& [articles, major_topics] = counted.at(line.substr(0, line.find('\t')));
    const std::string end = "\t" + std::to_string(articles) + "\t" + std::to_string(major_topics);
    EXPECT_TRUE(line.ends_with(end)) << line;
  }
  EXPECT_EQ(lines, counted.size());

  const auto files =
      nlohmann::json::parse(run_somatlas({"info", "--files", "--json", "--store", store}).out);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].at("name"), "medline_date.xml");
  EXPECT_EQ(files[0].at("file_bytes"), read_file(data("cases/medline_date.xml")).size());
  EXPECT_EQ(files[0].at("md5").get<std::string>().size(), 32U);
  EXPECT_TRUE(files[0].at("taken_at").get<std::string>().starts_with("20"));
  const std::string text = run_somatlas({"info", "--files", "--store", store}).out;
  EXPECT_TRUE(text.starts_with("name\tbytes\tMD5\t")) << text;
  EXPECT_NE(text.find("\nmedline_date.xml\t" + files[0].at("file_bytes").dump() + "\t" +
                      files[0].at("md5").get<std::string>() + "\t"),
            std::string::npos)
      << text;
  EXPECT_EQ(run_somatlas({"info", "--files", "--atlas", store}).exit_code, 2);
}

TEST_F(StoreOfCases, SeveralProcessesReadItAtOnce) {
  const std::vector<std::vector<std::string>> commands{{"dump", "--store", store},
                                                       {"info", "--json", "--store", store},
                                                       {"verify", "--store", store},
                                                       {"dump", "--descriptors", "--store", store}};
  std::vector<Ending> alone;
  for (const auto& command : commands) {
    alone.push_back(run_somatlas(command));
    ASSERT_EQ(alone.back().exit_code, 0) << alone.back().err;
  }
  const auto before = content_of(store);
  std::vector<std::unique_ptr<RunningProgram>> running;
  for (int round = 0; round < 3; ++round) {
    for (const auto& command : commands) {
      running.push_back(std::make_unique<RunningProgram>(command));
    }
  }
  for (std::size_t i = 0; i < running.size(); ++i) {
    const Ending ending = running[i]->wait();
    const Ending& expected = alone[i % commands.size()];
    EXPECT_EQ(ending.exit_code, 0);
    EXPECT_EQ(ending.out, expected.out);
    EXPECT_EQ(ending.err, expected.err);
  }
  EXPECT_EQ(content_of(store), before);
}

TEST_F(StoreOfCases, VerifyFindsItSound) {
  const Ending ending = run_somatlas({"verify", "--store", store});
  EXPECT_EQ(ending.exit_code, 0) << ending.out;
  EXPECT_EQ(ending.out, "");
  EXPECT_EQ(ending.err, store + ": sound.\n");
}

TEST_F(StoreOfCases, VerifyNamesAChangedByte) {
  std::string sst;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(store)) {
    if (entry.path().extension() == ".sst" && (sst.empty() || entry.path().string() < sst)) {
      sst = entry.path().string();
    }
  }
  ASSERT_FALSE(sst.empty());
  std::string bytes = read_file(sst);
  bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 0x10);
  write_file(sst, bytes);
  const Ending ending = run_somatlas({"verify", "--store", store});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE((ending.out + ending.err).find(store), std::string::npos) << ending.out << ending.err;
}

TEST_F(StoreOfCases, LookingChangesNothing) {
  const auto before = content_of(store);
  for (const char* command : {"info", "dump", "verify"}) {
    EXPECT_EQ(run_somatlas({command, "--store", store}).exit_code, 0) << command;
  }
  EXPECT_EQ(content_of(store), before);
}

TEST(Stores, OneThatIsMissingIsNamedAndNotMade) {
  const ScratchDirectory scratch;
  for (const char* command : {"info", "dump", "verify"}) {
    const Ending ending = run_somatlas({command, "--store", scratch / "none"});
    EXPECT_EQ(ending.exit_code, 1) << command;
    EXPECT_EQ(ending.out, "") << command;
    EXPECT_NE(ending.err.find(scratch / "none"), std::string::npos) << ending.err;
    EXPECT_FALSE(std::filesystem::exists(scratch / "none"));
  }
}

TEST(Stores, AnEmptyOneHasNothingToDump) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  write_file(scratch / "table.tsv", "ui\tname\ttree_numbers\nD006801\tHumans\tB01.050\n");
  ASSERT_EQ(run_somatlas({"ingest", "--store", store, "--mesh", scratch / "table.tsv"}).exit_code,
            0);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"dump", "--store", store}, {"dump", "--all", "--store", store}}) {
    const Ending ending = run_somatlas(arguments);
    EXPECT_EQ(ending.exit_code, 0);
    EXPECT_EQ(ending.out, "");
    EXPECT_EQ(ending.err, "");
  }
  const auto json = nlohmann::json::parse(run_somatlas({"info", "--json", "--store", store}).out);
  EXPECT_EQ(json.at("citations"), 0);
  EXPECT_TRUE(json.at("mean_descriptors").is_null());
  EXPECT_TRUE(json.at("first_year").is_null());
}

}  // namespace
}  // namespace somatlas::program_test
