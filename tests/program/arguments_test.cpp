// The command line itself: help, wrong arguments, and what happens to standard output.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/formats/small_atlas.h"
#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

// The subcommands that --help lists.
std::vector<std::string> subcommands() {
  const std::string help = run_somatlas({"--help"}).out;
  std::vector<std::string> names;
  std::size_t at = help.find("Subcommands:\n");
  EXPECT_NE(at, std::string::npos) << help;
  at = help.find('\n', at) + 1;
  while (help.compare(at, 2, "  ") == 0) {
    const std::size_t end = help.find('\n', at);
    names.push_back(help.substr(at + 2, help.find(' ', at + 2) - at - 2));
    at = end + 1;
  }
  return names;
}

TEST(Arguments, HelpOfEverySubcommandIsOnStandardOutput) {
  const std::vector<std::string> names = subcommands();
  EXPECT_GE(names.size(), 4U);
  for (const std::string& name : names) {
    const Ending ending = run_somatlas({name, "--help"});
    EXPECT_EQ(ending.exit_code, 0) << name;
    EXPECT_EQ(ending.err, "") << name;
    EXPECT_NE(ending.out.find("Usage: somatlas " + name), std::string::npos) << ending.out;
  }
}

TEST(Arguments, WhatStandsWithoutAnOptionIsNamedInCapitals) {
  std::size_t found = 0;
  for (const std::string& name : subcommands()) {
    const std::string help = run_somatlas({name, "--help"}).out;
    std::size_t at = help.find("Positionals:\n");
    if (at == std::string::npos) {
      continue;
    }
    for (at = help.find('\n', at) + 1; help.compare(at, 2, "  ") == 0;
         at = help.find('\n', at) + 1) {
      const std::string word = help.substr(at + 2, help.find_first_of(" \n", at + 2) - at - 2);
      if (!word.empty()) {  // else a description goes on
        ++found;
        EXPECT_TRUE(std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; })) << help;
      }
    }
  }
  EXPECT_GE(found, 3U);
}

TEST(Arguments, HelpNamesWhatIsPrinted) {
  const auto help_has = [](const std::string& command, const std::vector<std::string>& words) {
    const std::string help = run_somatlas({command, "--help"}).out;
    for (const std::string& word : words) {
      EXPECT_NE(help.find(word), std::string::npos) << word << " in\n" << help;
    }
  };
  help_has("map", {"row", "column", "distance", "second row", "label", "MeSH heading"});
  help_has("dump", {"PMID", "version", "year", "`*`", "major"});
  help_has("export", {"height", "hits", "descriptor1", "MeSH heading", "neighbours"});
  help_has("train", {"4GiB"});
}

TEST(Arguments, VersionIsOneLine) {
  const Ending ending = run_somatlas({"--version"});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.err, "");
  EXPECT_TRUE(ending.out.starts_with("somatlas ")) << ending.out;
  EXPECT_EQ(ending.out.find('\n'), ending.out.size() - 1);
}

struct Wrong {
  std::vector<std::string> arguments;
  std::string names;  // what the sentence speaks of
};

TEST(Arguments, WrongOnesAreRefusedBeforeAnythingIsTouched) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  const std::vector<Wrong> all{
      {{}, "subcommand"},
      {{"nonsense"}, "there is no subcommand 'nonsense': give one of ingest, info, "},
      {{"nonsense", "--store", store, "x.xml"}, "there is no subcommand 'nonsense'"},
      {{"bench", "nonsense"}, "bench has no subcommand 'nonsense': give one of ingest, "},
      {{"ingest", "--stroe", store, "x.xml"}, "ingest has no option --stroe"},
      {{"bench", "search", "--atals", store}, "bench search has no option --atals"},
      {{"info", "--store", store, "more"}, "info does not take 'more'"},
      {{"ingest"}, "--store"},
      {{"ingest", "--store", store}, "FILE"},
      {{"ingest", "--store", store, "--threads", "0", "x.xml"}, "--threads"},
      {{"ingest", "--store", store, "--threads", "many", "x.xml"}, "--threads"},
      {{"ingest", "--store", store, "--colour", "x.xml"}, "--colour"},
      {{"info"}, "--store or --atlas"},
      {{"info", "--store", store, "--atlas", store}, "--atlas"},
      {{"info", "--atlas", ""}, "--atlas: the name is empty"},
      {{"ingest", "--store", "", "x.xml"}, "--store: the name is empty"},
      {{"verify"}, "--store or --atlas"},
      {{"dump"}, "--store"},
      {{"dump", "--store", store, "--all", "--descriptors"}, "--descriptors"},
  };
  for (const Wrong& wrong : all) {
    const Ending ending = run_somatlas(wrong.arguments);
    EXPECT_EQ(ending.exit_code, 2) << wrong.names;
    EXPECT_EQ(ending.out, "") << wrong.names;
    EXPECT_TRUE(ending.err.starts_with("somatlas: ")) << ending.err;
    EXPECT_NE(ending.err.find(wrong.names), std::string::npos) << ending.err;
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST(Output, AFullDiskIsAnError) {
  const ScratchDirectory scratch;
  ASSERT_EQ(
      run_somatlas({"ingest", "--store", scratch / "store", data("cases/id_forms.xml")}).exit_code,
      0);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"dump", "--store", scratch / "store"},
        {"info", "--store", scratch / "store"},
        {"info", "--json", "--store", scratch / "store"},
        {"--help"}}) {
    const Ending ending = run_somatlas(arguments, {.stdout_path = "/dev/full"});
    EXPECT_EQ(ending.exit_code, 1) << arguments.front();
    EXPECT_TRUE(ending.err.starts_with("somatlas: standard output")) << ending.err;
  }
}

TEST(Output, AReaderThatWentAwayEndsTheProgramQuietly) {
  const ScratchDirectory scratch;
  const std::string store = scratch / "store";
  ASSERT_EQ(run_somatlas({"ingest", "--store", store, data("cases/id_forms.xml")}).exit_code, 0);
  const exports::SmallAtlas small;
  small.make_atlas(scratch / "atlas", "id", "state");
  write_file(scratch / "input", "Humans\n");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"dump", "--store", store},
        {"dump", "--all", "--store", store},
        {"info", "--store", store},
        {"info", "--json", "--atlas", scratch / "atlas"},
        {"map", "--atlas", scratch / "atlas", scratch / "input"},
        {"ingest", "--json", "--store", store, data("cases/id_forms.xml")},
        {"--help"}}) {
    const Ending ending = run_somatlas(arguments, {.close_stdout_early = true});
    EXPECT_EQ(ending.exit_code, 128 + SIGPIPE) << arguments.front();
    EXPECT_EQ(ending.err.find("standard output"), std::string::npos) << ending.err;
    EXPECT_EQ(ending.err.find("somatlas: "), std::string::npos) << ending.err;
  }
}

}  // namespace
}  // namespace somatlas::program_test
