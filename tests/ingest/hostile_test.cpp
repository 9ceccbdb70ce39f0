// Documents that are broken or mean harm: each is refused with one sentence and its line, or read.
// Also what the rules say of single records. Those without end are in hostile_bounds_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "ingest/markup_scanner.h"
#include "tests/ingest/recorded_events.h"

namespace somatlas::ingest {
namespace {

using Lines = std::vector<std::string>;

std::string in_set(const std::string& records) {
  return "<PubmedArticleSet>" + records + "</PubmedArticleSet>";
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

std::string refused(const std::string& xml, std::size_t chunk = std::size_t{1} << 16U) {
  return refusal([&] { events_of(xml, {}, chunk); });
}

TEST(Hostile, EntitiesAreRefused) {
  const std::string bomb =
      "<!DOCTYPE PubmedArticleSet [\n<!ENTITY a \"aaaaaaaaaa\">\n<!ENTITY b "
      "\"&a;&a;&a;&a;\">\n]>\n";
  EXPECT_EQ(refused(bomb + in_set("<MedlineCitation><PMID>&b;</PMID></MedlineCitation>")),
            "memory.xml:2: declares the entity a; such declarations are refused, remove them from "
            "the document type");
  EXPECT_NE(refused("<!DOCTYPE a [\n<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>")
                .find("declares the entity x"),
            std::string::npos);
  EXPECT_NE(refused("<!DOCTYPE a [<!ENTITY % x SYSTEM \"http://dtd.invalid/\">%x;]><a/>")
                .find("declares the entity x"),
            std::string::npos);
  EXPECT_NE(refused("<!DOCTYPE a [<!NOTATION n SYSTEM \"n\"><!ENTITY x SYSTEM \"x\" NDATA n>]><a/>")
                .find("declares the entity x"),
            std::string::npos);
  EXPECT_NE(
      refused("<!DOCTYPE a [<!ATTLIST b c CDATA \"d\">]><a/>").find("declares attributes of b"),
      std::string::npos);
}

/// Behind a document type that is not read, libxml2 would drop such a reference without an error.
TEST(Hostile, UnknownEntitiesAreRefused) {
  const std::string record = in_set("<MedlineCitation>\n<PMID>1&nbsp;2</PMID></MedlineCitation>");
  EXPECT_EQ(refused(record).substr(0, 40), "memory.xml:2: is not well-formed XML (En");
  EXPECT_EQ(refused("<!DOCTYPE a SYSTEM \"a.dtd\">" + record).substr(0, 40),
            "memory.xml:2: is not well-formed XML (En");
  EXPECT_EQ(events_of(in_set("<MedlineCitation><PMID>1&#50;</PMID></MedlineCitation>")),
            Lines{"12 v1 0 ="});
}

TEST(Hostile, ExternalTypesAreNotOpened) {
  const ScratchDirectory scratch;
  const std::string dtd = scratch.write("a.dtd", "<!ENTITY x \"7\">");
  const std::string record = in_set("<MedlineCitation><PMID>1</PMID></MedlineCitation>");
  EXPECT_EQ(events_of("<!DOCTYPE a SYSTEM \"" + dtd + "\">" + record), Lines{"1 v1 0 ="});
  EXPECT_NE(refused("<!DOCTYPE a SYSTEM \"" + dtd + "\">" +
                    in_set("<MedlineCitation><PMID>&x;</PMID></MedlineCitation>")),
            "nothing refused");
}

TEST(Hostile, DeepNestingIsRefused) {
  const auto nested = [](std::size_t depth) {  // the citation's depth
    return in_set(repeated("<a>", depth - 2) +
                  "<MedlineCitation><PMID>1</PMID>"
                  "</MedlineCitation>" +
                  repeated("</a>", depth - 2));
  };
  EXPECT_EQ(events_of(nested(255)), Lines{"1 v1 0 ="});
  const std::string deep =
      "nests elements more than 256 deep, which no MEDLINE or MeSH file has; fetch it again or "
      "repair it";
  EXPECT_EQ(refused(nested(256)), "memory.xml:1: " + deep);
  EXPECT_EQ(refused(in_set("\n" + repeated("<a>", 100000) + repeated("</a>", 100000))),
            "memory.xml:2: " + deep);
}

TEST(Hostile, LongTagsAreRefusedBeforeTheParserSeesThem) {
  const auto begin = std::chrono::steady_clock::now();
  std::string many = "<RAW_DATA>\n\n<b";
  for (int i = 0; i < 200000; ++i) {
    many += " a" + std::to_string(i) + "=\"\"";
  }
  const std::string message = refused(many + "/></RAW_DATA>");
  EXPECT_EQ(message.substr(0, 40), "memory.xml:3: has a tag with more than 1");
  EXPECT_EQ(refused(many + "/></RAW_DATA>", 1000), message);
  EXPECT_EQ(
      refused("<RAW_DATA>\n<b c='" + std::string(5000000, '>') + "'/></RAW_DATA>").substr(0, 36),
      "memory.xml:2: has a tag longer than ");
  EXPECT_EQ(refused("<!DOCTYPE a [\n" + std::string(100000, ' ') + "]><a/>").substr(0, 36),
            "memory.xml:1: has a tag longer than ");
  EXPECT_EQ(refused("<RAW_DATA>\n<?b " + std::string(100000, 'x') + "?></RAW_DATA>").substr(0, 36),
            "memory.xml:2: has a tag longer than ");
  EXPECT_EQ(refused("<" + std::string(3000000, 'x') + "/>").substr(0, 36),
            "memory.xml:1: has a tag longer than ");
  // A fault before the long tag is the one that is told.
  EXPECT_EQ(refused("<RAW_DATA>\n</b>\n" + many).substr(0, 24), "memory.xml:2: is not wel");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Hostile, TagsUpToTheBoundAreRead) {
  const std::string open = "<MedlineCitation a=\"";
  for (const std::size_t chunk : {std::size_t{977}, std::size_t{1} << 16U}) {
    const auto with_tag_of = [&](std::size_t bytes) {
      return in_set(open + std::string(bytes - open.size() - 2, '>') +
                    "\"><PMID>1</PMID></MedlineCitation>");
    };
    EXPECT_EQ(events_of(with_tag_of(longest_markup_bytes), {}, chunk), Lines{"1 v1 0 ="});
    EXPECT_NE(refused(with_tag_of(longest_markup_bytes + 1), chunk), "nothing refused");
  }
}

TEST(Hostile, HeadingsWithoutEnd) {
  std::string headings;
  for (int i = 0; i < 200000; ++i) {
    headings +=
        "<MeshHeading><DescriptorName UI=\"D" + std::to_string(100000 + i) + "\"/></MeshHeading>\n";
  }
  const std::string after = "<MedlineCitation><PMID>8</PMID></MedlineCitation>";
  EXPECT_EQ(events_of(in_set("<MedlineCitation><PMID>7</PMID><MeshHeadingList>" + headings +
                             "</MeshHeadingList></MedlineCitation>" + after)),
            (Lines{"left out 2 at 1: 7", "8 v1 0 ="}));
}

TEST(Hostile, TheDescriptorCapIsExact) {
  for (const int count : {1023, 1024}) {
    std::string headings;
    for (int i = 0; i < count; ++i) {
      headings +=
          "<MeshHeading><DescriptorName UI=\"D" + std::to_string(100000 + i) + "\"/></MeshHeading>";
    }
    headings += headings;  // each twice: still as many distinct ones
    const Lines events = events_of(in_set("<MedlineCitation><PMID>7</PMID><MeshHeadingList>" +
                                          headings + "</MeshHeadingList></MedlineCitation>"));
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(std::count(events[0].begin(), events[0].end(), 'D'), count == 1023 ? 1023 : 0);
    EXPECT_EQ(events[0].rfind("left out 2", 0) == 0, count == 1024);
  }
}

TEST(Hostile, NulBytesAndWrongEncodings) {
  const std::string record = in_set("\n<MedlineCitation><PMID>1</PMID>caf\xe9</MedlineCitation>");
  for (const std::size_t at : {std::size_t{0}, std::size_t{20}, record.size()}) {
    std::string bytes = in_set("\n<MedlineCitation><PMID>1</PMID> text</MedlineCitation>");
    bytes.insert(std::min(at, bytes.size()), 1, '\0');
    EXPECT_NE(refused(bytes), "nothing refused") << at;
  }
  EXPECT_EQ(refused(std::string("<RAW_DATA>\n\0</RAW_DATA>", 23)),
            "memory.xml:2: holds a NUL byte, so it is not text in UTF-8; fetch it again or convert "
            "it");
  EXPECT_EQ(refused(record).substr(0, 37), "memory.xml:2: is not well-formed XML ");
  EXPECT_EQ(events_of("<?xml version='1.0' encoding='ISO-8859-1'?>" + record), Lines{"1 v1 0 ="});
  EXPECT_EQ(events_of("<?xml version='1.0' encoding='ISO-8859-1'?>" + record, {}, 1),
            Lines{"1 v1 0 ="});
  EXPECT_EQ(refused("<?xml version='1.0' encoding='UTF-7'?>" + record).substr(0, 14),
            "memory.xml:1: ");
  EXPECT_EQ(refused("<?xml version='1.0' encoding='EUC-JP'?><a/>"),
            "memory.xml:1: is encoded in euc-jp; convert it to UTF-8");
  const std::string wide("\xff\xfe<\0a\0/\0>\0", 10);
  EXPECT_EQ(refused(wide).substr(0, 31), "memory.xml:1: holds a NUL byte,");
}

TEST(Hostile, DocumentsWithoutAnElementAreCutShort) {
  for (const std::string xml : {" ", "\n\n", "\xef\xbb\xbf", "<?xml version='1.0'?>\n",
                                "<!DOCTYPE PubmedArticleSet>", "<!-- -->\n<!-- -->"}) {
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{1} << 16U}) {
      const std::string message = refused(xml, chunk);
      EXPECT_NE(message.find(": is cut short: it ends before its root element begins; fetch it "
                             "again"),
                std::string::npos)
          << message;
    }
  }
}

TEST(Hostile, AttributesOfAnotherNamespaceAreNotMedlines) {
  EXPECT_EQ(events_of("<m:PubmedArticleSet xmlns:m='urn:m' xmlns:o='urn:o'><m:MedlineCitation>"
                      "<m:PMID o:Version='7' Version='2' m:Version='8'>1</m:PMID>"
                      "<m:MeshHeadingList><m:MeshHeading>"
                      "<m:DescriptorName o:UI='D000007' UI='D000001' o:MajorTopicYN='Y'/>"
                      "</m:MeshHeading></m:MeshHeadingList>"
                      "</m:MedlineCitation></m:PubmedArticleSet>"),
            Lines{"1 v2 0 = D000001"});
}

TEST(Hostile, RefusalsAreShortWhateverTheyQuote) {
  std::string name;
  while (name.size() < 50000) {
    name += "\xce\xb1";
  }
  for (const std::string& xml :
       {"<?" + name + "=?><a/>", "<!DOCTYPE a [<!ENTITY " + name + " ''>]><a/>", "<" + name + "/>",
        "<RAW_DATA><" + name + "></b></RAW_DATA>", "<" + name + ">",
        "<RAW_DATA>&" + name + ";</RAW_DATA>", "<RAW_DATA a='" + name + "' a=''/>",
        "<?xml version='1.0' encoding='" + std::string(50000, 'x') + "'?><a/>"}) {
    const std::string message = refused(xml);
    EXPECT_LT(message.size(), 400U) << message;
    EXPECT_NE(message, "nothing refused");
    const std::size_t cut = message.find("...");
    EXPECT_TRUE(cut == std::string::npos || message[cut - 1] != '\xce') << message;
  }
}

/// Where a conversion fails libxml2 stops without a fault, as if the document had ended there.
TEST(Hostile, BytesThatTheEncodingLacksAreRefused) {
  const std::string record = "<MedlineCitation><PMID>1</PMID></MedlineCitation>\n";
  for (const std::string encoding : {"windows-1252", "US-ASCII", "UTF8-"}) {
    for (const std::size_t records : {0U, 1U, 3000U}) {
      const std::string head = "<?xml version='1.0' encoding='" + encoding + "'?>\n";
      const std::string before = head + "<PubmedArticleSet>\n" + repeated(record, records);
      const std::string after = repeated(record, records) + "</PubmedArticleSet>";
      EXPECT_EQ(events_of(before + after).size(), 2 * records) << encoding;
      for (const std::size_t chunk : {std::size_t{1}, std::size_t{21}, std::size_t{1} << 16U}) {
        EXPECT_NE(refused(before + "\x81" + after, chunk), "nothing refused")
            << encoding << " in chunks of " << chunk << " behind " << records;
        EXPECT_NE(refused(head + "<!-- \x81 -->" + after, chunk), "nothing refused");
      }
    }
  }
}

TEST(Hostile, OnlyAKnownRootIsMedline) {
  const std::string record = "<MedlineCitation><PMID>1</PMID></MedlineCitation>";
  for (const std::string root :
       {"PubmedArticleSet", "MedlineCitationSet", "RAW_DATA", "PubmedBookArticleSet"}) {
    EXPECT_EQ(events_of("<" + root + "/>"), Lines{}) << root;
    EXPECT_EQ(events_of("<" + root + "><x><y>" + record + "</y></x></" + root + ">"),
              Lines{"1 v1 0 ="})
        << root;
  }
  EXPECT_EQ(events_of(record), Lines{"1 v1 0 ="});
  EXPECT_EQ(events_of("<PubmedArticle>" + record + "</PubmedArticle>"), Lines{"1 v1 0 ="});
  for (const std::string root :
       {"html", "eFetchResult", "eSummaryResult", "DescriptorRecordSet", "ArticleSet", "x",
        "pubmedarticleset", "PubmedArticleSets", "PubmedData"}) {
    const std::string message = "memory.xml:2: is no MEDLINE XML: its root element is " + root +
                                ", not PubmedArticleSet or the like; name a file that PubMed wrote";
    EXPECT_EQ(refused("<?xml version='1.0'?>\n<" + root + "/>"), message);
    EXPECT_EQ(refused("<!-- -->\n<" + root + "><b>\n" + record + "</b></" + root + ">"), message);
    EXPECT_EQ(refused("<!-- -->\n<" + root + "><b>\n" + in_set(record) + "</b></" + root + ">"),
              message);
  }
  EXPECT_EQ(refused("PMID- 1\n").substr(0, 25), "memory.xml:1: is no XML, ");
  EXPECT_EQ(refused(""), "memory.xml: is empty; fetch it again");
}

/// Wherever a record begins it is counted, or the file is refused: none vanishes inside another.
TEST(Hostile, RecordsInsideRecordsAreRefused) {
  const Lines beginnings = {"MedlineCitation", "PubmedArticle", "PubmedBookArticle", "BookDocument",
                            "DeleteCitation"};
  const Lines surroundings = {"MedlineCitation",
                              "MedlineCitation><Article><Journal",
                              "MedlineCitation><MeshHeadingList><MeshHeading><DescriptorName",
                              "MedlineCitation><PMID",
                              "MedlineCitation><OtherAbstract><AbstractText",
                              "PubmedArticle><PubmedData><ReferenceList",
                              "PubmedData",
                              "DeleteDocument",
                              "PubmedBookArticle",
                              "PubmedBookArticle><BookDocument",
                              "BookDocument",
                              "BookDocument><ArticleTitle",
                              "DeleteCitation",
                              "DeleteCitation><PMID",
                              "PubmedArticle"};
  for (const std::string& around : surroundings) {
    std::string closing;
    std::string rest = around;
    for (std::size_t at = 0; at != std::string::npos; at = rest.rfind("><")) {
      rest = at == 0 ? rest : rest.substr(0, at);
      const std::size_t from = rest.rfind('<');
      closing += "</" + (from == std::string::npos ? rest : rest.substr(from + 1)) + ">";
    }
    for (const std::string& name : beginnings) {
      const std::string inner = "\n<" + name + "><PMID>5</PMID></" + name + ">";
      const std::string xml = in_set("<" + around + ">" + inner + closing);
      // What a book or a wrapper is made of.
      if ((around == "PubmedBookArticle" && name == "BookDocument") ||
          (around == "PubmedArticle" && name != "PubmedArticle")) {
        EXPECT_FALSE(events_of(xml).empty()) << xml;
      } else {
        EXPECT_EQ(refused(xml), "memory.xml:2: a " + name +
                                    " begins inside another record; fetch the file again or "
                                    "repair it")
            << xml;
      }
    }
  }
}

TEST(Hostile, TwoDocumentsInOneAreRefused) {
  const std::string document =
      "<?xml version='1.0'?>\n" + in_set("<MedlineCitation><PMID>1</PMID></MedlineCitation>\n");
  EXPECT_EQ(refused(document + document).substr(0, 37), "memory.xml:3: is not well-formed XML ");
  EXPECT_NE(refused(document + "x"), "nothing refused");
  EXPECT_EQ(events_of(document + "\n \n<!-- end -->"), Lines{"1 v1 0 ="});
}

TEST(Hostile, CutAnywhereIsRefused) {
  const std::string xml = file_text(case_path("inline_markup.xml"));
  const std::size_t whole = xml.rfind('>') + 1;
  const std::size_t root_end = xml.find('>', xml.find("<PubmedArticleSet>")) + 1;
  for (std::size_t size = 0; size < whole; ++size) {
    const std::string message = refused(xml.substr(0, size));
    ASSERT_NE(message, "nothing refused") << size;
    if (size >= root_end) {
      const auto line =
          1 + std::count(xml.begin(), xml.begin() + static_cast<std::ptrdiff_t>(size), '\n');
      ASSERT_EQ(message, "memory.xml:" + std::to_string(line) +
                             ": is cut short: it ends before its root element PubmedArticleSet is "
                             "closed; fetch it again")
          << size;
    }
  }
  EXPECT_EQ(refused(xml.substr(0, whole)), "nothing refused");
  EXPECT_EQ(refused("<PubmedArticleS"),
            "memory.xml:1: is cut short: it ends inside a tag; fetch it again");
  EXPECT_EQ(refused("<RAW_DATA>\n<a b=\"c>\n</a>\n</RAW_DATA>\n"),
            "memory.xml:2: is cut short: it ends before its root element RAW_DATA is closed; fetch "
            "it again");
  EXPECT_EQ(refused("<RAW_DATA/>\n<b"),
            "memory.xml:2: is cut short: it ends inside a tag; fetch it again");
  // A fault before the end is still the one that is told.
  EXPECT_EQ(refused("<PubmedArticleSet>\n<a></b>\n").substr(0, 37),
            "memory.xml:2: is not well-formed XML ");
}

TEST(Hostile, RecordsWithoutUsableNumbersAreLeftOut) {
  const auto citation = [](const std::string& pmid) {
    return "<MedlineCitation>" + pmid + "</MedlineCitation>\n";
  };
  EXPECT_EQ(events_of(in_set(
                citation("<PMID>0</PMID>") + citation("<PMID>4294967296</PMID>") +
                citation("<PMID>4294967295</PMID>") + citation("<PMID> </PMID>") +
                citation("<PMID>-1</PMID>") + citation("") +
                citation("<PMID Version=\"70000\">5</PMID>") +
                "<PubmedArticle><PubmedData/></PubmedArticle>" +
                "<DeleteCitation><PMID>x</PMID><PMID Version=\"2\">6</PMID>"
                "<PMID Version=\"two\">7</PMID><PMID Version=\"0\">y</PMID></DeleteCitation>")),
            (Lines{"left out 1 at 1: 0", "left out 1 at 2: 4294967296",
                   "4294967295 v1 0 =", "left out 1 at 4: ", "left out 1 at 5: -1",
                   "left out 0 at 6: ", "left out 3 at 7: PMID 5, Version '70000'",
                   "left out 0 at 8: ", "left out 1 at 8: x", "delete 6 v2",
                   "left out 3 at 8: PMID 7, Version 'two'", "left out 1 at 8: y"}));
}

/// Text that is longer than is kept must not pass for what its beginning says.
TEST(Hostile, LongTextIsNotCutToSomethingElse) {
  const std::string white(2000, ' ');
  NameTable names;
  names.add("Male", *parse_descriptor_ui("D008297"));
  EXPECT_EQ(events_of(in_set("<MedlineCitation><PMID>12" + white +
                             "3</PMID></MedlineCitation>"
                             "<MedlineCitation><PMID>4</PMID><MeshHeadingList><MeshHeading>"
                             "<DescriptorName>Male" +
                             white +
                             "x</DescriptorName></MeshHeading>"
                             "</MeshHeadingList></MedlineCitation>"),
                      names),
            (Lines{"left out 1 at 1: 12", "unknown at 1 in 4: Male", "4 v1 0 ="}));
}

TEST(Hostile, SummaryCountsWhatWasMet) {
  MemorySource source(
      in_set("<MedlineCitation><PMID>1</PMID></MedlineCitation><MedlineCitation/>"
             "<BookDocument/><DeleteCitation><PMID>1</PMID></DeleteCitation>"));
  RecordedEvents events;
  const ParseSummary summary = parse_medline(source, {}, events);
  EXPECT_EQ(summary.citations, 2U);
  EXPECT_EQ(summary.books, 1U);
  EXPECT_EQ(summary.deletions, 1U);
  EXPECT_EQ(summary.xml_bytes, source.file_bytes());
}

struct SinkFault {};
class ThrowingSink final : public CitationSink {
 public:
  explicit ThrowingSink(int after) : left_(after) {}
  void citation(const CitationView&) override {
    if (left_-- == 0) {
      throw SinkFault{};
    }
  }
  void deletion(std::uint32_t, std::uint16_t) override {}
  void book(std::uint64_t) override {}
  void left_out(LeftOut, std::uint64_t, std::string_view) override {}
  void unknown_heading(std::uint64_t, std::uint32_t, std::string_view) override {}

 private:
  int left_;
};

TEST(Hostile, WhatASinkThrowsReachesTheCaller) {
  const std::string xml =
      in_set(repeated("<MedlineCitation><PMID>1</PMID></MedlineCitation>", 50) + "<broken");
  for (const int after : {0, 1, 49}) {
    MemorySource source(xml);
    ThrowingSink sink(after);
    EXPECT_THROW(parse_medline(source, {}, sink), SinkFault);
  }
}

TEST(Hostile, ParsersOnSeveralThreadsDoNotMeet) {
  const std::string xml = file_text(case_path("versions.xml"));
  const std::string broken = file_text(case_path("truncated.xml"));
  const Lines expected = events_of(xml);
  std::vector<std::thread> threads;
  std::array<int, 4> right{};
  for (int& count : right) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        count += events_of(xml) == expected && refused(broken).substr(0, 14) == "memory.xml:63:";
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right, (std::array<int, 4>{50, 50, 50, 50}));
}

}  // namespace
}  // namespace somatlas::ingest
