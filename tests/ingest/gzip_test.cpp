// The byte sources: plain and gzip, members, cuts, flips, padding, sums, and faults of the file
// itself. Always holds: damage is an InputError or changes no byte; there is nothing in between.
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <sys/stat.h>

#include <array>
#include <random>

#include "ingest/gzip_source.h"
#include "tests/ingest/recorded_events.h"
#include "tests/seed.h"

namespace somatlas::ingest {
namespace {

/// CRC-32 bit by bit, as RFC 1952 defines it: no table, no library.
std::uint32_t slow_crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
    }
  }
  return ~crc;
}

void put(std::string& out, std::uint64_t number, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) {
    out += static_cast<char>(number >> (8 * i) & 0xffU);
  }
}

/// A member of stored blocks with every optional header field, made by hand from RFC 1951 and 1952.
std::string stored_member(std::string_view text) {
  std::string out = {'\x1f', '\x8b', 8, '\x1e', 1, 2, 3, 4, 0, 3};
  put(out, 5, 2);
  out += "extra";
  out += "name.xml";
  out += '\0';
  out += "a comment";
  out += '\0';
  put(out, slow_crc32(out) & 0xffffU, 2);
  std::size_t at = 0;
  do {
    const std::size_t size = std::min<std::size_t>(text.size() - at, 1000);
    out += static_cast<char>(at + size == text.size() ? 1 : 0);
    put(out, size, 2);
    put(out, ~size & 0xffffU, 2);
    out += text.substr(at, size);
    at += size;
  } while (at < text.size());
  put(out, slow_crc32(text), 4);
  put(out, text.size() & 0xffffffffU, 4);
  return out;
}

/// A compressed member.
std::string member(std::string text) {
  isal_zstream stream;
  isal_deflate_init(&stream);
  std::string out(text.size() * 2 + 1000, '\0');
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<std::uint8_t*>(text.data());
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  stream.avail_out = static_cast<std::uint32_t>(out.size());
  EXPECT_EQ(isal_deflate(&stream), COMP_OK);
  out.resize(stream.total_out);
  return out;
}

std::string sample_text(std::size_t size) {
  std::string text;
  std::mt19937_64 random(test_seed());
  while (text.size() < size) {
    text += "<PMID Version=\"1\">" + std::to_string(random()) + "</PMID>\n";
  }
  text.resize(size);
  return text;
}

class Gzip : public testing::Test {
 protected:
  /// What the file's bytes come to, or the refusal's message without the path. Whatever a test does
  /// to a file, ISA-L and zlib are both asked: what zlib takes, ISA-L makes the same of. (zlib also
  /// refuses Huffman tables that are out of bounds in a code which the data does not use.)
  [[nodiscard]] std::string result(std::string_view bytes) const {
    const std::string path = scratch.write("file.xml.gz", bytes);
    const std::string by_isal = inflated(path, make_isal_inflater());
    const std::string by_zlib = inflated(path, make_zlib_inflater());
    if (!by_zlib.starts_with(refused)) {
      EXPECT_EQ(by_isal, by_zlib);
    }
    return by_isal;
  }

  static constexpr std::string_view refused = "REFUSED";

 private:
  [[nodiscard]] static std::string inflated(const std::string& path,
                                            std::unique_ptr<Inflater> inflater) {
    std::string text;
    const std::string message = refusal([&] {
      const auto source =
          make_gzip_source(std::make_unique<RawFile>(path), {}, std::move(inflater));
      text = drain(*source);
    });
    return message == "nothing refused" ? text : refused.data() + message.substr(path.size());
  }

 protected:
  ScratchDirectory scratch;
};

constexpr std::string_view cut = "REFUSED: is cut short inside";
const std::string garbage =
    "REFUSED: has bytes behind its gzip data that are not gzip; fetch it again";

TEST_F(Gzip, MembersFollowOneAnother) {
  const std::string a = sample_text(5000);
  const std::string b = sample_text(70000);
  EXPECT_EQ(result(member(a)), a);
  EXPECT_EQ(result(stored_member(b)), b);
  EXPECT_EQ(result(member(a) + stored_member(b) + member("") + stored_member("") + member(b)),
            a + b + b);
  EXPECT_EQ(result(member("")), "");
}

