// Opening a store: what is said of a place where none is or can be, and what openings leave behind.
// Always holds: the file system's refusals are told with their reason and never called damage.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "store/store.h"
#include "tests/rights.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

namespace fs = std::filesystem;
using Access = Store::Access;

TEST(Opening, SaysWhatIsWrongWithADirectory) {
  const TemporaryDirectory directory;
  const std::string missing = directory / "missing";
  for (const Access access : {Access::read, Access::write}) {
    const std::string message = store_error_of([&] { (void)Store::open(missing, access); });
    EXPECT_NE(message.find("there is no store at '" + missing), std::string::npos) << message;
    EXPECT_FALSE(fs::exists(missing));
  }
  fs::create_directory(directory / "other");
  std::ofstream(directory / "other/file.txt") << "something else";
  std::ofstream(directory / "file") << "a file";
  for (const Access access : {Access::read, Access::write, Access::create})
    for (const char* name : {"other", "file"}) {
      const std::string message =
          store_error_of([&] { (void)Store::open(directory / name, access); });
      EXPECT_NE(message.find("is not a somatlas store"), std::string::npos) << message;
    }
  EXPECT_EQ(std::distance(fs::directory_iterator(directory / "other"), {}), 1);
  fs::create_directory(directory / "empty");
  EXPECT_NO_THROW((void)Store::open(directory / "empty", Access::create));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 3);  // nothing left over
}

TEST(Opening, AStoreThatLostItsCurrentFileIsDamagedAndNoOtherThing) {
  const TemporaryDirectory directory;
  const std::string path = directory / "store";
  (void)Store::open(path, Access::create);
  fs::remove(path + "/CURRENT");
  for (const Access access : {Access::read, Access::write, Access::create})
    EXPECT_EQ(store_error_of([&] { (void)Store::open(path, access); }),
              "the store '" + path +
                  "' lacks its file CURRENT, so it is damaged: restore a copy, or make it anew "
                  "elsewhere with somatlas ingest");
}

