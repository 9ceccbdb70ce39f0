// MeSH tables in their three forms, and what is no MeSH table.
#include <gtest/gtest.h>

#include "ingest/mesh_table.h"
#include "tests/ingest/recorded_events.h"

namespace somatlas::ingest {
namespace {

class MeshTable : public testing::Test {
 protected:
  /// "D000001|Calcimycin|D03.633 D04.345" a descriptor, "name|number" a tree.
  [[nodiscard]] std::vector<std::string> rows(std::string_view bytes,
                                              const std::string& name = "table") const {
    std::vector<std::string> lines;
    const MeshFile file = read_mesh_file(scratch.write(name, bytes));
    for (const MeshDescriptor& descriptor : file.descriptors) {
      std::string line = ui_text(descriptor.ui) + "|" + descriptor.name + "|";
      for (const std::string& number : descriptor.tree_numbers) {
        line += (line.back() == '|' ? "" : " ") + number;
      }
      lines.push_back(std::move(line));
    }
    for (const MeshTree& tree : file.trees) {
      lines.push_back(tree.name + "|" + tree.tree_number);
    }
    return lines;
  }
  /// The refusal's message behind the path.
  [[nodiscard]] std::string fault(std::string_view bytes) const {
    const std::string message = refusal([&] { static_cast<void>(rows(bytes)); });
    const std::string path = (scratch.path() / "table").string();
    return message.rfind(path, 0) == 0 ? message.substr(path.size()) : message;
  }

