// A sink that writes down what it receives as lines of text, a source over bytes in memory, and
// files that vanish with the test: what the tests of this folder share.
// Always holds: two parses are equal exactly if their lines are.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/byte_source.h"
#include "ingest/citation.h"
#include "ingest/input_error.h"
#include "ingest/medline_parser.h"

namespace somatlas::ingest {

inline std::string ui_text(DescriptorUi ui) {
  std::string digits = std::to_string(ui.number);
  return "D" + std::string(ui.digits - digits.size(), '0') + digits;
}

/// "1234 v2 2001 = D000001 D000002*", headings in the order of their text; "delete 1234 v1"; "book
/// at 7"; "left out 0 at 7: text"; "unknown at 7 in 1234: name".
class RecordedEvents final : public CitationSink {
 public:
  std::vector<std::string> lines;

  void citation(const CitationView& citation) override {
    std::vector<std::string> headings;
    for (const Heading& heading : citation.headings) {
      headings.push_back(ui_text(heading.ui) + (heading.major_topic ? "*" : ""));
    }
    std::sort(headings.begin(), headings.end());
    std::string line = std::to_string(citation.pmid) + " v" + std::to_string(citation.version) +
                       " " + std::to_string(citation.year) + " =";
    for (const std::string& heading : headings) {
      line += " " + heading;
    }
    lines.push_back(std::move(line));
  }
  void deletion(std::uint32_t pmid, std::uint16_t version) override {
    lines.push_back("delete " + std::to_string(pmid) + " v" + std::to_string(version));
  }
  void book(std::uint64_t line) override { lines.push_back("book at " + std::to_string(line)); }
  void left_out(LeftOut reason, std::uint64_t line, std::string_view text) override {
    lines.push_back("left out " + std::to_string(static_cast<int>(reason)) + " at " +
                    std::to_string(line) + ": " + std::string(text));
  }
  void unknown_heading(std::uint64_t line, std::uint32_t pmid, std::string_view name) override {
    lines.push_back("unknown at " + std::to_string(line) + " in " + std::to_string(pmid) + ": " +
                    std::string(name));
  }
};

/// Hands out at most chunk bytes a call.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string bytes, std::size_t chunk = std::size_t{1} << 16U)
      : bytes_(std::move(bytes)), chunk_(chunk) {}

  [[nodiscard]] std::size_t read(std::span<std::byte> out) override {
    const std::size_t size = std::min({out.size(), chunk_, bytes_.size() - taken_});
    std::memcpy(out.data(), bytes_.data() + taken_, size);
    taken_ += size;
    return size;
  }
  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] std::uint64_t file_bytes() const override { return taken_; }
  [[nodiscard]] Md5Hex md5() const override { return {}; }

 private:
  std::string path_ = "memory.xml";
  std::string bytes_;
  std::size_t chunk_;
  std::size_t taken_ = 0;
};

/// A directory of its own, gone at the end of the test.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    // In memory where the system offers it: thousands of small files are written.
    const std::filesystem::path memory = "/dev/shm";
    const bool usable = ::access(memory.c_str(), W_OK) == 0;
    std::string name =
        ((usable ? memory : std::filesystem::temp_directory_path()) / "somatlas-ingest-XXXXXX")
            .string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("no scratch directory at " + name);
    }
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  /// Writes a file there and returns its path.
  [[nodiscard]] std::string write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path path = path_ / name;
    std::ofstream out(path, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path.string();
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw std::runtime_error("the test lacks its input " + path);
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string case_path(const std::string& name) {
  return std::string(SOMATLAS_TEST_DATA) + "/cases/" + name;
}

/// All bytes of a source, read at most chunk at a time.
inline std::string drain(ByteSource& source, std::size_t chunk = 4096) {
  std::string all;
  std::vector<std::byte> buffer(chunk);
  for (std::size_t got = source.read(buffer); got != 0; got = source.read(buffer)) {
    all.append(reinterpret_cast<const char*>(buffer.data()), got);
  }
  return all;
}

inline std::vector<std::string> events_of(const std::string& xml, const NameTable& names = {},
                                          std::size_t chunk = std::size_t{1} << 16U) {
  MemorySource source(xml, chunk);
  RecordedEvents events;
  parse_medline(source, names, events);
  return events.lines;
}

/// The message of the InputError that call throws, or "nothing refused".
template <typename Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing refused";
}

}  // namespace somatlas::ingest
