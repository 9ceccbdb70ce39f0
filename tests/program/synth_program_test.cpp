// somatlas synth as a user runs it: a store drawn straight and a store taken from the XML files are
// the same, and wrong or impossible wishes end in one sentence.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

namespace fs = std::filesystem;

TEST(SynthProgram, StoreAndFilesTakenInDumpTheSame) {
  const ScratchDirectory scratch;
  const std::string drawn = scratch.path() / "drawn";
  const std::string files = scratch.path() / "files";
  const std::string taken = scratch.path() / "taken";
  Ending ending = run_somatlas(
      {"synth", "--articles", "3000", "--seed", "5", "--per-file", "1000", "--store", drawn});
  ASSERT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_EQ(ending.out, "");
  ending = run_somatlas({"synth", "--articles", "3000", "--seed", "5", "--per-file", "1000",
                         "--updates", "0", "--xml", files});
  ASSERT_EQ(ending.exit_code, 0) << ending.err;
  ending = run_somatlas({"ingest", "--store", taken, "--mesh", files + "/descriptors.tsv", files});
  ASSERT_EQ(ending.exit_code, 0) << ending.err;
  const Ending from_drawn = run_somatlas({"dump", "--store", drawn});
  const Ending from_taken = run_somatlas({"dump", "--store", taken});
  EXPECT_EQ(from_drawn.exit_code, 0) << from_drawn.err;
  EXPECT_EQ(from_drawn.out, from_taken.out);
  EXPECT_EQ(std::count(from_drawn.out.begin(), from_drawn.out.end(), '\n'), 3000);
  EXPECT_EQ(run_somatlas({"verify", "--store", drawn}).exit_code, 0);
}

TEST(SynthProgram, SaysWhatAStoreHadAlready) {
  const ScratchDirectory scratch;
  const std::string store = scratch.path() / "store";
  const auto synth = [&](const char* articles) {
    return run_somatlas({"synth", "--articles", articles, "--per-file", "100", "--store", store});
  };
  EXPECT_NE(synth("200").err.find(", 2 files, into " + store + ".\n"), std::string::npos);
  const Ending more = synth("300");
  EXPECT_NE(more.err.find(", 3 files, into " + store + "; 2 of the files were there already.\n"),
            std::string::npos)
      << more.err;
}

TEST(SynthProgram, FilesAreTheSameAtAnyThreadCount) {
  const ScratchDirectory scratch;
  for (const char* threads : {"1", "2"}) {
    const Ending ending =
        run_somatlas({"synth", "--articles", "900", "--per-file", "300", "--updates", "2",
                      "--threads", threads, "--xml", (scratch.path() / threads).string()});
    ASSERT_EQ(ending.exit_code, 0) << ending.err;
  }
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(scratch.path() / "1")) {
    EXPECT_EQ(read_file(entry.path()), read_file(scratch.path() / "2" / entry.path().filename()));
    ++files;
  }
  EXPECT_EQ(files, 11U);  // three baseline files, two updates, five companions, the table
}

TEST(SynthProgram, WrongArgumentsAreExitCode2) {
  const ScratchDirectory scratch;
  const std::string store = scratch.path() / "store";
  const std::string xml = scratch.path() / "xml";
  EXPECT_EQ(run_somatlas({"synth", "--articles", "10"}).exit_code, 2);
  EXPECT_EQ(run_somatlas({"synth", "--store", store}).exit_code, 2);
  EXPECT_EQ(run_somatlas({"synth", "--articles", "0", "--store", store}).exit_code, 2);
  EXPECT_EQ(run_somatlas({"synth", "--articles", "9", "--store", store, "--xml", xml}).exit_code,
            2);
  EXPECT_EQ(
      run_somatlas({"synth", "--articles", "9", "--store", store, "--updates", "1"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(store));
  EXPECT_FALSE(fs::exists(xml));
}

TEST(SynthProgram, RefusesADirectoryWithSomethingInIt) {
  const ScratchDirectory scratch;
  std::ofstream(scratch.path() / "mine.txt") << "precious";
  const Ending ending =
      run_somatlas({"synth", "--articles", "10", "--xml", scratch.path().string()});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_EQ(ending.out, "");
  EXPECT_NE(ending.err.find("is not empty"), std::string::npos) << ending.err;
  EXPECT_EQ(read_file(scratch.path() / "mine.txt"), "precious");
}

}  // namespace
}  // namespace somatlas::program_test