  ScratchDirectory scratch;
};

using Lines = std::vector<std::string>;

TEST_F(MeshTable, Tsv) {
  const Lines expected = {"D000001|Calcimycin|D02.355 D03.633.100", "D000602|Amino; Acids|",
                          "D000068036|Vibration|G01"};
  const std::string body =
      "D000001\tCalcimycin\tD02.355;D03.633.100\nD000602\tAmino; Acids\t\n"
      "D000068036\tVibration\tG01";
  EXPECT_EQ(rows("ui\tname\ttree_numbers\n" + body), expected);
  EXPECT_EQ(rows(body + "\n"), expected);
  EXPECT_EQ(rows("\xef\xbb\xbf" + body + "\n\n"), expected);
  std::string dos = body;
  for (std::size_t at = dos.find('\n'); at != std::string::npos; at = dos.find('\n', at + 2)) {
    dos.insert(at, 1, '\r');
  }
  EXPECT_EQ(rows(dos), expected);
}

TEST_F(MeshTable, TsvFaultsNameTheirLine) {
  const std::string good = "ui\tname\ttree_numbers\nD000001\tCalcimycin\tD02.355\n";
  EXPECT_EQ(fault(good + "D000002\tTemefos\n"),
            ":3: has not three columns (UI, name, tree numbers) parted by tabs");
  EXPECT_EQ(fault(good + "D000002\tTemefos\tD02\tmore\n"),
            ":3: has not three columns (UI, name, tree numbers) parted by tabs");
  EXPECT_EQ(fault(good + "D000001\tTemefos\t\n"),
            ":3: D000001 stands here for the second time; remove one");
  EXPECT_EQ(fault(good + "D00002\tTemefos\t\n"),
            ":3: 'D00002' is no descriptor UI; the first column is D and six or nine digits");
  EXPECT_EQ(fault(good + "ui\tname\ttree_numbers\n").substr(0, 9), ":3: 'ui' ");
  EXPECT_EQ(fault(good + "D000002\t\tD02\n"),
            ":3: D000002 has no name; the second column is the name");
  EXPECT_EQ(fault(good + "D000002\tTemefos\tD02;;D03\n"),
            ":3: '' is no tree number; the third column is numbers joined by ;");
  EXPECT_EQ(fault(good + "D000002\tTemefos\tD02.35\n").substr(0, 14), ":3: 'D02.35' i");
  EXPECT_EQ(fault("ui\tname\ttree_numbers\n"),
            ": is a MeSH table without a descriptor; fetch it again");
}

TEST_F(MeshTable, TreeFile) {
  EXPECT_EQ(rows("Body Regions;A01\nAcids; Strong;D01.029\r\nOcean;Z01.756.700"),
            (Lines{"Body Regions|A01", "Acids; Strong|D01.029", "Ocean|Z01.756.700"}));
  EXPECT_EQ(fault("Body Regions;A01\nHead\n"),
            ":2: is no line of a tree file; each is a name, a semicolon, a tree number");
  EXPECT_EQ(fault("Body Regions;A01\n;A02\n").substr(0, 6), ":2: is");
  EXPECT_EQ(fault("Body Regions;A01\nHead;A01.45\n").substr(0, 6), ":2: is");
  EXPECT_EQ(fault("Body Regions;A01\nHead;A01\n"),
            ":2: A01 stands here for the second time; remove one");
}

constexpr std::string_view xml = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://dtd.invalid/never/here.dtd">
<DescriptorRecordSet LanguageCode="eng">
<DescriptorRecord DescriptorClass="1">
  <DescriptorUI>D000001</DescriptorUI>
  <DescriptorName><String>Calcimycin &amp; Co</String></DescriptorName>
  <AllowableQualifiersList><AllowableQualifier><QualifierReferredTo>
    <QualifierUI>Q000008</QualifierUI><QualifierName><String>administration</String></QualifierName>
  </QualifierReferredTo></AllowableQualifier></AllowableQualifiersList>
  <PharmacologicalActionList><PharmacologicalAction><DescriptorReferredTo>
    <DescriptorUI>D000900</DescriptorUI>
    <DescriptorName><String>Anti-Bacterial Agents</String></DescriptorName>
    <TreeNumberList><TreeNumber>Z99</TreeNumber></TreeNumberList>
  </DescriptorReferredTo></PharmacologicalAction></PharmacologicalActionList>
  <TreeNumberList><TreeNumber>D02.355</TreeNumber><TreeNumber> D03.633.100 </TreeNumber></TreeNumberList>
  <ConceptList><Concept><ConceptName><String>A23187</String></ConceptName></Concept></ConceptList>
</DescriptorRecord>
<DescriptorRecord DescriptorClass="2">
  <DescriptorUI>D008297</DescriptorUI>
  <DescriptorName><String>Male</String></DescriptorName>
</DescriptorRecord>
</DescriptorRecordSet>
)";

std::string without(std::string text, std::string_view part) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.erase(at, part.size());
}

TEST_F(MeshTable, DescriptorXml) {
  EXPECT_EQ(rows(xml), (Lines{"D000001|Calcimycin & Co|D02.355 D03.633.100", "D008297|Male|"}));
  EXPECT_EQ(rows("\n <DescriptorRecordSet><DescriptorRecord><DescriptorUI>D000001</DescriptorUI>"
                 "<DescriptorName><String>A</String></DescriptorName></DescriptorRecord>"
                 "</DescriptorRecordSet>"),
            Lines{"D000001|A|"});
}

/// A descriptor of that name with that inside its ConceptList.
std::string with_concepts(const std::string& name, const std::string& concepts) {
  return "<DescriptorRecordSet><DescriptorRecord><DescriptorUI>D009203</DescriptorUI>"
         "<DescriptorName><String>" +
         name + "</String></DescriptorName><ConceptList>\n" + concepts +
         "</ConceptList></DescriptorRecord></DescriptorRecordSet>";
}

std::string term(const std::string& text, const std::string& attributes = "") {
  return "<Term " + attributes + "><TermUI>T1</TermUI><String>" + text +
         "</String><ThesaurusIDlist><ThesaurusID>NLM</ThesaurusID></ThesaurusIDlist></Term>\n";
}

