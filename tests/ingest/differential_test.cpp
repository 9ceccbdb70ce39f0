// The parser against the slow reader: on random documents, in any cutting of their bytes, and on
// the real and invented files of tests/data. SOMATLAS_TEST_SEED repeats a run.
#include <gtest/gtest.h>

#include <random>

#include "tests/ingest/dom_reader.h"
#include "tests/ingest/recorded_events.h"
#include "tests/repetitions.h"
#include "tests/seed.h"

namespace somatlas::ingest {
namespace {

/// Writes documents that hold what MEDLINE holds, and what it never should.
class DocumentWriter {
 public:
  explicit DocumentWriter(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] std::string document() {
    out_.clear();
    if (chance(70)) {
      out_ += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    }
    filler();
    if (chance(50)) {
      out_ +=
          "<!DOCTYPE PubmedArticleSet PUBLIC \"-//N//D' E//EN\" 'http://dtd.invalid/\"<a.dtd'>\n";
    }
    filler();
    const std::string root = pick({"PubmedArticleSet", "MedlineCitationSet", "RAW_DATA"});
    open(root);
    const unsigned records = below(6);
    for (unsigned i = 0; i < records; ++i) {
      record();
      filler();
    }
    close(root);
    filler();
    return out_;
  }

 private:
  unsigned below(unsigned end) {
    return std::uniform_int_distribution<unsigned>(0, end - 1)(random_);
  }
  bool chance(unsigned percent) { return below(100) < percent; }
  std::string pick(const std::vector<std::string>& from) {
    return from[below(static_cast<unsigned>(from.size()))];
  }

  /// What may stand between any two tags and means nothing.
  void filler() {
    switch (below(8)) {
      case 0:
        out_ += "\n  ";
        break;
      case 1:
        out_ += "<!-- a > b <PMID>3</PMID> it's \"-> - ]]> -->";
        break;
      case 2:
        out_ += "<?note <MedlineCitation> it's '>' ? > ?>";
        break;
      default:
        break;
    }
  }
  void text() {
    static const std::vector<std::string> pieces = {
        "plain",         "caf\xc3\xa9",  "\xf0\x9d\x94\x98\xe2\x82\xac",
        "&lt;&amp;&gt;", "&#x3b1;&#65;", "<![CDATA[<PMID>5</PMID> ]] > ]]>",
        "<i>x</i>",      " \n\t",        "\"'>",
        "<sub/>",        "2001"};
    for (unsigned i = below(5); i > 0; --i) {
      out_ += pick(pieces);
    }
  }
  void open(const std::string& name, const std::string& attributes = {}) {
    out_ += "<" + name;
    if (chance(10)) {
      out_ += pick({"\n ", "  ", "\t"}) + pick({"a='>'", "a=\"x'/>\"", "a = '&quot;&#62;\"'"});
    }
    out_ += (attributes.empty() ? "" : " ") + attributes + (chance(10) ? "\n>" : ">");
  }
  void close(const std::string& name) { out_ += "</" + name + (chance(5) ? " >" : ">"); }
  void leaf(const std::string& name, const std::string& value, const std::string& attributes = {}) {
    open(name, attributes);
    out_ += value;
    close(name);
    filler();
  }