TEST_F(Gzip, EveryOutputAndInputSizeGivesTheSameBytes) {
  const std::string text = sample_text(100000);
  const std::string bytes = stored_member(text) + member(text) + stored_member("x") + member(text);
  const std::string path = scratch.write("file.gz", bytes);
  for (const std::size_t in : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{18},
                               std::size_t{1000}, bytes.size(), std::size_t{1} << 20U}) {
    for (const std::size_t out : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 20U}) {
      for (const auto make : {&make_isal_inflater, &make_zlib_inflater}) {
        const auto source = make_gzip_source(std::make_unique<RawFile>(path), {}, make(), in);
        ASSERT_EQ(drain(*source, out), text + text + "x" + text) << in << " in, " << out << " out";
        EXPECT_EQ(source->file_bytes(), bytes.size());
        EXPECT_EQ(source->md5(), md5_of_file(path));
      }
    }
  }
}

TEST_F(Gzip, CutAtEveryByteIsFound) {
  const std::string text = sample_text(600);
  for (const std::string& bytes :
       std::vector<std::string>{member(text) + stored_member(text), member(text),
                                file_text(case_path("two_members.xml.gz"))}) {
    const std::size_t first_ends = bytes.find("\x1f\x8b", 2);
    for (std::size_t size = 2; size < bytes.size(); ++size) {
      const std::string got = result(std::string_view(bytes).substr(0, size));
      if (size == first_ends) {
        EXPECT_NE(got.substr(0, 7), "REFUSED") << "a whole first member is a whole file";
      } else {
        EXPECT_EQ(got.substr(0, cut.size()), cut) << size << " of " << bytes.size();
      }
    }
  }
}

TEST_F(Gzip, EveryFlippedBitIsFoundOrHarmless) {
  const std::string text = sample_text(400);
  std::size_t found = 0;
  for (const std::string& whole : std::vector<std::string>{member(text), stored_member(text)}) {
    for (std::size_t at = 2; at < whole.size(); ++at) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << bit));
        const std::string got = result(bytes);
        if (got != text) {
          ASSERT_EQ(got.substr(0, 7), "REFUSED") << "byte " << at << " bit " << bit;
          ++found;
        }
      }
    }
  }
  EXPECT_GT(found, 400U * 8U);
}

TEST_F(Gzip, ReservedFlagsAreRefused) {
  const std::string text = sample_text(300);
  for (const std::string& whole : std::vector<std::string>{member(text), stored_member("x")}) {
    for (const unsigned bit : {5U, 6U, 7U}) {
      std::string bytes = whole;
      bytes[3] = static_cast<char>(static_cast<unsigned char>(bytes[3]) | (1U << bit));
      EXPECT_EQ(result(bytes), "REFUSED: has a damaged gzip header; fetch it again");
      EXPECT_EQ(result(member(text) + bytes), garbage);
    }
  }
}

TEST_F(Gzip, ChecksumAndLengthAreBothChecked) {
  const std::string text = sample_text(3000);
  for (const std::size_t from_end :
       {std::size_t{8}, std::size_t{5}, std::size_t{4}, std::size_t{1}}) {
    std::string bytes = member(text) + stored_member(text);
    bytes[bytes.size() - from_end] = static_cast<char>(bytes[bytes.size() - from_end] + 1);
    EXPECT_EQ(result(bytes),
              "REFUSED: fails the checksum or length in its gzip data; fetch it again");
  }
}

TEST_F(Gzip, OnlyZerosMayFollow) {
  const std::string text = sample_text(3000);
  const std::string bytes = member(text);
  EXPECT_EQ(result(bytes + std::string(1, '\0')), text);
  EXPECT_EQ(result(bytes + std::string(600000, '\0')), text);
  EXPECT_EQ(result(bytes + "x"), garbage);
  EXPECT_EQ(result(bytes + "\x1f"), "REFUSED: is cut short inside a gzip header; fetch it again");
  EXPECT_EQ(result(bytes + "<PubmedArticleSet/> and more"), garbage);
  EXPECT_EQ(result(bytes + std::string(600000, '\0') + "x"), garbage);
  EXPECT_EQ(result(bytes + std::string(5, '\0') + member(text)), garbage);
}

