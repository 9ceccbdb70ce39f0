// A folder of files that are broken or mean harm, with good ones among them: each bad one costs one
// sentence that names it and the line, the good ones are taken, and nothing else is touched.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

std::string in_set(const std::string& records) {
  return "<PubmedArticleSet>\n" + records + "\n</PubmedArticleSet>\n";
}

std::string citation(const std::string& pmid, const std::string& rest = {}) {
  return "<MedlineCitation><PMID>" + pmid + "</PMID>" + rest +
         "<MeshHeadingList><MeshHeading><DescriptorName UI=\"D000001\"/></MeshHeading>"
         "</MeshHeadingList></MedlineCitation>";
}

/// By name: content, and what the sentence says behind the name.
struct HostileFile {
  std::string content;
  std::string told;
};
std::map<std::string, HostileFile> hostile_files(const std::string& secret) {
  const std::string good = in_set(citation("5"));
  const std::string gzip = read_file(data("cases/two_members.xml.gz"));
  std::string flipped = gzip;
  flipped[flipped.size() - 6] ^= 1;
  std::string nested;
  for (int i = 0; i < 100'000; ++i) {
    nested += "<a>";
  }
  std::string attributes;
  for (int i = 0; i < 1001; ++i) {
    attributes += " a" + std::to_string(i) + "=''";
  }
  return {
      {"bomb.xml",
       {"<!DOCTYPE a [\n<!ENTITY a \"aaaaaaaaaa\">\n<!ENTITY b \"&a;&a;\">]>" +
            in_set(citation("&b;")),
        ":2: declares the entity a; such declarations are refused"}},
      {"secret.xml",
       {"<!DOCTYPE a [<!ENTITY x SYSTEM \"file://" + secret + "\">]>" + in_set(citation("&x;")),
        ":1: declares the entity x; such declarations are refused"}},
      {"parameter.xml",
       {"<!DOCTYPE a [\n<!ENTITY % x SYSTEM \"http://127.0.0.1:9/a.dtd\">%x;]>" + good,
        ":2: declares the entity x; such declarations are refused"}},
      {"deep.xml", {in_set(nested), ":2: nests elements more than 256 deep"}},
      {"attributes.xml", {in_set("<a" + attributes + "/>"), ":2: has a tag with more than 1000 a"}},
      {"tag.xml", {in_set("<a b='" + std::string(100'000, 'x') + "'/>"), ":2: has a tag longer "}},
      {"text.xml",
       {in_set("\n<a>" + std::string(2'000'000, 'x') + "</a>"), ":3: has a text longer than "}},
      {"cut.xml", {good.substr(0, good.size() - 5), ":3: is cut short"}},
      {"nul.xml", {in_set(citation("5") + '\0'), ":2: holds a NUL byte"}},
      {"latin.xml", {in_set(citation("5") + "caf\xe9"), ":2: is not well-formed XML ("}},
      {"utf16.xml", {std::string("\xff\xfe<\0a\0/\0>\0", 10), ":1: holds a NUL byte"}},
      {"euc.xml",
       {"<?xml version='1.0' encoding='EUC-JP'?>" + good, ":1: is encoded in euc-jp; convert "}},
      {"web.xml", {"<html>\n404</html>", ":1: is no MEDLINE XML: its root element is html"}},
      {"nested.xml",
       {in_set(citation("5", "\n" + citation("6"))),
        ":3: a MedlineCitation begins inside another"}},
      {"cut.xml.gz", {gzip.substr(0, gzip.size() - 9), ": is cut short inside its gzip data"}},
      {"tail.xml.gz", {gzip + "tail", ": has bytes behind its gzip data that are not gzip"}},
      {"flipped.xml.gz", {flipped, ": fails the checksum or length in its gzip data"}},
      {"plain.xml.gz", {good, ": is named .gz but is not gzip"}},
      {"empty.xml", {"", ": is empty; fetch it again"}},
  };
}

TEST(HostileFiles, EachCostsOneSentenceAndTheOthersGoOn) {
  const ScratchDirectory scratch;
  const ScratchDirectory elsewhere;
  write_file(elsewhere / "secret", "77");
  const auto files = hostile_files(elsewhere / "secret");
  for (const auto& [name, file] : files) {
    write_file(scratch / name, file.content);
  }
  write_file(scratch / "aaa.xml", in_set(citation("1")));
  write_file(scratch / "numbers.xml", in_set(citation("0") + "\n" + citation("-3") + "\n" +
                                             citation("4294967296") + "\n" + citation("2")));
  write_file(scratch / "zzz.xml",
             "<!DOCTYPE a SYSTEM \"http://127.0.0.1:9/a.dtd\">\n" + in_set(citation("4294967295")));
  const std::string store = elsewhere / "store";
  const Ending ending = run_somatlas({"ingest", "--store", store, scratch.path()});
  EXPECT_EQ(ending.exit_code, 1);
  for (const auto& [name, file] : files) {
    const std::string wanted = "refused: " + scratch / name + file.told;
    const std::size_t at = ending.err.find(wanted);
    EXPECT_NE(at, std::string::npos) << wanted << "\nis not in\n" << ending.err;
    EXPECT_EQ(ending.err.find("refused: " + scratch / name + ":", at + 1), std::string::npos)
        << name << " is told twice";
  }
  for (const char* const left_out : {"numbers.xml:2: ", "numbers.xml:3: ", "numbers.xml:4: "}) {
    EXPECT_NE(ending.err.find(left_out), std::string::npos) << left_out << ending.err;
  }
  EXPECT_TRUE(std::all_of(ending.err.begin(), ending.err.end(), [](char c) {
    return c == '\n' || static_cast<unsigned char>(c) >= 0x20;
  })) << ending.err;
  EXPECT_EQ(run_somatlas({"dump", "--store", store}).out,
            "1\t1\t-\tD000001\n2\t1\t-\tD000001\n4294967295\t1\t-\tD000001\n");
  EXPECT_EQ(run_somatlas({"verify", "--store", store}).exit_code, 0);
}

}  // namespace
}  // namespace somatlas::program_test