/// This process with the rights of nobody in particular; root passes over every right.
class WithoutRights {
 public:
  WithoutRights() : was_root_(::geteuid() == 0) { taken_ = !was_root_ || ::seteuid(65'534) == 0; }
  ~WithoutRights() { EXPECT_TRUE(!was_root_ || ::seteuid(0) == 0); }
  WithoutRights(const WithoutRights&) = delete;
  WithoutRights& operator=(const WithoutRights&) = delete;
  [[nodiscard]] bool taken() const { return taken_; }

 private:
  bool was_root_;
  bool taken_ = false;
};

std::string opening_error(const std::string& path, Access access) {
  const std::string message = store_error_of([&] { (void)Store::open(path, access); });
  EXPECT_EQ(message.find("damaged"), std::string::npos) << message;
  EXPECT_EQ(message.find(".new-"), std::string::npos) << message;
  EXPECT_NE(path.empty() ? 0 : message.find("'" + path + "'"), std::string::npos) << message;
  return message;
}

TEST(Opening, SaysWhyItCannotBeMade) {
  const TemporaryDirectory directory;
  const std::string no_folder =
      ": its folder cannot be created (No such file or directory): name "
      "a place where folders can be made";
  // Where the kernel makes every name.
  EXPECT_EQ(opening_error("/proc/q", Access::create),
            "cannot make the store '/proc/q'" + no_folder);
  EXPECT_NE(opening_error("/proc/q/r", Access::create)
                .find("the folder '/proc/q' cannot be created (No such file or directory)"),
            std::string::npos);
  std::ofstream(directory / "file") << "a file";
  EXPECT_EQ(opening_error(directory / "file/store", Access::create),
            "cannot make the store '" + directory / "file/store" + "': the folder '" +
                directory / "file" +
                "' cannot be created (Not a directory): name a place where folders can be made");
  EXPECT_NE(opening_error(directory / "file/store", Access::read).find("there is no store at"),
            std::string::npos);
  fs::create_symlink(directory / "nowhere", directory / "link");
  EXPECT_NE(opening_error(directory / "link", Access::create).find("a link to what is not there"),
            std::string::npos);
  fs::create_symlink("circle", directory / "circle");
  const std::string long_name = directory / std::string(300, 'x');
  for (const Access access : {Access::read, Access::write, Access::create}) {
    EXPECT_NE(opening_error(directory / "circle", access)
                  .find("cannot be looked at (Too many levels of symbolic links)"),
              std::string::npos);
    EXPECT_NE(opening_error(long_name, access).find("cannot be looked at (File name too long)"),
              std::string::npos);
    EXPECT_EQ(opening_error("", access), "the name of the store is empty: name a directory");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 3);  // nothing left over
}

TEST(Opening, SaysWhichRightItLacks) {
  const TemporaryDirectory directory;
  if (!others_may_reach(directory.path())) {
    GTEST_SKIP() << "the folder for temporary files (TMPDIR) is barred to other users";
  }
  fs::permissions(directory.path(), fs::perms(0755));
  fs::create_directory(directory / "barred");
  (void)Store::open(directory / "store", Access::create);
  (void)Store::open(directory / "barred/store", Access::create);
  fs::create_directory(directory / "unreadable");
  fs::permissions(directory / "store", fs::perms(0555));
  fs::permissions(directory / "barred", fs::perms(0));
  fs::permissions(directory / "unreadable", fs::perms(0));
  fs::permissions(directory.path(), fs::perms(0555));
  {
    const WithoutRights without;
    if (!without.taken())
      GTEST_SKIP() << "this process may not give up its rights";
    const std::string denied = "(Permission denied)";
    const std::string cannot_make = opening_error(directory / "new", Access::create);
    EXPECT_NE(cannot_make.find("its folder cannot be created " + denied), std::string::npos)
        << cannot_make;
    EXPECT_NE(opening_error(directory / "new/er", Access::create)
                  .find("the folder '" + directory / "new" + "' cannot be created " + denied),
              std::string::npos);
    EXPECT_NO_THROW((void)Store::open(directory / "store", Access::read));
    for (const Access access : {Access::write, Access::create})
      EXPECT_EQ(opening_error(directory / "store", access),
                "the store '" + directory / "store" + "' cannot be written " + denied +
                    ": see who owns it and which rights it has");
    for (const Access access : {Access::read, Access::write, Access::create}) {
      EXPECT_NE(
          opening_error(directory / "barred/store", access).find("cannot be looked at " + denied),
          std::string::npos);
      EXPECT_NE(opening_error(directory / "unreadable", access).find("cannot be read " + denied),
                std::string::npos);
    }
  }
  fs::permissions(directory / "store", fs::perms(0755));
  fs::permissions(directory / "store/CURRENT", fs::perms(0));
  {
    const WithoutRights without;
    EXPECT_NE(opening_error(directory / "store", Access::read).find("Permission denied"),
              std::string::npos);
  }
  for (const char* name : {".", "store", "barred", "unreadable"})
    fs::permissions(directory / name, fs::perms(0755));
}

TEST(Opening, GathersNoFilesFromOpeningToOpening) {
  Random random(test_seed());
  const TemporaryDirectory directory;
  const std::string path = directory / "store";
  const auto files = [&](const std::string& extension) {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path))
      count +=
          entry.is_regular_file() && (extension.empty() || entry.path().extension() == extension);
    return count;
  };
  std::size_t after_two = 0;
  for (std::uint64_t number = 1; number <= 10; ++number) {
    {
      const auto store = Store::open(path, Access::create);
      const PlainFile file = random_file(random, baseline_key(number), 2, 20);
      store->commit(deltas_of(file), entry_of(file));
      store->compact();
    }
    (void)Store::open(path, Access::write);
    EXPECT_LE(files(".log"), 1U) << number;
    after_two = number == 2 ? files("") : after_two;
  }
  EXPECT_LE(files(""), after_two + 1);
  const auto store = Store::open(path, Access::read);
  EXPECT_EQ(store->ledger().size(), 10U);
  store->verify([](const Fault& fault) { ADD_FAILURE() << fault.where << ": " << fault.what; });
}

TEST(Opening, AStoreMadeToBeFilledGoesWithItsFoldersWhereItWasNot) {
  const TemporaryDirectory directory;
  const auto entries = [&] {
    return std::distance(fs::recursive_directory_iterator(directory.path()), {});
  };
  const std::string deep = directory / "a/b/store";
  {
    const auto store = Store::open(deep, Access::fill);
    EXPECT_TRUE(store->ledger().empty());
  }
  EXPECT_EQ(entries(), 0);
  (void)Store::open(directory / "b/./c/./store", Access::fill);
  EXPECT_EQ(entries(), 0);
  fs::create_directories(directory / "a/store");
  fs::permissions(directory / "a/store", fs::perms::owner_all);
  (void)Store::open(directory / "a/store", Access::fill);
  EXPECT_EQ(fs::status(directory / "a/store").permissions(), fs::perms::owner_all);
  EXPECT_EQ(entries(), 2);  // an empty folder was there and is again
  EXPECT_TRUE(fs::is_empty(directory / "a/store"));
  (void)Store::open(directory / "a/c/store", Access::fill);
  EXPECT_EQ(entries(), 2);
  const DescriptorEntry humans{descriptor_code(6801, 6), "Humans", {}};
  Store::open(deep, Access::fill)->put_descriptors({&humans, 1});
  (void)Store::open(deep, Access::fill);
  EXPECT_EQ(Store::open(deep, Access::read)->descriptors().size(), 1U);
  // What was there, however empty, is nobody's to take away.
  const std::string empty = directory / "empty";
  (void)Store::open(empty, Access::create);
  (void)Store::open(empty, Access::fill);
  EXPECT_NO_THROW((void)Store::open(empty, Access::read));
}

}  // namespace
}  // namespace somatlas::store
