// Outputs appear whole under their name or not at all: existing ones, failing disks, failing work.
#include "tools/export/pending_output.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/formats/scratch_folder.h"

namespace somatlas::exports {
namespace {

using Names = std::vector<std::string>;
constexpr std::array<std::string_view, 2> two_names{"a.txt", "b.txt"};

// Files of this process may not grow past a size while it lives.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    old_action_ = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, old_action_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
  void (*old_action_)(int) = nullptr;
};

std::string message_of(const auto& work) {
  try {
    work();
  } catch (const OutputFileError& error) {
    return error.what();
  }
  return "no error";
}

TEST(PendingFile, AppearsAtTheCommitAndNotBefore) {
  const ScratchFolder folder;
  const std::string path = folder / "out.csv";
  {
    PendingFile output(path, Existing::refuse);
    output.file().write("one\n");
    EXPECT_FALSE(std::filesystem::exists(path));
    output.commit();
  }
  EXPECT_EQ(text_of(path), "one\n");
  EXPECT_EQ(folder.names(), Names{"out.csv"});
}

TEST(PendingFile, LeavesNothingWithoutACommit) {
  const ScratchFolder folder;
  { PendingFile(folder / "out.csv", Existing::refuse).file().write("one\n"); }
  EXPECT_EQ(folder.names(), Names{});
}

TEST(PendingFile, RefusesAnExistingNameAndKeepsIt) {
  const ScratchFolder folder;
  const std::string path = folder / "out.csv";
  write_text(path, "mine");
  EXPECT_EQ(message_of([&] { PendingFile(path, Existing::refuse); }),
            path + ": exists already; choose another name or give --overwrite");
  EXPECT_EQ(text_of(path), "mine");
  EXPECT_EQ(folder.names(), Names{"out.csv"});
}

TEST(PendingFile, RefusesANameThatAppearedMeanwhile) {
  const ScratchFolder folder;
  const std::string path = folder / "out.csv";
  {
    PendingFile output(path, Existing::refuse);
    output.file().write("one\n");
    write_text(path, "mine");
    EXPECT_THROW(output.commit(), OutputFileError);
  }
  EXPECT_EQ(text_of(path), "mine");
  EXPECT_EQ(folder.names(), Names{"out.csv"});
}

TEST(PendingFile, ReplacesWhenAskedTo) {
  const ScratchFolder folder;
  const std::string path = folder / "out.csv";
  write_text(path, "old");
  PendingFile output(path, Existing::replace);
  output.file().write("new");
  EXPECT_EQ(text_of(path), "old");
  output.commit();
  EXPECT_EQ(text_of(path), "new");
}

TEST(PendingFile, NeverReplacesADirectoryOrADevice) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "dir");
  EXPECT_THROW(PendingFile(folder / "dir", Existing::replace), OutputFileError);
  EXPECT_THROW(PendingFile("/dev/full", Existing::replace), OutputFileError);
  struct stat status {};
  ASSERT_EQ(::stat("/dev/full", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST(PendingFile, SaysWhenItsFolderIsMissing) {
  const ScratchFolder folder;
  const std::string path = folder / "no/out.csv";
  EXPECT_EQ(message_of([&] { PendingFile(path, Existing::refuse); }),
            path + ": cannot be created: No such file or directory; make its folder first");
}

// Sizes round the buffer's, so that the limit is met in write() and in close().
TEST(PendingFile, LeavesTheOldFileWhereTheNewOneDoesNotFit) {
  const ScratchFolder folder;
  const std::string path = folder / "out.csv";
  write_text(path, "old");
  for (const std::size_t size : {100U, 300'000U}) {
    const SmallFiles limit(50);
    const std::string message = message_of([&] {
      PendingFile output(path, Existing::replace);
      output.file().write(std::string(size, 'x'));
      output.commit();
    });
    EXPECT_EQ(message, path +
                           ": cannot be written: File too large; give it more room and export "
                           "again");
    EXPECT_EQ(folder.names(), Names{"out.csv"});
    EXPECT_EQ(text_of(path), "old");
  }
}

TEST(NewFile, KeepsTheOrderOfSmallAndLargePieces) {
  const ScratchFolder folder;
  const std::string path = folder / "out";
  std::string expected;
  NewFile file(path, path);
  for (std::size_t size = 1; size < 2'000'000; size *= 3) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    file.write(piece);
    expected += piece;
  }
  file.close();
  EXPECT_EQ(text_of(path), expected);
}

void fill(PendingDirectory& directory, const std::string& text) {
  for (const std::string_view name : two_names) {
    NewFile file(directory.path_of(name), directory.shown(name));
    file.write(text);
    file.close();
  }
}

TEST(PendingDirectory, AppearsAtTheCommitAndNotBefore) {
  const ScratchFolder folder;
  PendingDirectory directory(folder / "out/", two_names, Existing::refuse);
  fill(directory, "one");
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  directory.commit();
  EXPECT_EQ(folder.names(), Names{"out"});
  EXPECT_EQ(text_of(folder / "out/a.txt"), "one");
  EXPECT_EQ(text_of(folder / "out/b.txt"), "one");
}

TEST(PendingDirectory, LeavesNothingWithoutACommit) {
  const ScratchFolder folder;
  {
    PendingDirectory directory(folder / "out", two_names, Existing::refuse);
    fill(directory, "one");
  }
  EXPECT_EQ(folder.names(), Names{});
}

TEST(PendingDirectory, RefusesAnExistingNameEvenAnEmptyOne) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "out");
  EXPECT_THROW(PendingDirectory(folder / "out", two_names, Existing::refuse), OutputFileError);
  EXPECT_EQ(folder.names(), Names{"out"});
}

