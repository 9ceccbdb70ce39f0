// The inputs of map: kinds told by content, line ends, comments, duplicates, mixes, hostile lines.
#include "tools/lookup/article_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ingest/input_error.h"
#include "tests/formats/scratch_folder.h"

namespace somatlas::lookup {
namespace {

/// Bytes in memory, given in pieces of a fixed size.
class Bytes : public ingest::ByteSource {
 public:
  Bytes(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}
  [[nodiscard]] std::size_t read(std::span<std::byte> out) override {
    const std::size_t count = std::min({out.size(), piece_, bytes_.size() - at_});
    std::memcpy(out.data(), bytes_.data() + at_, count);
    at_ += count;
    return count;
  }
  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] std::uint64_t file_bytes() const override { return at_; }
  [[nodiscard]] ingest::Md5Hex md5() const override { return {}; }

 private:
  std::string bytes_;
  std::size_t piece_;
  std::size_t at_ = 0;
  std::string path_ = "input";
};

/// What came, a text an article: "PMID 5", "5: D000001 D000002 'name'", "line 3: ...", and "line 3!
/// fault".
class Recorder : public ArticleSink {
 public:
  void article(Article article) override {
    std::string text = article.only_pmid ? "PMID " : "";
    text +=
        article.pmid != 0 ? std::to_string(article.pmid) : "line " + std::to_string(article.line);
    if (!article.fault.empty()) {
      text += "! " + article.fault;
    } else if (!article.only_pmid) {
      text += ":";
      for (const ingest::DescriptorUi& ui : article.uis) {
        std::string digits = std::to_string(ui.number);
        digits.insert(0, ui.digits - digits.size(), '0');
        text += " D" + digits;
      }
      for (const std::string& name : article.names) {
        text += " '" + name + "'";
      }
    }
    articles.push_back(text);
  }
  void remark(const std::string& text) override { remarks.push_back(text); }

  std::vector<std::string> articles;
  std::vector<std::string> remarks;
};

Recorder read(const std::string& text, std::size_t piece = 7) {
  Bytes source(text, piece);
  ingest::NameTable names;
  names.add("Neoplasms", {9369, 6});
  Recorder recorder;
  read_articles(source, names, recorder);
  return recorder;
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const ingest::InputError& error) {
    return error.what();
  }
  return "no error";
}

using Texts = std::vector<std::string>;

TEST(ArticleInput, ReadsPmidsOneALine) {
  EXPECT_EQ(read("12\n7\n12\n4294967295\n").articles,
            (Texts{"PMID 12", "PMID 7", "PMID 12", "PMID 4294967295"}));
}

TEST(ArticleInput, PassesOverBlankLinesCommentsAndAllLineEnds) {
  EXPECT_EQ(read("\xEF\xBB\xBF# mine\r\n\r\n  12 \r\n\t\n#x\n\t7\t\r\n  # y\n8").articles,
            (Texts{"PMID 12", "PMID 7", "PMID 8"}));
}

TEST(ArticleInput, ReadsDescriptorsByUiAndByName) {
  EXPECT_EQ(
      read("# a line an article\nD009369; Aged, 80 and over ;D000068036\n\nHumans\n").articles,
      (Texts{"line 2: D009369 D000068036 'Aged, 80 and over'", "line 4: 'Humans'"}));
}

TEST(ArticleInput, TakesARepeatedDescriptorOnce) {
  EXPECT_EQ(read("D000002;D000001;x;D000002;;x; ;\n").articles,
            (Texts{"line 1: D000001 D000002 'x'"}));
}

TEST(ArticleInput, KeepsALineOfSeparatorsAsAnArticleWithNothing) {
  EXPECT_EQ(read(" ; ;\n").articles, Texts{"line 1:"});
}

TEST(ArticleInput, ANameMayLookAlmostLikeAUi) {
  EXPECT_EQ(read("D00936;d009369;D0093690;D009369 x\n").articles,
            Texts{"line 1: 'D00936' 'D009369 x' 'D0093690' 'd009369'"});
}

