// The elements of a PubMed record in the order of NLM's DTD. How often and how long each is follows
// real files of 2020 to 2026 and of older articles: some 7 KB a record, references in a quarter
// of them, abstracts in six of seven.
#include "pipeline/synth_record.h"

#include <array>
#include <string_view>

#include "pipeline/synth_catalog.h"

namespace somatlas::pipeline {

namespace {

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 6> publication_types{
    "<PublicationType UI=\"D016428\">Journal Article</PublicationType>",
    "<PublicationType UI=\"D013485\">Research Support, Non-U.S. Gov't</PublicationType>",
    "<PublicationType UI=\"D016454\">Review</PublicationType>",
    "<PublicationType UI=\"D002363\">Case Reports</PublicationType>",
    "<PublicationType UI=\"D003160\">Comparative Study</PublicationType>",
    "<PublicationType UI=\"D016449\">Randomized Controlled Trial</PublicationType>"};
constexpr std::array<std::string_view, 4> labels{"BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS"};
constexpr std::array<std::string_view, 4> history{"received", "accepted", "entrez", "pubmed"};

}  // namespace

struct SynthRecordWriter::Draft {
  const SynthText& text;
  const SynthArticle& article;
  std::string& out;
  SynthStream stream;

  void date_parts(std::uint64_t year, bool padded = true) {
    out += "<Year>";
    append_number(out, year);
    out += "</Year><Month>";
    append_number(out, 1 + stream.below(12), padded ? 2 : 1);
    out += "</Month><Day>";
    append_number(out, 1 + stream.below(28), padded ? 2 : 1);
    out += "</Day>";
  }

  void publication_date() {
    out += "<PubDate>";
    if (stream.one_in(20)) {
      out += "<MedlineDate>";
      append_number(out, article.year);
      const std::uint64_t month = stream.below(11);
      out += ' ';
      out += months[month];
      out += '-';
      out += months[month + 1];
      out += "</MedlineDate>";
    } else {
      out += "<Year>";
      append_number(out, article.year);
      out += "</Year>";
      if (!stream.one_in(12)) {
        out += "<Month>";
        out += months[stream.below(12)];
        out += "</Month>";
        if (stream.one_in(3)) {
          out += "<Day>";
          append_number(out, 1 + stream.below(28), 2);
          out += "</Day>";
        }
      }
    }
    out += "</PubDate>";
  }

  void journal(const SynthText::Journal& journal) {
    out += "<Journal>";
    out += journal.head;
    out += "<JournalIssue CitedMedium=\"Internet\"><Volume>";
    append_number(out, 1 + stream.below(120));
    out += "</Volume><Issue>";
    append_number(out, 1 + stream.below(24));
    out += "</Issue>";
    publication_date();
    out += "</JournalIssue>";
    out += journal.names;
    out += "</Journal>";
  }

  void doi() {
    out += "10.9999/synth.";
    append_number(out, article.pmid, 9);
  }