/// A few mebibytes that would inflate to gibibytes, of bytes that no rule of XML forbids.
TEST_F(Gzip, WhatInflatesWithoutEndIsRefused) {
  const std::string piece = member(std::string(1000000, ' '));
  ASSERT_LT(piece.size(), 10000U);
  std::string bytes = member("<PubmedArticleSet>");
  while (bytes.size() < (std::size_t{2} << 20U)) {
    bytes += piece;
  }
  const std::string path = scratch.write("bomb.xml.gz", bytes);
  const auto source = open_byte_source(path);
  std::uint64_t inflated = 0;
  std::vector<std::byte> buffer(std::size_t{1} << 16U);
  EXPECT_EQ(refusal([&] {
              for (std::size_t got = 1; got != 0; inflated += got) {
                got = source->read(buffer);
              }
            }),
            path +
                ": inflates to more than 100 times its size, which no MEDLINE file does; fetch "
                "it again");
  EXPECT_GE(inflated, std::uint64_t{60} << 20U);
  EXPECT_LT(inflated, std::uint64_t{80} << 20U);
  RecordedEvents events;
  EXPECT_NE(refusal([&] { parse_medline(*open_byte_source(path), {}, events); }),
            "nothing refused");
}

/// ISA-L then gives back bytes of the call before. Found by tests/fuzz.
TEST_F(Gzip, AFaultLeavesTheInputWithinItsBounds) {
  constexpr std::array<std::uint8_t, 47> distance_too_far = {
      0x1f, 0x8b, 0x08, 0x00, 0x3c, 0x3c, 0x2f, 0x44, 0x65, 0x73, 0x63, 0x72,
      0x69, 0x70, 0x74, 0x6f, 0x72, 0x55, 0x49, 0x3e, 0x91, 0xcd, 0x6e, 0xc3,
      0xe0, 0xef, 0x7b, 0xdd, 0x5b, 0xbb, 0x22, 0x00, 0x96, 0x22, 0x2a, 0x2a,
      0xb5, 0x73, 0x69, 0x00, 0x00, 0x00, 0x2f, 0x95, 0x9d, 0x43, 0xa5};
  for (const auto make : {make_isal_inflater, make_zlib_inflater}) {
    const auto inflater = make();
    inflater->begin();
    std::span<const std::uint8_t> in(distance_too_far);
    std::vector<std::uint8_t> buffer(1000);
    std::span<std::uint8_t> out(buffer);
    Step step = Step::going_on;
    while (step == Step::going_on) {
      const std::size_t before = in.size();
      step = inflater->inflate(in, out);
      ASSERT_LE(in.size(), before);
    }
    EXPECT_EQ(step, Step::bad_data);
  }
}

TEST_F(Gzip, ByteSourceIsToldByContent) {
  const std::string text = sample_text(3000);
  EXPECT_EQ(drain(*open_byte_source(scratch.write("gzip.xml", member(text)))), text);
  EXPECT_EQ(drain(*open_byte_source(scratch.write("plain.xml", text)), 1), text);
  EXPECT_EQ(drain(*open_byte_source(scratch.write("one_byte", "x"))), "x");
  const std::string plain = scratch.write("plain.XML.GZ", text);
  EXPECT_EQ(refusal([&] { static_cast<void>(open_byte_source(plain)); }),
            plain + ": is named .gz but is not gzip; fetch it again, or rename it if it is plain");
  const std::string short_one = scratch.write("short.gz", "\x1f");
  EXPECT_NE(refusal([&] { static_cast<void>(open_byte_source(short_one)); }), "nothing refused");
}

TEST_F(Gzip, PlainSourceCountsAndSums) {
  const std::string path = scratch.write("abc", "abc");
  const auto source = open_byte_source(path);
  EXPECT_EQ(drain(*source), "abc");
  EXPECT_EQ(source->file_bytes(), 3U);
  EXPECT_EQ(source->md5(), "900150983cd24fb0d6963f7d28e17f72");  // RFC 1321, appendix A.5
  EXPECT_EQ(md5_of_file(scratch.write("empty", "")), "d41d8cd98f00b204e9800998ecf8427e");
}

