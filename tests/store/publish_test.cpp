// A finished directory takes its name whole or not at all, and what is removed goes alone.
#include "store/publish.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "store/store_error.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Publish, TakesTheNameOnlyWhereNothingHasIt) {
  const TemporaryDirectory directory;
  const std::string partial = directory / "a.partial";
  const std::string target = directory / "a";
  fs::create_directories(partial + "/deep");
  write_file(partial + "/deep/file", "new");
  publish_directory(partial, target + "/", false);
  EXPECT_EQ(read_text(target + "/deep/file"), "new");
  EXPECT_FALSE(fs::exists(partial));

  fs::create_directories(partial);
  write_file(partial + "/file", "newer");
  const std::string message = store_error_of([&] { publish_directory(partial, target, false); });
  EXPECT_NE(message.find("exists already"), std::string::npos) << message;
  EXPECT_EQ(read_text(target + "/deep/file"), "new");
  EXPECT_EQ(read_text(partial + "/file"), "newer");

  publish_directory(partial, target, true);
  EXPECT_EQ(read_text(target + "/file"), "newer");
  EXPECT_FALSE(fs::exists(target + "/deep"));
  EXPECT_FALSE(fs::exists(partial));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);

  EXPECT_THROW(publish_directory(directory / "missing", directory / "b", true), StoreError);
  EXPECT_THROW(publish_directory(target, directory / "no/such/parent", false), StoreError);
  EXPECT_EQ(read_text(target + "/file"), "newer");
}

TEST(Publish, OverwritesNothingWhereNothingIs) {
  const TemporaryDirectory directory;
  fs::create_directories(directory / "p");
  publish_directory(directory / "p", directory / "t", true);
  EXPECT_TRUE(fs::is_directory(directory / "t"));
}

TEST(Publish, RemovesADirectoryButNotWhatItLinksTo) {
  const TemporaryDirectory directory;
  fs::create_directories(directory / "gone/deep");
  fs::create_directories(directory / "kept");
  write_file(directory / "kept/file", "kept");
  fs::create_directory_symlink(directory / "kept", directory / "gone/link");
  remove_directory(directory / "gone");
  EXPECT_FALSE(fs::exists(directory / "gone"));
  EXPECT_EQ(read_text(directory / "kept/file"), "kept");
  EXPECT_NO_THROW(remove_directory(directory / "gone"));
}

}  // namespace
}  // namespace somatlas::store