  void abstract() {
    if (stream.one_in(7)) {
      return;
    }
    out += "<Abstract>";
    const std::uint64_t bytes = 600 + stream.below(1'300);
    if (stream.one_in(3)) {
      for (const std::string_view label : labels) {
        out += "<AbstractText Label=\"";
        out += label;
        out += "\" NlmCategory=\"";
        out += label;
        out += "\">";
        text.paragraph(out, bytes / labels.size(), stream);
        out += "</AbstractText>";
      }
    } else {
      out += "<AbstractText>";
      text.paragraph(out, bytes, stream);
      out += "</AbstractText>";
    }
    if (stream.one_in(4)) {
      out += "<CopyrightInformation>© ";
      append_number(out, article.year);
      out += " Invented Press.</CopyrightInformation>";
    }
    out += "</Abstract>";
  }

  void authors() {
    out += "<AuthorList CompleteYN=\"Y\">";
    for (std::uint64_t n = 1 + stream.below(9); n > 0; --n) {
      const auto first = static_cast<char>('A' + stream.below(26));
      const auto second = static_cast<char>('A' + stream.below(26));
      out += "<Author ValidYN=\"Y\"><LastName>";
      out += text.surname(stream);
      out += "</LastName><ForeName>";
      out += text.surname(stream);
      out += ' ';
      out += second;
      out += "</ForeName><Initials>";
      out += first;
      out += second;
      out += "</Initials>";
      if (stream.one_in(8)) {
        out += "<Identifier Source=\"ORCID\">0000-0000-";
        append_number(out, stream.below(10'000), 4);
        out += '-';
        append_number(out, stream.below(10'000), 4);
        out += "</Identifier>";
      }
      if (stream.one_in(2)) {
        out += "<AffiliationInfo><Affiliation>Department of ";
        text.sentence(out, 60 + stream.below(80), stream);
        out += "</Affiliation></AffiliationInfo>";
      }
      out += "</Author>";
    }
    out += "</AuthorList>";
  }

  void grants() {
    if (!stream.one_in(5)) {
      return;
    }
    out += "<GrantList CompleteYN=\"Y\">";
    for (std::uint64_t n = 1 + stream.below(4); n > 0; --n) {
      out += "<Grant><GrantID>R01 SY";
      append_number(out, stream.below(1'000'000), 6);
      out +=
          "</GrantID><Acronym>SY</Acronym><Agency>Invented Foundation</Agency>"
          "<Country>Nowhere</Country></Grant>";
    }
    out += "</GrantList>";
  }

  void types() {
    out += "<PublicationTypeList>";
    out += publication_types[0];
    if (stream.one_in(2)) {
      out += publication_types[1 + stream.below(publication_types.size() - 1)];
    }
    out += "</PublicationTypeList>";
  }

  void chemicals() {
    if (!stream.one_in(2)) {
      return;
    }
    out += "<ChemicalList>";
    for (std::uint64_t n = 1 + stream.below(6); n > 0; --n) {
      out += "<Chemical><RegistryNumber>0</RegistryNumber><NameOfSubstance UI=\"D";
      append_number(out, 900'000 + stream.below(90'000), 6);
      out += "\">";
      text.sentence(out, 12, stream);
      out += "</NameOfSubstance></Chemical>";
    }
    out += "</ChemicalList>";
  }

  void comments() {
    if (!stream.one_in(14)) {
      return;
    }
    out += "<CommentsCorrectionsList><CommentsCorrections RefType=\"CommentIn\"><RefSource>";
    out += text.journal(stream).brief;
    out += ". 2020 Jan;1(1):1-2</RefSource><PMID Version=\"1\">";
    append_number(out, 1 + stream.below(40'000'000));
    out += "</PMID></CommentsCorrections></CommentsCorrectionsList>";
  }

  void headings(bool qualified) {
    if (article.count == 0) {
      return;
    }
    out += "<MeshHeadingList>";
    for (std::uint32_t i = 0; i < article.count; ++i) {
      // A major topic is marked at the descriptor, or at one of its qualifiers instead.
      const std::uint64_t qualifiers = !qualified || stream.one_in(2) ? 0 : 1 + stream.below(4) / 3;
      const bool major = article.major[i] != 0;
      const bool at_qualifier = major && qualifiers > 0 && !stream.one_in(4);
      out += "<MeshHeading><DescriptorName UI=\"D";
      append_number(out, article.number[i], 6);
      out += major && !at_qualifier ? "\" MajorTopicYN=\"Y\">" : "\" MajorTopicYN=\"N\">";
      out += synth_name(article.number[i]);
      out += "</DescriptorName>";
      for (std::uint64_t q = 0; q < qualifiers; ++q) {
        text.qualifier(out, at_qualifier && q == 0, stream);
      }
      out += "</MeshHeading>";
    }
    out += "</MeshHeadingList>";
  }

  void keywords() {
    if (!stream.one_in(3)) {
      return;
    }
    out += "<KeywordList Owner=\"NOTNLM\">";
    for (std::uint64_t n = 3 + stream.below(5); n > 0; --n) {
      out += "<Keyword MajorTopicYN=\"N\">";
      out += text.word(stream);
      out += ' ';
      out += text.word(stream);
      out += "</Keyword>";
    }
    out += "</KeywordList>";
  }

  void references() {
    if (!stream.one_in(4)) {
      return;
    }
    out += "<ReferenceList>";
    for (std::uint64_t n = 5 + stream.below(36); n > 0; --n) {
      out += "<Reference><Citation>";
      out += text.surname(stream);
      out += ", ";
      text.sentence(out, 20 + stream.below(60), stream);
      out += ' ';
      out += text.journal(stream).brief;
      out += ". ";
      append_number(out, 1990 + stream.below(30));
      out += ';';
      append_number(out, 1 + stream.below(90));
      out += "</Citation>";
      if (!stream.one_in(4)) {
        out += "<ArticleIdList><ArticleId IdType=\"pubmed\">";
        append_number(out, 1 + stream.below(40'000'000));
        out += "</ArticleId></ArticleIdList>";
      }
      out += "</Reference>";
    }
    out += "</ReferenceList>";
  }

  void pubmed_data() {
    out += "<PubmedData><History>";
    const std::size_t shortest = stream.one_in(2) ? 2 : 0;
    for (std::size_t i = shortest; i < history.size(); ++i) {
      out += "<PubMedPubDate PubStatus=\"";
      out += history[i];
      out += "\">";
      date_parts(article.year, false);
      if (i >= 2) {
        out += "<Hour>6</Hour><Minute>0</Minute>";
      }
      out += "</PubMedPubDate>";
    }
    out +=
        "</History><PublicationStatus>ppublish</PublicationStatus><ArticleIdList>"
        "<ArticleId IdType=\"pubmed\">";
    append_number(out, article.pmid);
    out += "</ArticleId><ArticleId IdType=\"doi\">";
    doi();
    out += "</ArticleId></ArticleIdList>";
    references();
    out += "</PubmedData>";
  }

  void pmid() {
    out += "<PMID Version=\"1\">";
    append_number(out, article.pmid);
    out += "</PMID>";
  }

  void headings_only() {
    out += "<PubmedArticle><MedlineCitation Status=\"MEDLINE\" Owner=\"NLM\">";
    pmid();
    out += "<Article><Journal><JournalIssue>";
    publication_date();
    out += "</JournalIssue></Journal></Article>";
    headings(false);
    out += "</MedlineCitation></PubmedArticle>\n";
  }

  void whole() {
    const SynthText::Journal& where = text.journal(stream);
    out += article.count == 0
               ? "<PubmedArticle><MedlineCitation Status=\"PubMed-not-MEDLINE\" Owner=\"NLM\">"
               : "<PubmedArticle><MedlineCitation Status=\"MEDLINE\" IndexingMethod=\"Manual\" "
                 "Owner=\"NLM\">";
    pmid();
    out += "<DateCompleted>";
    date_parts(article.year + stream.below(2));
    out += "</DateCompleted><DateRevised>";
    date_parts(2015 + stream.below(12));
    out += "</DateRevised><Article PubModel=\"Print\">";
    journal(where);
    out += "<ArticleTitle>";
    text.sentence(out, 40 + stream.below(110), stream);
    out += "</ArticleTitle><Pagination><StartPage>";
    const std::uint64_t page = 1 + stream.below(2'000);
    append_number(out, page);
    out += "</StartPage><MedlinePgn>";
    append_number(out, page);
    out += '-';
    append_number(out, page + stream.below(20));
    out += "</MedlinePgn></Pagination><ELocationID EIdType=\"doi\" ValidYN=\"Y\">";
    doi();
    out += "</ELocationID>";
    abstract();
    authors();
    out += "<Language>eng</Language>";
    grants();
    types();
    if (stream.one_in(2)) {
      out += "<ArticleDate DateType=\"Electronic\">";
      date_parts(article.year);
      out += "</ArticleDate>";
    }
    out += "</Article>";
    out += where.info;
    chemicals();
    out += "<CitationSubset>IM</CitationSubset>";
    comments();
    headings(true);
    keywords();
    if (stream.one_in(6)) {
      out += "<CoiStatement>";
      text.sentence(out, 100 + stream.below(200), stream);
      out += "</CoiStatement>";
    }
    out += "</MedlineCitation>";
    pubmed_data();
    out += "</PubmedArticle>\n";
  }
};

void SynthRecordWriter::append(std::string& out, const SynthArticle& article, std::uint64_t number,
                               std::uint64_t round) const {
  Draft draft{text_, article, out, SynthStream(seed_ + round, SynthPurpose::record, number)};
  if (full_) {
    draft.whole();
  } else {
    draft.headings_only();
  }
}

void append_deletions(std::string& out, const std::vector<std::uint32_t>& pmids) {
  if (pmids.empty()) {
    return;
  }
  out += "<DeleteCitation>";
  for (const std::uint32_t pmid : pmids) {
    out += "<PMID Version=\"1\">";
    append_number(out, pmid);
    out += "</PMID>";
  }
  out += "</DeleteCitation>\n";
}

}  // namespace somatlas::pipeline