std::string one_concept(const std::string& terms) {
  return "<Concept><ConceptUI>M1</ConceptUI><ConceptName><String>A name</String></ConceptName>"
         "<ConceptRelationList><ConceptRelation><Concept1UI>M2</Concept1UI></ConceptRelation>"
         "</ConceptRelationList><TermList>\n" +
         terms + "</TermList></Concept>\n";
}

using Words = std::optional<std::vector<std::string>>;

TEST_F(MeshTable, EntryWordsAreTheOtherTermsOfAllConcepts) {
  const auto words = [this](std::string_view bytes) {
    return read_mesh_file(scratch.write("table", bytes)).descriptors.at(0).entry_words;
  };
  EXPECT_EQ(words(with_concepts(
                "Myocardial Infarction",
                one_concept(term("Myocardial Infarction") + term("MYOCARDIAL infarction") +
                            term("Infarction, Myocardial", "IsPermutedTermYN=\"Y\"") +
                            term("Heart &#65;ttack &lt;i&gt; &amp; Co", "IsPermutedTermYN=\"N\"")) +
                    one_concept(term("\nHeart\tAttack\n") + term("heart attack") + term("  ") +
                                term("Infarctus m\xc3\xa9"
                                     "dical")) +
                    "<Concept/><Concept><Term><String>None</String></Term></Concept>")),
            (Words{{"Heart Attack <i> & Co", "Heart Attack",
                    "Infarctus m\xc3\xa9"
                    "dical"}}));
  EXPECT_EQ(words(with_concepts("A", "")), Words{std::vector<std::string>{}});
  EXPECT_EQ(words("<a><DescriptorRecord><DescriptorUI>D000001</DescriptorUI><DescriptorName>"
                  "<String>A</String></DescriptorName></DescriptorRecord></a>"),
            std::nullopt);
  EXPECT_EQ(words("D000001\tA\t\n"), std::nullopt);
}

TEST_F(MeshTable, EntryWordsAreBoundedInLengthAndNumber) {
  const std::string longest(4096, 'x');
  EXPECT_EQ(rows(with_concepts("A", one_concept(term(longest)))), Lines{"D009203|A|"});
  EXPECT_EQ(
      fault(with_concepts("A", one_concept(term(longest + "y")))),
      ":3: has a UI, name, tree number or term of more than 4096 bytes; fetch the file again");
  std::string terms;
  for (int i = 0; i < 10'000; ++i) {
    terms += term(std::to_string(i)) + term(std::to_string(i));
  }
  EXPECT_EQ(rows(with_concepts("A", one_concept(terms))), Lines{"D009203|A|"});
  EXPECT_EQ(fault(with_concepts("A", one_concept(terms + term("more")))),
            ":20003: has a DescriptorRecord with more than 10000 terms; fetch the file again");
  const std::string whole = with_concepts("A", one_concept(term("Heart Attack")));
  EXPECT_EQ(fault(whole.substr(0, whole.find("ttack"))),
            ":3: is cut short: it ends before its root element DescriptorRecordSet is closed; "
            "fetch it again");
}

// dump prints the table, a line a descriptor and a tab between its columns.
TEST_F(MeshTable, NamesOfDescriptorXmlStayOnOneLine) {
  EXPECT_EQ(rows("<DescriptorRecordSet><DescriptorRecord><DescriptorUI>D000001</DescriptorUI>"
                 "<DescriptorName><String>\nA\nB\r\nC&#9;D&#10;E&#13;F\t</String></DescriptorName>"
                 "</DescriptorRecord></DescriptorRecordSet>"),
            Lines{"D000001|A B C D E F|"});
}