TEST(ArticleInput, ReadsCitationsWithTagsAsPubMedSavesThem) {
  for (const std::string end : {"\n", "\r\n"}) {
    std::string text =
        "|PMID- 12|OWN - NLM|TI  - Of D000001; and PMID- 9|MH  - *Neoplasms/drug "
        "therapy/*mortality|"
        "MH  - Aged, 80 and|      over|MH  - Neoplasms|AB  - MH  - Pain||PMID- 7|TI  - No headings|"
        "|PMID- none|MH  - Pain";
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += end.size()) {
      text.replace(at, 1, end);
    }
    EXPECT_EQ(read(text).articles,
              (Texts{"12: 'Aged, 80 and over' 'Neoplasms'", "PMID 7",
                     "line " + std::to_string(std::count(text.begin(), text.end(), '\n')) +
                         "! it is no PMID, a number from 1 to 4294967295"}));
  }
}

TEST(ArticleInput, KeepsNoMoreOfACitationThanAnArticleMayHave) {
  std::string text = "PMID- 12\n";
  for (int i = 0; i < 200'000; ++i) {
    text += "MH  - Heading " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(read(text + "PMID- 13\n").articles,
            (Texts{"12! it has too many descriptors", "PMID 13"}));
}

TEST(ArticleInput, ReadsTheTableThatPubMedSaves) {
  EXPECT_EQ(read("PMID,Title,Authors\n12,\"A, b\",C\n7,;D000001\n\nx,y\n").articles,
            (Texts{"PMID 12", "PMID 7",
                   "line 5! its first field is no PMID, a number from 1 to 4294967295"}));
  EXPECT_EQ(read("\"PMID\",\"Title\"\r\n\"12\",\"x\"\r\n").articles, Texts{"PMID 12"});
  EXPECT_EQ(read("PMID\n12\n").articles.size(), 2U);  // a line of descriptors, and a number
}

TEST(ArticleInput, HasNothingInAnEmptyInput) {
  EXPECT_TRUE(read("").articles.empty());
  EXPECT_TRUE(read("\n \r\n# only words\n").articles.empty());
}

const std::string no_pmid = "! it is no PMID, a number from 1 to 4294967295";

TEST(ArticleInput, ALineOfAPmidListThatIsNoneIsAFaultOfItsOwn) {
  for (const std::string& line :
       Texts{"0", "000", "4294967296", "99999999999999999999999", "-5", "+5", "12x", "1 2", "1;2",
             "1.5", "Humans", "D000001;Mice", "\xd9\xa1", "-"}) {
    EXPECT_EQ(read("# x\n12\n" + line + "\n\n7\n").articles,
              (Texts{"PMID 12", "line 3" + no_pmid, "PMID 7"}))
        << line;
  }
  // A number in the first line tells the kind, whether it is a PMID or not.
  for (const std::string& line : Texts{"0", "4294967296", "-5", "+5"}) {
    EXPECT_EQ(read(line + "\n7\nHumans\n").articles,
              (Texts{"line 1" + no_pmid, "PMID 7", "line 3" + no_pmid}))
        << line;
  }
}

TEST(ArticleInput, ANumberAmongDescriptorsIsAFaultOfItsOwn) {
  for (const std::string& line : Texts{"0", "12", "-5", "4294967296"}) {
    EXPECT_EQ(read("#\r\nHumans\r\n" + line + "\r\nD000001\r\n").articles,
              (Texts{"line 2: 'Humans'",
                     "line 3! it is a number, and line 2 made this an input of descriptors",
                     "line 4: D000001"}))
        << line;
  }
  EXPECT_EQ(read("Humans\n12x\n3T3 Cells\n7;8\n").articles,
            (Texts{"line 1: 'Humans'", "line 2: '12x'", "line 3: '3T3 Cells'", "line 4: '7' '8'"}));
}

TEST(ArticleInput, RefusesXmlAmongLines) {
  for (const char* const first : {"12", "Humans"}) {
    EXPECT_EQ(refusal(std::string(first) + "\n<PubmedArticleSet/>\n"),
              "input:2: XML in the midst of lines; give one kind of input at a time");
  }
}

TEST(ArticleInput, RefusesBinaryAndEndlessLines) {
  EXPECT_EQ(refusal(std::string("Hum\0ans\n", 8)),
            "input:1: a NUL byte: this is neither MEDLINE XML nor a text file in UTF-8");
  const std::string longest(longest_line_bytes, 'x');
  EXPECT_EQ(read(longest + "\n", 100'000).articles.size(), 1U);
  const std::string expected =
      "is longer than 524288 bytes; give a PMID or the descriptors of one article a line";
  EXPECT_NE(refusal("Humans\n" + longest + "x\n").find("input:2: the line " + expected),
            std::string::npos);
  EXPECT_NE(refusal(std::string(5'000'000, 'x')).find("input:1: a line " + expected),
            std::string::npos);
}

// A line of very many entries must not cost their square.
TEST(ArticleInput, ReadsALineOfVeryManyEntries) {
  std::string line;
  for (int i = 0; line.size() < longest_line_bytes - 10; ++i) {
    line += std::to_string(i) + "x;";
  }
  EXPECT_EQ(read(line + "\n", 100'000).articles.size(), 1U);
}

TEST(ArticleInput, DoesNotDependOnHowBytesArrive) {
  const std::string text = "\xEF\xBB\xBF#c\r\nHumans;Mice\r\n\r\nD009369\nlast";
  const Texts expected = read(text, 1000).articles;
  EXPECT_EQ(expected, (Texts{"line 2: 'Humans' 'Mice'", "line 4: D009369", "line 5: 'last'"}));
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    EXPECT_EQ(read(text, piece).articles, expected) << piece;
  }
}

const char* const xml =
    "<?xml version=\"1.0\"?>\n"
    "<PubmedArticleSet>\n"
    "<PubmedArticle><MedlineCitation><PMID Version=\"1\">31</PMID><MeshHeadingList>\n"
    "<MeshHeading><DescriptorName UI=\"D000818\">Animals</DescriptorName></MeshHeading>\n"
    "<MeshHeading><DescriptorName>Neoplasms</DescriptorName></MeshHeading>\n"
    "<MeshHeading><DescriptorName>Unheard Of</DescriptorName></MeshHeading>\n"
    "<MeshHeading><DescriptorName>Unheard Of</DescriptorName></MeshHeading>\n"
    "</MeshHeadingList></MedlineCitation></PubmedArticle>\n"
    "<PubmedArticle><MedlineCitation><PMID Version=\"1\">32</PMID>\n"
    "</MedlineCitation></PubmedArticle>\n"
    "<DeleteCitation><PMID Version=\"1\">33</PMID></DeleteCitation>\n"
    "</PubmedArticleSet>\n";

TEST(ArticleInput, ReadsXmlWithHeadingsByName) {
  const Recorder recorder = read(xml);
  EXPECT_EQ(recorder.articles, (Texts{"31: D000818 D009369 'Unheard Of'", "PMID 32"}));
  EXPECT_EQ(recorder.remarks, Texts{"input: the deletion of 33 names no article to place"});
}

TEST(ArticleInput, TellsXmlBehindAMarkAndBlanks) {
  const std::string bare(xml + std::string_view(xml).find('\n') + 1);
  EXPECT_EQ(read("\xEF\xBB\xBF" + bare).articles.size(), 2U);
  EXPECT_EQ(read("\n \n" + bare).articles.size(), 2U);
}

TEST(ArticleInput, NamesTheLineOfBrokenXml) {
  EXPECT_NE(refusal("<PubmedArticleSet>\n<PubmedArticle>\n</PubmedArticleSet>\n").find("input:3"),
            std::string::npos);
}

TEST(ArticleInput, OpensPlainAndMissingFiles) {
  const exports::ScratchFolder folder;
  exports::write_text(folder / "pmids.txt", "5\n");
  const auto source = open_input(folder / "pmids.txt");
  Recorder recorder;
  read_articles(*source, {}, recorder);
  EXPECT_EQ(recorder.articles, Texts{"PMID 5"});
  for (const char* const name : {"empty.txt", "empty.xml", "empty.xml.gz"}) {
    exports::write_text(folder / name, "");
    const auto empty = open_input(folder / name);
    Recorder nothing;
    read_articles(*empty, {}, nothing);
    EXPECT_TRUE(nothing.articles.empty() && nothing.remarks.empty()) << name;
  }
  EXPECT_THROW(static_cast<void>(open_input(folder / "none.txt")), ingest::InputError);
}

}  // namespace
}  // namespace somatlas::lookup
