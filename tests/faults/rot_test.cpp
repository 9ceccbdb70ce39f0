// One byte flipped anywhere in a store, an atlas or a checkpoint: what the program prints of it
// then is what it printed before, or it says what is wrong, and then `verify` does too.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

#include "store/atlas.h"
#include "tests/faults/training_fixture.h"
#include "tests/repetitions.h"

namespace somatlas::fault_test {
namespace {

namespace fs = std::filesystem;

class Rot : public TrainingFaultTest {
 protected:
  /// A look at the copy: what it printed, and how it ended.
  using Look = std::function<Ending(const std::string& copy)>;

  void rot(const std::string& whole, const std::string& copy, const std::string& kind, int flips,
           const std::vector<Look>& looks) {
    const auto renew = [&] {
      fs::remove_all(copy);
      fs::copy(whole, copy, fs::copy_options::recursive);
    };
    renew();
    std::vector<std::string> expected;
    for (const Look& look : looks) {
      const Ending ending = look(copy);
      ASSERT_EQ(ending.exit_code, 0) << ending.err;
      expected.push_back(ending.out);
    }
    std::vector<std::string> tables;
    std::vector<std::string> others;
    for (const auto& entry : fs::directory_iterator(whole)) {
      if (entry.is_regular_file() && entry.file_size() > 0) {
        (entry.path().extension() == ".sst" ? tables : others).push_back(entry.path().filename());
      }
    }
    for (int i = 0; i < flips && !HasFailure(); ++i) {
      renew();
      const auto& files = i % 4 == 0 ? others : tables;
      const std::string where = flip(copy + "/" + files[random_() % files.size()]);
      const Ending verified = run_somatlas({"verify", "--" + kind, copy});
      ASSERT_TRUE(verified.exit_code == 0 || verified.exit_code == 1) << where << verified.err;
      const bool found = verified.exit_code != 0;
      if (found) {
        EXPECT_NE((verified.out + verified.err).find(copy), std::string::npos) << verified.err;
      }
      bool refused = false;
      for (std::size_t l = 0; l < looks.size(); ++l) {
        const Ending ending = looks[l](copy);
        if (ending.exit_code == 0) {
          EXPECT_TRUE(ending.out == expected[l]) << "a silent change: " << where;
        } else {
          refused = true;
          EXPECT_EQ(ending.exit_code, 1) << where << ending.err;
          EXPECT_NE(ending.err.find(copy), std::string::npos) << where << ending.err;
        }
      }
      EXPECT_TRUE(found || !refused) << "verify missed " << where;
      EXPECT_TRUE(found || !where.ends_with(".sst")) << "verify missed " << where;
      ++outcomes_[found ? refused ? "found, and refused when read" : "found, read unharmed"
                        : "harmless"];
    }
    for (const auto& [outcome, count] : outcomes_) {
      std::cout << count << " " << outcome << "\n";
    }
  }

  /// Changes a byte; says which.
  std::string flip(const std::string& path) {
    const std::uint64_t at = random_() % fs::file_size(path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get() ^ static_cast<int>(1 + random_() % 255);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte));
    return "byte " + std::to_string(at) + " of " + path;
  }

  /// A command that takes the copy behind its last word.
  static Look prints(std::vector<std::string> words) {
    return [words](const std::string& copy) {
      std::vector<std::string> command = words;
      command.push_back(copy);
      return run_somatlas(command);
    };
  }

  std::map<std::string, int> outcomes_;
};

TEST_F(Rot, InAStoreNeverChangesADump) {
  const std::string table = scratch_ / "table.tsv";
  program_test::write_file(table, "ui\tname\ttree_numbers\nD006801\tHumans\tB01.050\n");
  ASSERT_EQ(run_somatlas({"ingest", "--store", scratch_ / "whole", "--mesh", table}).exit_code, 0);
  rot(scratch_ / "whole", scratch_ / "copy", "store", repetitions(80, 700),
      {prints({"dump", "--all", "--store"}), prints({"dump", "--descriptors", "--store"})});
}

TEST_F(Rot, InAnAtlasNeverChangesAMapOrAnExport) {
  std::string pmids;
  std::istringstream lines(expected_dump_);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\tD") != std::string::npos) {
      pmids += line.substr(0, line.find('\t')) + "\n";
    }
  }
  program_test::write_file(scratch_ / "pmids.txt", pmids);
  const std::string input = scratch_ / "pmids.txt";
  const std::string folder = scratch_ / "exported";
  const Look maps = [&](const std::string& copy) {
    return run_somatlas({"map", "--atlas", copy, input});
  };
  const Look exports = [&](const std::string& copy) {
    fs::remove_all(folder);
    Ending ending = run_somatlas({"export", "--atlas", copy, "--format", "npy", folder});
    std::map<std::string, std::string> files;
    fs::create_directories(folder);
    for (const auto& entry : fs::directory_iterator(folder)) {
      files[entry.path().filename()] = program_test::read_file(entry.path());
    }
    for (const auto& [name, bytes] : files) {
      ending.out += name + bytes;
    }
    return ending;
  };
  rot(scratch_ / "atlas", scratch_ / "copy", "atlas", repetitions(60, 400), {maps, exports});
}

// Gone on with, a damaged checkpoint ends in the same atlas or in a sentence.
TEST_F(Rot, InACheckpointNeverChangesTheAtlas) {
  const std::string begun = scratch_ / "begun";
  const std::size_t half = training_trace_.size() / 2;
  ASSERT_EQ(run_somatlas(train(begun), with({.root = {}, .number = half})).exit_code,
            128 + SIGKILL);
  // Opened for writing, it is rid of what the killed run left that nothing refers to.
  ASSERT_NO_THROW((void)store::Atlas::open(begun + ".partial", store::Atlas::Access::write));
  const std::string copy = scratch_ / "copy.partial";
  const Look goes_on = [&](const std::string&) {
    fs::remove_all(scratch_ / "copy");
    Ending ending = run_somatlas(train(scratch_ / "copy"));
    ending.out.clear();
    if (ending.exit_code == 0) {
      EXPECT_TRUE(pipeline::read_content(scratch_ / "copy") == expected_);
    }
    return ending;
  };
  rot(begun + ".partial", copy, "atlas", repetitions(60, 400), {goes_on});
}

}  // namespace
}  // namespace somatlas::fault_test