TEST_F(Gzip, FilesThatCannotBeRead) {
  const auto open = [](const std::string& path) {
    return refusal([&] { static_cast<void>(open_byte_source(path)); });
  };
  const std::string missing = (scratch.path() / "missing.xml").string();
  EXPECT_EQ(open(missing), missing + ": there is no such file; check the path");
  EXPECT_EQ(open(scratch.path().string()),
            scratch.path().string() + ": is a directory; a file is needed here");
  for (const char* const name : {"empty.xml", "empty.xml.gz"}) {
    const std::string empty = scratch.write(name, "");
    EXPECT_EQ(drain(*open_byte_source(empty)), "");
    EXPECT_EQ(refusal([&] { static_cast<void>(read_mesh_file(empty)); }),
              empty + ": is empty; fetch it again");
  }
  if (::geteuid() != 0) {  // root reads everything
    const std::string locked = scratch.write("locked.xml", "<a/>");
    ASSERT_EQ(::chmod(locked.c_str(), 0), 0);
    EXPECT_EQ(open(locked), locked + ": cannot be opened (Permission denied)");
  }
}

TEST_F(Gzip, CompanionsInAllForms) {
  const std::string sum = "0123456789abcdef0123456789abcdef";
  const std::string other = "ffffffffffffffffffffffffffffffff";
  const std::string path = scratch.write("pubmed26n0001.xml.gz", "x");
  EXPECT_EQ(companion_md5(path), "");
  EXPECT_EQ(companion_md5((scratch.path() / "no" / "such").string()), "");
  for (const std::string& text : std::vector<std::string>{
           "MD5(pubmed26n0001.xml.gz)= " + sum + "\n", "MD5 (pubmed26n0001.xml.gz) = " + sum,
           sum + "  pubmed26n0001.xml.gz\n", sum + " *some/where/pubmed26n0001.xml.gz\r\n",
           sum + "\n", "  " + sum, "0123456789ABCDEF0123456789ABCDEF  pubmed26n0001.xml.gz\n",
           "# sums\n" + other + "  a.gz\n" + sum + "  pubmed26n0001.xml.gz\n" + other + "  b.gz\n",
           sum + "  downloaded_under_another_name.gz\n"}) {
    static_cast<void>(scratch.write("pubmed26n0001.xml.gz.md5", text));
    EXPECT_EQ(companion_md5(path), sum) << text;
  }
  for (const std::string& text : std::vector<std::string>{
           std::string{}, std::string("\n\n"), std::string("<html>404 Not Found</html>"),
           sum.substr(1) + "  pubmed26n0001.xml.gz", sum + "0", "MD5(pubmed26n0001.xml.gz)= ",
           "MD5)pubmed26n0001.xml.gz(= " + sum, std::string("MD5"), "g" + sum.substr(1)}) {
    static_cast<void>(scratch.write("pubmed26n0001.xml.gz.md5", text));
    EXPECT_EQ(refusal([&] { static_cast<void>(companion_md5(path)); }),
              path + ".md5: holds no MD5 sum; replace or remove it")
        << text;
  }
  static_cast<void>(
      scratch.write("pubmed26n0001.xml.gz.md5", other + "  a.gz\n" + other + "  b.gz\n"));
  EXPECT_EQ(refusal([&] { static_cast<void>(companion_md5(path)); }),
            path + ".md5: names no sum for pubmed26n0001.xml.gz; replace or remove it");
}

// A pipe would be waited for without end.
TEST_F(Gzip, CompanionsThatAreNoFilesAreRefused) {
  const std::string path = scratch.write("pubmed26n0001.xml.gz", "x");
  const std::string companion = path + ".md5";
  const auto make_pipe = [&] { ASSERT_EQ(::mkfifo(companion.c_str(), 0600), 0); };
  const auto make_folder = [&] { std::filesystem::create_directory(companion); };
  const auto make_link = [&] { std::filesystem::create_symlink("/dev/zero", companion); };
  for (const std::function<void()>& make :
       std::vector<std::function<void()>>{make_pipe, make_folder, make_link}) {
    make();
    EXPECT_EQ(refusal([&] { static_cast<void>(companion_md5(path)); }),
              companion + ": is no regular file; replace or remove it");
    std::filesystem::remove(companion);
  }
  // A name so long that no file can be called so.
  EXPECT_EQ(companion_md5(scratch.write(std::string(251, 'x') + ".xml", "x")), "");
}

}  // namespace
}  // namespace somatlas::ingest
