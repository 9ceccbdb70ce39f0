// The test program's main: GoogleTest, or a child that its tests start.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "tests/store/child_process.h"

int main(int argc, char** argv) {
  if (argc == 5 && std::strcmp(argv[1], somatlas::store::commit_files_argument) == 0)
    return somatlas::store::commit_files(argv[2], std::strtoull(argv[3], nullptr, 10),
                                         std::strtoull(argv[4], nullptr, 10));
  if (argc == 5 && std::strcmp(argv[1], somatlas::store::read_changed_tables_argument) == 0)
    return somatlas::store::read_changed_tables(argv[2], std::strtoull(argv[3], nullptr, 10),
                                                std::strtoull(argv[4], nullptr, 10));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
