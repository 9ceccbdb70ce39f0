// Files much larger than the memory that their ingest may take, and too little memory for any. The
// longer run: 10 GB of gzip each. No sanitizer's build has these tests: sanitizers take address
// space without end.
#include <gtest/gtest.h>
#include <signal.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "ingest/byte_source.h"
#include "tests/program/running_program.h"
#include "tests/repetitions.h"
#include "tests/seed.h"

namespace somatlas::program_test {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

/// One gzip member.
std::string member(const std::string& text) {
  z_stream stream{};
  if (::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib does not begin");
  }
  std::string packed(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int end = ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (end != Z_STREAM_END) {
    throw std::runtime_error("zlib does not end");
  }
  return packed;
}

std::string text_of(const std::string& path) {
  const auto source = ingest::open_byte_source(path);
  std::string text;
  std::array<std::byte, 1 << 16> piece;
  for (std::size_t got = 0; (got = source->read(piece)) > 0;) {
    text.append(reinterpret_cast<const char*>(piece.data()), got);
  }
  return text;
}

/// The records with a note of so many random letters in each.
std::string with_notes(const std::string& records, std::size_t letters) {
  std::mt19937_64 random(test_seed());
  std::string longer;
  std::size_t begin = 0;
  const std::string close = "</MedlineCitation>";
  for (std::size_t end = records.find(close); end != std::string::npos;
       begin = end, end = records.find(close, end + 1)) {
    longer += records.substr(begin, end - begin) + "<GeneralNote Owner=\"NLM\">";
    for (std::size_t i = 0; i < letters; ++i) {
      longer += static_cast<char>('a' + random() % 26);
    }
    longer += "</GeneralNote>";
  }
  return longer + records.substr(begin);
}

// Members repeat, so that making a file takes no time, and are small, since this process's own
// memory counts for its child's. Each record costs an ingest its row, 20
// bytes and 4 a descriptor, whatever its text is: records are of real length where 200 MB hold as
// many as seven of NLM's files, and long where 10 GB would hold millions.
TEST(Memory, DoesNotGrowWithTheFile) {
  constexpr std::uint64_t articles = 400;
  const ScratchDirectory scratch;
  ASSERT_EQ(run_somatlas({"synth", "--articles", std::to_string(articles), "--seed", "7",
                          "--updates", "0", "--xml", scratch / "small"})
                .exit_code,
            0);
  const std::string text = text_of(scratch / "small/synthetic26n0001.xml.gz");
  const std::size_t head = text.find("<PubmedArticle>");
  const std::size_t tail = text.rfind("</PubmedArticleSet>");
  const std::string one =
      with_notes(text.substr(head, tail - head), static_cast<std::size_t>(repetitions(0, 20'000)));
  const std::string records = member(one);
  const std::uint64_t size = mebibyte * static_cast<std::uint64_t>(repetitions(200, 10'240));
  const std::uint64_t members = size / records.size() + 1;
  std::vector<std::string> paths;
  for (const char* name : {"large26n0001.xml.gz", "large26n0002.xml.gz"}) {
    paths.push_back(scratch / name);
    if (paths.size() > 1) {
      std::filesystem::create_hard_link(paths.front(), paths.back());
      continue;
    }
    std::ofstream file(paths.back(), std::ios::binary);
    file << member(text.substr(0, head));
    for (std::uint64_t i = 0; i < members; ++i) {
      file << records;
    }
    file << member(text.substr(tail));
    ASSERT_TRUE(file.good());
  }
  for (std::size_t workers = 1; workers <= paths.size(); ++workers) {
    Surroundings surroundings;
    surroundings.wrapper = {"prlimit", "--as=" + std::to_string(mebibyte * 512)};
    surroundings.limit = std::chrono::seconds(3'600);
    std::vector<std::string> words{"ingest",    "--json",
                                   "--threads", std::to_string(workers),
                                   "--store",   scratch / ("store" + std::to_string(workers))};
    words.insert(words.end(), paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(workers));
    const Ending ending = run_somatlas(words, surroundings);
    ASSERT_EQ(ending.exit_code, 0) << ending.err;
    const auto json = nlohmann::json::parse(ending.out);
    EXPECT_EQ(json.at("citations"), workers * members * articles);
    std::cout << workers << " times " << std::filesystem::file_size(paths[0]) / mebibyte
              << " MiB of gzip, " << members * one.size() / mebibyte << " MiB of XML, "
              << members * articles << " records: " << ending.peak_bytes / mebibyte
              << " MiB at most\n";
    EXPECT_LT(ending.peak_bytes, mebibyte * (64 + 96 * workers));
  }
}

// Rows of half a megabyte: of so many names that each takes many times its length, or of one.
TEST(Memory, DoesNotGrowWithTheRowsThatAreMapped) {
  const ScratchDirectory scratch;
  ASSERT_EQ(
      run_somatlas({"synth", "--articles", "200", "--seed", "7", "--store", scratch / "store"})
          .exit_code,
      0);
  ASSERT_EQ(run_somatlas({"train", "--store", scratch / "store", "--atlas", scratch / "atlas",
                          "--side", "2", "--device", "cpu"})
                .exit_code,
            0);
  constexpr std::size_t row_bytes = 500'000;
  std::string many;
  for (std::size_t i = 0; many.size() < row_bytes; ++i) {
    for (const std::size_t place : {1U, 36U, 36U * 36U}) {
      many += "abcdefghijklmnopqrstuvwxyz0123456789"[i / place % 36];
    }
    many += static_cast<char>('A' + i / (36 * 36 * 36));
    many += ';';
  }
  const auto peak_of = [&](const std::string& row, std::size_t rows) {
    const std::string path = scratch / "rows";
    {
      std::ofstream file(path, std::ios::binary);
      for (std::size_t i = 0; i < rows; ++i) {
        file << "row " << i << row << '\n';
      }
    }
    const Ending ending = run_somatlas({"map", "--atlas", scratch / "atlas", path});
    EXPECT_EQ(ending.exit_code, 1);
    EXPECT_NE(ending.err.find("(0 placed, " + std::to_string(rows) + " without a place)"),
              std::string::npos)
        << ending.err;
    return ending.peak_bytes / mebibyte;
  };
  EXPECT_LT(peak_of(";" + many, static_cast<std::size_t>(repetitions(80, 4'000))), 160U);
  EXPECT_LT(peak_of(std::string(row_bytes, 'x'), static_cast<std::size_t>(repetitions(400, 9'000))),
            160U);
}

// From where its libraries find a place on up to where it suffices. Of many threads each is once
// the first that cannot be had.
TEST(Memory, TooLittleOfItIsSaidAndHarmless) {
  const ScratchDirectory scratch;
  const std::string files = data("sample/updatefiles");
  const std::string whole = scratch / "whole";
  ASSERT_EQ(run_somatlas({"ingest", "--store", whole, files}).exit_code, 0);
  const std::string dump = run_somatlas({"dump", "--all", "--store", whole}).out;
  int not_begun = 0;
  int no_memory = 0;
  int no_thread = 0;
  for (const char* threads : {"2", "16"}) {
    int enough = 0;
    for (std::uint64_t kibi = 60 * 1024; enough < 3 && kibi < 2048 * 1024;
         kibi += kibi / static_cast<std::uint64_t>(repetitions(32, 512))) {
      Surroundings surroundings;
      surroundings.wrapper = {"prlimit", "--core=0", "--as=" + std::to_string(kibi * 1024)};
      const std::string store = scratch / std::to_string(kibi);
      const Ending ending =
          run_somatlas({"ingest", "--threads", threads, "--store", store, files}, surroundings);
      if (ending.exit_code == 127) {
        continue;  // its libraries found no place, which the loader says
      }
      if (ending.exit_code == 0) {
        ++enough;
      } else {
        // No file is blamed.
        EXPECT_EQ(ending.exit_code, 1) << kibi << ": " << ending.err;
        EXPECT_TRUE(ending.err.starts_with("somatlas: ")) << kibi << ": " << ending.err;
        EXPECT_EQ(std::count(ending.err.begin(), ending.err.end(), '\n'), 1) << ending.err;
        const auto says = [&](const char* text) {
          return ending.err.find(text) != std::string::npos ? 1 : 0;
        };
        not_begun += says(" there is not enough memory: the limit on it (ulimit -v) leaves less");
        no_memory += says(" there is not enough memory: free some");
        no_thread += says(" a thread cannot be made (");
      }
      EXPECT_EQ(run_somatlas({"ingest", "--store", store, files}).exit_code, 0) << kibi;
      EXPECT_EQ(run_somatlas({"dump", "--all", "--store", store}).out, dump) << kibi;
      std::filesystem::remove_all(store);
    }
    EXPECT_EQ(enough, 3);
  }
  std::cout << not_begun << " not begun, " << no_memory << " without memory, " << no_thread
            << " without a thread\n";
  EXPECT_GT(not_begun, 0);
  EXPECT_GT(no_memory, 0);
  EXPECT_GT(no_thread, 0);
}

}  // namespace
}  // namespace somatlas::program_test