TEST(PendingDirectory, ReplacesAnEarlierExportInOneStep) {
  const ScratchFolder folder;
  {
    PendingDirectory first(folder / "out", two_names, Existing::refuse);
    fill(first, "old");
    first.commit();
  }
  PendingDirectory second(folder / "out", two_names, Existing::replace);
  fill(second, "new");
  EXPECT_EQ(text_of(folder / "out/a.txt"), "old");
  second.commit();
  EXPECT_EQ(text_of(folder / "out/a.txt"), "new");
  EXPECT_EQ(folder.names(), Names{"out"});
}

// Of files of one kind in folders of any depth.
constexpr std::array<std::string_view, 2> with_tiles{"a.txt", "tile/*.png"};

void fill_tiles(PendingDirectory& directory, const std::string& text) {
  directory.make_folder("tile/1/2");
  for (const std::string name : {"a.txt", "tile/0.png", "tile/1/2/3.png"}) {
    NewFile file(directory.path_of(name), directory.shown(name));
    file.write(text);
    file.close(Sync::with_directory);
  }
  directory.commit();
}

TEST(PendingDirectory, HoldsFoldersOfFilesAndReplacesThem) {
  const ScratchFolder folder;
  for (const std::string text : {"old", "new"}) {
    PendingDirectory directory(folder / "out", with_tiles,
                               text == "old" ? Existing::refuse : Existing::replace);
    fill_tiles(directory, text);
    EXPECT_EQ(text_of(folder / "out/tile/1/2/3.png"), text);
    EXPECT_EQ(text_of(folder / "out/a.txt"), text);
    EXPECT_EQ(folder.names(), Names{"out"});
  }
}

TEST(PendingDirectory, NeverReplacesFoldersThatHoldAnythingElse) {
  const ScratchFolder folder;
  {
    PendingDirectory first(folder / "out", with_tiles, Existing::refuse);
    fill_tiles(first, "old");
  }
  const auto refusal = [&] {
    return message_of([&] { PendingDirectory(folder / "out", with_tiles, Existing::replace); });
  };
  EXPECT_EQ(refusal(), "no error");
  write_text(folder / "out/tile/1/thesis.tex", "mine");
  EXPECT_NE(refusal().find("holds tile"), std::string::npos) << refusal();
  std::filesystem::remove(folder / "out/tile/1/thesis.tex");
  std::filesystem::create_symlink("/etc", folder / "out/tile/link.png");
  EXPECT_NE(refusal().find("holds tile"), std::string::npos) << refusal();
  EXPECT_EQ(text_of(folder / "out/tile/1/2/3.png"), "old");
  EXPECT_EQ(folder.names(), Names{"out"});
}

TEST(PendingDirectory, NeverReplacesADirectoryThatHoldsAnythingElse) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "out");
  write_text(folder / "out/a.txt", "export");
  write_text(folder / "out/thesis.tex", "mine");
  const std::string message =
      message_of([&] { PendingDirectory(folder / "out", two_names, Existing::replace); });
  EXPECT_NE(message.find("holds thesis.tex"), std::string::npos) << message;
  EXPECT_EQ(text_of(folder / "out/thesis.tex"), "mine");
  EXPECT_EQ(folder.names(), Names{"out"});
}

TEST(PendingOutput, RemovesWhatKilledExportsOfThatNameLeft) {
  const ScratchFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::string gone = ".partial-" + std::to_string(child);
  const std::string living = ".partial-" + std::to_string(::getppid());
  Names kept{"out" + living + "-0", "out.partial-",          "out.partial-mine",   "out" + gone,
             "out" + gone + "-",    "out" + gone + "-0.txt", "other" + gone + "-0"};
  for (const std::string& name : kept) {
    write_text(folder / name, "mine");
  }
  std::ranges::sort(kept);
  for (const bool directory : {false, true}) {
    write_text(folder / ("out" + gone + "-0"), "half of it");
    std::filesystem::create_directories(folder / ("out" + gone + "-12/planes"));
    EXPECT_EQ(folder.names().size(), kept.size() + 2);
    if (directory) {
      PendingDirectory(folder / "out", two_names, Existing::refuse);
    } else {
      PendingFile(folder / "out", Existing::refuse);
    }
    EXPECT_EQ(folder.names(), kept);
  }
}

}  // namespace
}  // namespace somatlas::exports
