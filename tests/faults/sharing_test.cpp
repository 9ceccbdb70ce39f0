// A store that several processes use, or that may not be written: readers all see the same and
// change nothing, a second writer is turned away and the first unharmed.
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "tests/faults/training_fixture.h"
#include "tests/rights.h"

namespace somatlas::fault_test {
namespace {

namespace fs = std::filesystem;

class Sharing : public TrainingFaultTest {
 protected:
  [[nodiscard]] std::string store() const { return scratch_ / "whole"; }

  /// Every file below a folder, with its bytes.
  static std::map<std::string, std::string> content_of(const std::string& folder) {
    std::map<std::string, std::string> content;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      content[entry.path()] =
          entry.is_regular_file() ? program_test::read_file(entry.path()) : std::string();
    }
    return content;
  }

  /// What can be done with a store that may only be read, by a process in those surroundings.
  void expect_readable(const std::string& store, const std::string& atlas,
                       const Surroundings& surroundings, const std::string& reason) const {
    const auto before = content_of(store);
    EXPECT_EQ(run_somatlas({"dump", "--all", "--store", store}, surroundings).out, expected_dump_);
    for (const char* command : {"info", "verify"}) {
      const Ending ending = run_somatlas({command, "--store", store}, surroundings);
      EXPECT_EQ(ending.exit_code, 0) << ending.err;
    }
    std::vector<std::string> words = train(atlas);
    words[2] = store;
    const Ending trained = run_somatlas(words, surroundings);
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
    EXPECT_TRUE(pipeline::read_content(atlas) == expected_);
    const Ending refused = run_somatlas(command(store), surroundings);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_EQ(refused.out, "");
    EXPECT_TRUE(refused.err.starts_with("somatlas: the store '" + store + "' cannot be written (" +
                                        reason + "): "))
        << refused.err;
    EXPECT_EQ(refused.err.find('\n'), refused.err.size() - 1) << refused.err;
    EXPECT_TRUE(content_of(store) == before);
  }
};

TEST_F(Sharing, ReadersAtOnceSeeTheSameAndChangeNothing) {
  const auto before = content_of(store());
  std::vector<std::unique_ptr<RunningProgram>> running;
  for (int i = 0; i < 3; ++i) {
    for (std::vector<std::string> words :
         {std::vector<std::string>{"dump", "--all", "--store", store()},
          {"verify", "--store", store()},
          {"info", "--store", store()},
          train(scratch_ / ("reader" + std::to_string(i)))}) {
      running.push_back(std::make_unique<RunningProgram>(words));
    }
  }
  for (std::size_t i = 0; i < running.size(); ++i) {
    const Ending ending = running[i]->wait();
    EXPECT_EQ(ending.exit_code, 0) << ending.err;
    if (i % 4 == 0) {
      EXPECT_TRUE(ending.out == expected_dump_);
    }
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(pipeline::read_content(scratch_ / ("reader" + std::to_string(i))) == expected_);
  }
  EXPECT_TRUE(content_of(store()) == before);
}

// The first is halted in the middle of its work, as if it took long.
TEST_F(Sharing, ASecondIngestIsTurnedAwayAndTheFirstUnharmed) {
  const std::string shared = scratch_ / "shared";
  const auto ends = std::ranges::count_if(
      trace_, [](const Call& call) { return call.name == "end" && call.path.ends_with(".xml"); });
  RunningProgram first(command(shared), with({.root = {},
                                              .calls = " end ",
                                              .path = ".xml",
                                              .number = static_cast<std::size_t>(ends - 1),
                                              .signal = SIGSTOP}));
  first.wait_until_halted();
  const std::set<std::uint32_t> taken = check(shared, {});
  EXPECT_FALSE(taken.empty());
  EXPECT_LT(taken.size(), files_.size());
  const auto before = content_of(shared);
  for (const auto& words : {command(shared), {"ingest", "--store", shared, scratch_ / "trace"}}) {
    const Ending second = run_somatlas(words);
    EXPECT_EQ(second.exit_code, 1);
    EXPECT_EQ(second.out, "");
    EXPECT_EQ(second.err, "somatlas: the store '" + shared +
                              "' is in use by another process that writes it: wait until that "
                              "ends, then run the same command again\n");
  }
  for (const char* command : {"info", "verify", "dump"}) {
    EXPECT_EQ(run_somatlas({command, "--store", shared}).exit_code, 0) << command;
  }
  EXPECT_TRUE(content_of(shared) == before);
  first.send(SIGCONT);
  const Ending ending = first.wait();
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  EXPECT_EQ(check(shared, committed(ending)).size(), files_.size());
  finish(shared);
}

TEST_F(Sharing, AStoreOfSomebodyElseIsReadAndNotWritten) {
  if (!others_may_reach(scratch_.path())) {
    GTEST_SKIP() << "the folder for temporary files (TMPDIR) is barred to other users";
  }
  fs::permissions(scratch_.path(), fs::perms(0755));
  fs::copy_file(SOMATLAS_PROGRAM, scratch_ / "somatlas");
  fs::create_directory(scratch_ / "atlases");
  fs::permissions(scratch_ / "atlases", fs::perms(0777));
  Surroundings nobody;
  if (::geteuid() == 0) {
    nobody.program = scratch_ / "somatlas";
    nobody.wrapper = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  }
  fs::permissions(store(), fs::perms(0555));
  expect_readable(store(), scratch_ / "atlases/atlas", nobody, "Permission denied");
  fs::permissions(store(), fs::perms(0755));
}

TEST_F(Sharing, AStoreOnADiskMountedForReadingIsReadAndNotWritten) {
  const std::string mount = scratch_ / "mount";
  fs::create_directory(mount);
  if (::mount(store().c_str(), mount.c_str(), nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "this process may not mount a file system";
  }
  const bool mounted =
      ::mount(nullptr, mount.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  if (mounted) {
    expect_readable(mount, scratch_ / "second", {}, "Read-only file system");
  }
  ::umount2(mount.c_str(), MNT_DETACH);
  EXPECT_TRUE(mounted);
}

}  // namespace
}  // namespace somatlas::fault_test
