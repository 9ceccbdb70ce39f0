// SIGINT and SIGTERM: a clean end with the signal's exit code, and a second run that goes on.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

// Files that take long enough to be interrupted while some are done and some are not.
void write_corpus(const ScratchDirectory& directory, unsigned files, unsigned records) {
  unsigned pmid = 0;
  for (unsigned file = 1; file <= files; ++file) {
    std::string text = "<PubmedArticleSet>\n";
    for (unsigned record = 0; record < records; ++record) {
      text += "<PubmedArticle><MedlineCitation><PMID>" + std::to_string(++pmid) +
              "</PMID><MeshHeadingList><MeshHeading><DescriptorName UI=\"D006801\"/>"
              "</MeshHeading></MeshHeadingList></MedlineCitation></PubmedArticle>\n";
    }
    write_file(directory / ("x" + std::to_string(file) + ".xml"), text + "</PubmedArticleSet>\n");
  }
}

class SignalTest : public testing::TestWithParam<int> {};

TEST_P(SignalTest, EndsCleanlyAndTheSameCommandGoesOn) {
  const ScratchDirectory corpus;
  const ScratchDirectory scratch;
  write_corpus(corpus, 60, 4000);
  const std::vector<std::string> command{"ingest", "--store",    scratch / "store", "--threads",
                                         "1",      "--progress", corpus.path()};
  RunningProgram program(command);
  ASSERT_TRUE(program.wait_for_error_text("committed x1.xml\n"));
  program.send(GetParam());
  const Ending ending = program.wait();
  EXPECT_EQ(ending.exit_code, 128 + GetParam());
  EXPECT_NE(ending.err.find("Stopped when asked to"), std::string::npos) << ending.err;
  const auto committed = [](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("committed ", at)) != std::string::npos; ++at) {
      ++count;
    }
    return count;
  };
  const std::size_t first = committed(ending.err);
  EXPECT_LT(first, 60U);
  EXPECT_EQ(run_somatlas({"verify", "--store", scratch / "store"}).exit_code, 0);

  const Ending again = run_somatlas(command);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(first + committed(again.err), 60U);
  const std::string dump = run_somatlas({"dump", "--store", scratch / "store"}).out;
  EXPECT_EQ(std::ranges::count(dump, '\n'), 60 * 4000);
}

INSTANTIATE_TEST_SUITE_P(All, SignalTest, testing::Values(SIGINT, SIGTERM));

}  // namespace
}  // namespace somatlas::program_test
