// somatlas import as a user runs it: other data than MEDLINE through the whole program.
#include <gtest/gtest.h>

#include <string>

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
  EXPECT_EQ(ending.err, "somatlas: " + scratch / "rows" +
                            ":2: the value 0.5 is not 1; rows are binary, leave out what is 0\n");
  ending = run_somatlas({"import", "--store", scratch / "s", "--format", "mtx", "--dialect",
                         "somoclu", scratch / "rows"});
  EXPECT_EQ(ending.exit_code, 2);
}

}  // namespace
}  // namespace somatlas::program_test