  std::string pmid_value() {
    return pick({"1", "90000001", "4294967295", " 17 \n", "1&#50;3", "<![CDATA[77]]>", "<b>4</b>2",
                 "007", "5<!-- 6 -->6", std::to_string(below(1000000) + 1), "12", "13",
                 chance(15) ? pick({"0", "", "-3", "4294967296", "99999999999999999999999", "x12",
                                    "1 2", "1.5", "\xd9\xa1"})
                            : "14"});
  }
  void pmid() {
    leaf("PMID", pmid_value(),
         chance(80) ? "Version=\"" +
                          (chance(95) ? pick({"1", "2", "10", "65535", " 3 "})
                                      : pick({"0", "", "65536", "x"})) +
                          "\""
                    : "");
  }
  std::string year_value() {
    return pick({"2001", "1998 Dec-1999 Jan", "Spring-Summer 2000", " 1987 ", "", "98", "20001",
                 "0999", "12345 1776", "201<i>1</i>"});
  }
  void decoy() {
    switch (below(5)) {
      case 0:
        open("CommentsCorrectionsList");
        leaf("PMID", "90000102", "Version=\"1\"");
        close("CommentsCorrectionsList");
        break;
      case 1:
        open("AuthorList");
        leaf("LastName", "O'Brien");
        text();
        close("AuthorList");
        break;
      case 2:
        open("Object");
        pmid();
        close("Object");
        break;
      case 3:
        open("m:math", "xmlns:m=\"urn:m\"");
        leaf("m:PMID", "4");
        close("m:math");
        break;
      default:
        leaf("DateRevised", "<Year>1900</Year>");
        break;
    }
  }
  void article() {
    open("Article");
    if (chance(80)) {
      open("Journal");
      leaf("Year", "1901");
      open("JournalIssue");
      open("PubDate");
      leaf(pick({"Year", "MedlineDate", "Season"}), year_value());
      if (chance(30)) {
        leaf(pick({"Year", "MedlineDate"}), year_value());
      }
      close("PubDate");
      close("JournalIssue");
      close("Journal");
    }
    open("ArticleTitle");
    text();
    close("ArticleTitle");
    if (chance(30)) {
      open("ArticleDate");
      leaf("Year", year_value());
      close("ArticleDate");
    }
    close("Article");
  }
  std::string major() {
    return pick({"", "", "MajorTopicYN=\"N\"", "MajorTopicYN='Y'", "MajorTopicYN=\"y\""});
  }
  void heading() {
    open("MeshHeading");
    if (chance(10)) {
      leaf("QualifierName", "early", major());
    }
    if (chance(95)) {
      const std::string ui = chance(70) ? "UI=\"D00000" + std::to_string(below(10)) + "\" "
                                        : pick({"", "UI=\"\" ", "UI='D000068036' ",
                                                "UI=\"Q000235\" ", "UI=\"D&#48;00001\" "});
      leaf("DescriptorName", pick({"Male", " Male ", "Female", "Male &amp; Female", "m\xc3\xa4le"}),
           ui + major());
    }
    for (unsigned i = below(3); i > 0; --i) {
      leaf("QualifierName", "genetics", "UI=\"Q000235\" " + major());
    }
    close("MeshHeading");
  }
  void citation() {
    open("MedlineCitation", "Status='MEDLINE'");
    if (chance(20)) {
      decoy();
    }
    const bool has_pmid = chance(95);
    if (has_pmid) {
      pmid();
    }
    for (unsigned i = below(3); i > 0; --i) {
      decoy();
    }
    if (chance(90)) {
      article();
    }
    if (chance(90)) {
      open("MeshHeadingList");
      const unsigned headings = chance(2) ? 1100 : below(9);
      for (unsigned i = 0; i < headings; ++i) {
        if (headings > 1000) {
          leaf("MeshHeading",
               "<DescriptorName UI='D" + std::to_string(100000 + below(20000)) + "'/>");
        } else {
          heading();
        }
      }
      close("MeshHeadingList");
    }
    if (has_pmid && chance(10)) {
      pmid();
    }
    close("MedlineCitation");
  }
  void unread(const std::string& name) {
    open(name);
    pmid();
    close(name);
  }
  void record() {
    switch (below(10)) {
      case 0:
        open("DeleteCitation");
        pmid();
        pmid();
        leaf("Note", "<PMID>9</PMID>");
        close("DeleteCitation");
        break;
      case 1:
        open("PubmedBookArticle");
        open("BookDocument");
        pmid();
        close("BookDocument");
        close("PubmedBookArticle");
        break;
      case 2:
        unread(pick({"BookDocument", "DeleteDocument"}));
        break;
      case 3:
        citation();
        break;
      case 4:
        open("Wrapper");
        citation();
        close("Wrapper");
        break;
      default:
        open("PubmedArticle");
        if (chance(95)) {
          citation();
        }
        open("PubmedData");
        leaf("PMID", "3");
        leaf("Reference", "<PMID>4</PMID>");
        close("PubmedData");
        close("PubmedArticle");
        break;
    }
  }

  std::mt19937_64 random_;
  std::string out_;
};

NameTable two_names() {
  NameTable names;
  names.add("Male", *parse_descriptor_ui("D008297"));
  names.add("Male & Female", *parse_descriptor_ui("D000001"));
  return names;
}

TEST(Differential, RandomDocumentsInAnyCutting) {
  DocumentWriter writer(test_seed());
  const NameTable names = two_names();
  const auto wanted = static_cast<std::size_t>(repetitions(2'000, 1'000'000));
  for (std::size_t events = 0; events < wanted;) {
    const std::string xml = writer.document();
    const auto read = dom_events_of(xml, names);
    ASSERT_TRUE(read.has_value()) << xml;
    const std::vector<std::string>& expected = *read;
    events += expected.size();
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
      ASSERT_EQ(events_of(xml, names, chunk), expected) << "chunks of " << chunk << " of\n" << xml;
    }
  }
}

TEST(Differential, EveryFileOfTheTestData) {
  const std::filesystem::path data = SOMATLAS_TEST_DATA;
  NameTable names;
  for (const MeshDescriptor& descriptor :
       read_mesh_file(data / "sample" / "descriptors.tsv.gz").descriptors) {
    names.add(descriptor.name, descriptor.ui);
  }
  std::size_t files = 0;
  std::vector<std::filesystem::directory_entry> entries;
  for (const char* const folder : {"cases", "sample"}) {
    const std::filesystem::recursive_directory_iterator below(data / folder);
    entries.insert(entries.end(), begin(below), end(below));
  }
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (name == "truncated.xml" || (!name.ends_with(".xml") && !name.ends_with(".xml.gz"))) {
      continue;
    }
    const std::string xml = drain(*open_byte_source(entry.path().string()));
    const auto read = dom_events_of(xml, names);
    ASSERT_TRUE(read.has_value()) << entry.path();
    const std::vector<std::string>& expected = *read;
    EXPECT_EQ(events_of(xml, names), expected) << entry.path();
    EXPECT_EQ(events_of(xml, names, 5000), expected) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 20U);
}

/// One tag a line, so that the line libxml2 would have is known without it.
TEST(Differential, LinesPast65535AreRight) {
  std::string xml = "<PubmedArticleSet>\n";
  for (int i = 0; i < 200000; ++i) {
    xml += "\n";
  }
  xml += "<MedlineCitation/>\n</PubmedArticleSet>";
  EXPECT_EQ(events_of(xml, {}, 1000), std::vector<std::string>{"left out 0 at 200002: "});
  xml.resize(xml.size() - 5);
  EXPECT_EQ(refusal([&] { events_of(xml); }).substr(0, 18), "memory.xml:200003:");
}

}  // namespace
}  // namespace somatlas::ingest
