// What a build would not notice: which folder may include what (tools -> pipeline -> ingest | store
// | gpu, each library behind the one folder that is to know it), and where tests take their seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path root = SOMATLAS_SOURCE_DIR;

struct Include {
  fs::path file;  // below root
  std::size_t line = 0;
  std::string name;
  bool quoted = false;
};

bool is_source(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".h" || extension == ".cpp" || extension == ".cu" || extension == ".cuh";
}

std::vector<fs::path> sources(const std::string& folder) {
  std::vector<fs::path> found;
  if (fs::exists(root / folder)) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file() && is_source(entry.path())) {
        found.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(found);
  return found;
}

std::vector<Include> includes(const std::string& folder) {
  static const std::regex pattern(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  std::vector<Include> found;
  for (const fs::path& path : sources(folder)) {
    std::ifstream file(path);
    std::string text;
    for (std::size_t line = 1; std::getline(file, text); ++line) {
      std::smatch match;
      if (std::regex_search(text, match, pattern)) {
        found.push_back({fs::relative(path, root), line, match[2], match[1] == "\""});
      }
    }
  }
  return found;
}

std::string first_part(const std::string& name) {
  return name.substr(0, name.find('/'));
}

std::string place(const Include& include) {
  return include.file.string() + ":" + std::to_string(include.line) + " includes " + include.name;
}

const std::map<std::string, std::set<std::string>> may_include{
    {"gpu", {"gpu"}},
    {"ingest", {"ingest"}},
    {"store", {"store"}},
    {"pipeline", {"pipeline", "ingest", "store", "gpu"}},
    {"tools", {"tools", "pipeline", "ingest", "store", "gpu"}},
    {"tests", {"tests", "tools", "pipeline", "ingest", "store", "gpu"}},
};

// A library, by how its headers' names begin, and the folders that know it.
struct Library {
  std::string_view prefix;
  std::set<std::string> folders;
};
const std::vector<Library> libraries{
    {"libxml/", {"ingest"}},
    {"isa-l", {"ingest"}},
    {"openssl/", {"ingest"}},
    {"zlib.h", {"ingest", "pipeline"}},
    {"rocksdb/", {"store"}},
    {"zstd", {"store"}},
    {"tbb/", {"pipeline"}},
    {"oneapi/", {"pipeline"}},
    {"cuda", {"gpu", "tools"}},  // tools: what bench compares with
    {"cusparse", {"tools"}},
    {"dlfcn.h", {"tools"}},
    {"cub/", {"gpu"}},
    {"cooperative_groups", {"gpu"}},
    {"nvtx", {"gpu"}},
    {"nmmintrin.h", {"store"}},
    {"xxhash.h", {"store", "pipeline"}},
    {"nlohmann/", {"pipeline", "tools"}},
    {"CLI/", {"tools"}},
    {"spng.h", {"tools"}},
    {"sqlite3.h", {"tools"}},
    {"microhttpd.h", {"tools"}},
};

TEST(IncludeDirection, FoldersIncludeOnlyWhatLiesBelowThem) {
  for (const auto& [folder, allowed] : may_include) {
    for (const Include& include : includes(folder)) {
      if (include.quoted) {
        EXPECT_TRUE(allowed.contains(first_part(include.name))) << place(include);
      }
    }
  }
}

TEST(IncludeDirection, QuotedIncludesAreRelativeToTheRoot) {
  for (const auto& [folder, allowed] : may_include) {
    for (const Include& include : includes(folder)) {
      if (include.quoted) {
        EXPECT_TRUE(fs::exists(root / include.name)) << place(include);
      }
    }
  }
}

TEST(IncludeDirection, EachLibraryIsKnownToItsOwnFolderOnly) {
  for (const auto& [folder, allowed] : may_include) {
    if (folder == "tests") {
      continue;  // tests compare with other readers of the same libraries
    }
    for (const Include& include : includes(folder)) {
      for (const Library& library : libraries) {
        if (!include.quoted && include.name.starts_with(library.prefix)) {
          EXPECT_TRUE(library.folders.contains(folder)) << place(include);
        }
      }
      if (!include.quoted && include.name.starts_with("cu")) {
        EXPECT_TRUE(include.file.extension() == ".cu" || include.file.extension() == ".cuh")
            << place(include);
      }
    }
  }
}

// A library that is in no list would be free to spread.
TEST(IncludeDirection, NoLibraryIsUnknown) {
  for (const auto& [folder, allowed] : may_include) {
    if (folder == "tests") {
      continue;
    }
    for (const Include& include : includes(folder)) {
      const bool in_a_folder = include.name.find('/') != std::string::npos ||
                               include.name.find('.') != std::string::npos;
      static const std::set<std::string> c_headers{"signal.h", "unistd.h", "pthread.h", "malloc.h",
                                                   "fcntl.h",  "spawn.h",  "poll.h",    "stdlib.h",
                                                   "stdio.h",  "string.h", "strings.h", "math.h"};
      if (include.quoted || !in_a_folder || c_headers.contains(include.name) ||
          include.name.starts_with("sys/") || include.name.starts_with("arpa/") ||
          include.name.starts_with("netinet/") || include.name.starts_with("gtest/") ||
          include.name.starts_with("gmock/")) {
        continue;
      }
      EXPECT_TRUE(std::ranges::any_of(libraries, [&](const Library& library) {
        return include.name.starts_with(library.prefix);
      })) << place(include);
    }
  }
}

TEST(IncludeDirection, NoSourceIncludesASource) {
  for (const auto& [folder, allowed] : may_include) {
    for (const Include& include : includes(folder)) {
      EXPECT_FALSE(include.name.ends_with(".cu") || include.name.ends_with(".cpp"))
          << place(include);
      if (include.name.ends_with(".cuh")) {
        const std::string from = include.file.extension().string();
        EXPECT_TRUE(from == ".cu" || from == ".cuh") << place(include);
      }
    }
  }
}

TEST(IncludeDirection, TheFoldersAreThere) {
  for (const auto& [folder, allowed] : may_include) {
    EXPECT_FALSE(sources(folder).empty()) << folder;
  }
}

// A seed of a test's own, fixed or drawn beside tests/seed.h, could not be varied or repeated.
TEST(Seeds, RandomTestsTakeTheOneSeed) {
  const std::regex own(
      R"re(random_devic[e]|getenv\("SOMATLAS_TEST_SEE[D]|mt19937(_64)? \w+[({]\d|mt19937(_64)?[({]\d)re");
  std::size_t takers = 0;
  for (const fs::path& path : sources("tests")) {
    const fs::path name = fs::relative(path, root);
    if (name == "tests/seed.h") {
      continue;
    }
    std::ifstream file(path);
    std::string text;
    for (std::size_t line = 1; std::getline(file, text); ++line) {
      EXPECT_FALSE(std::regex_search(text, own)) << name << ":" << line << ": " << text;
      takers += text.find("tests/seed.h\"") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(takers, 10U);
}

TEST(IncludeDirection, NoFileHasANameThatSaysNothing) {
  constexpr std::array<std::string_view, 6> empty_names{"util",   "utils", "common",
                                                        "helper", "misc",  "types"};
  for (const auto& [folder, allowed] : may_include) {
    for (const fs::path& path : sources(folder)) {
      for (const fs::path& part : fs::relative(path, root)) {
        const std::string stem = part.stem().string();
        EXPECT_TRUE(std::ranges::find(empty_names, stem) == empty_names.end() && stem != "core")
            << path;
      }
    }
  }
}

}  // namespace