TEST_F(MeshTable, DescriptorXmlFaultsNameTheirLine) {
  const std::string text(xml);
  EXPECT_EQ(fault(without(text, "<DescriptorUI>D000001</DescriptorUI>")),
            ":4: has a DescriptorRecord without a UI or a name; fetch the file again");
  EXPECT_EQ(fault(without(text, "<String>Male</String>")),
            ":18: has a DescriptorRecord without a UI or a name; fetch the file again");
  std::string twice = text;
  twice.replace(twice.find("D008297"), 7, "D000001");
  EXPECT_EQ(fault(twice),
            ":18: has a DescriptorRecord whose UI stands in an earlier one; fetch the file again");
  std::string no_ui = text;
  no_ui.replace(no_ui.find("D008297"), 7, "C008297");
  EXPECT_EQ(fault(no_ui),
            ":19: 'C008297' is no descriptor UI (D and six or nine digits); fetch "
            "the file again");
  std::string no_number = text;
  no_number.replace(no_number.find("D02.355"), 7, "D02,355");
  EXPECT_EQ(fault(no_number), ":15: 'D02,355' is no tree number; fetch the file again");
  EXPECT_EQ(fault("<a>\n<b/>\n</a>"), ": holds no DescriptorRecord: is it MeSH's descriptor XML?");
  EXPECT_EQ(fault(text.substr(0, 800)),
            ":13: is cut short: it ends before its root element DescriptorRecordSet is closed; "
            "fetch it again");
  EXPECT_EQ(fault("<DescriptorRecordSet/>"),
            ": holds no DescriptorRecord: is it MeSH's descriptor XML?");
}

TEST_F(MeshTable, WhatIsNoTable) {
  EXPECT_EQ(fault("plain words\nand more"),
            ":1: is no MeSH table; give desc XML, a TSV or an mtrees file");
  EXPECT_EQ(fault(std::string("\x7f"
                              "ELF\x02\x01\x01\x00\x00;",
                              10)),
            ":1: holds control characters, so it is no MeSH table; give desc XML, a TSV or an "
            "mtrees file");
  for (const std::string bytes : {"\xe9", "\xc3", "\xc3(", "\xff\xfe", "\x80", "\xf0\x9f\x98"}) {
    const std::string told =
        ":2: is not text in UTF-8; convert it, or give desc XML, a TSV or an mtrees file";
    EXPECT_EQ(fault("D000001\tA\t\nD000002\tB" + bytes + "\t\n"), told);
    EXPECT_EQ(fault("A;A01\nB" + bytes + ";B01\n"), told);
  }
  EXPECT_EQ(rows("D000001\tM\xc3\xa9ni\xc3\xa8re \xf0\x9f\x98\x80\t"),
            Lines{"D000001|M\xc3\xa9ni\xc3\xa8re \xf0\x9f\x98\x80|"});
  EXPECT_EQ(fault(""), ": is empty; fetch it again");
  EXPECT_EQ(fault("a;b" + std::string(3000000, 'x')),
            ":1: is longer than any line of a MeSH table; check that the file is one");
}

TEST(DescriptorUi, OnlyItsTwoForms) {
  EXPECT_EQ(parse_descriptor_ui("D009369"), (DescriptorUi{9369, 6}));
  EXPECT_EQ(parse_descriptor_ui("D000068036"), (DescriptorUi{68036, 9}));
  EXPECT_EQ(parse_descriptor_ui("D999999999"), (DescriptorUi{999999999, 9}));
  EXPECT_EQ(parse_descriptor_ui("D000000"), (DescriptorUi{0, 6}));
  for (const char* const text :
       {"", "D", "D00936", "D0093690", "D00006803", "D0000680360", "d009369", "Q009369", "D00936x",
        "D-09369", " D09369", "D009369 "}) {
    EXPECT_EQ(parse_descriptor_ui(text), std::nullopt) << text;
  }
}

TEST(NameTable, NamesAreExactAndTheLastCounts) {
  NameTable names;
  names.add("Male", {8297, 6});
  names.add("Male", {1, 6});
  EXPECT_EQ(names.size(), 1U);
  EXPECT_EQ(names.find("Male"), (DescriptorUi{1, 6}));
  EXPECT_EQ(names.find("male"), std::nullopt);
  EXPECT_EQ(names.find("Mal"), std::nullopt);
}

}  // namespace
}  // namespace somatlas::ingest
