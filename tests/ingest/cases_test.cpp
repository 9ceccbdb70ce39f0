// The invented cases of tests/data/cases and what each must come to, as one file alone. What files
// come to together (versions, updates) is the store's to decide; tests/program/cases_test.cpp has
// it.
#include <gtest/gtest.h>

#include "ingest/byte_source.h"
#include "ingest/medline_parser.h"
#include "tests/ingest/recorded_events.h"

namespace somatlas::ingest {
namespace {

using Lines = std::vector<std::string>;

Lines events_of_case(const std::string& name, const NameTable& names = {}) {
  const auto source = open_byte_source(case_path(name));
  RecordedEvents events;
  parse_medline(*source, names, events);
  return events.lines;
}

TEST(Cases, NestedPmidsAreNotTheRecords) {
  EXPECT_EQ(events_of_case("nested_pmids.xml"),
            Lines{"90000101 v1 2021 = D000368 D004232 D006801 D006973 D007668 D012964"});
}

TEST(Cases, EveryVersionIsHandedOnInFileOrder) {
  EXPECT_EQ(events_of_case("versions.xml"),
            (Lines{"90000201 v3 2021 = D000818 D005215 D005947 D007328 D008099 D051381",
                   "90000201 v1 2021 = D000818 D005947 D007328 D008099 D051379",
                   "90000201 v2 2021 = D000818 D005934 D005947 D007328 D008099 D051379",
                   "90000202 v1 2021 = D000328 D005260 D006801 D008297 D008875"}));
}

TEST(Cases, UpdateFilesGiveRecordsThenDeletions) {
  EXPECT_EQ(events_of_case("update_0001_baseline.xml"),
            (Lines{"90000301 v1 2021 = D000420 D001249 D002648 D006801 D009330",
                   "90000302 v1 2021 = D000740 D005260 D006801 D007501 D011247",
                   "90000303 v1 2021 = D009584 D010788 D010944 D012987 D014867"}));
  EXPECT_EQ(events_of_case("update_0002_update.xml"),
            (Lines{"90000301 v1 2021 = D000318 D000420 D001249 D002648 D005260 D006801",
                   "90000304 v1 2021 = D000368 D005260 D006801 D007251 D008297 D014611",
                   "delete 90000302 v1", "delete 90999999 v1"}));
}

TEST(Cases, AnyDateGivesItsFirstYear) {
  const std::string headings = " = D000328 D005260 D006801 D008297 D008875";
  EXPECT_EQ(events_of_case("medline_date.xml"),
            (Lines{"90000401 v1 1998" + headings, "90000402 v1 2003" + headings,
                   "90000403 v1 1987" + headings, "90000404 v1 2000" + headings,
                   "90000405 v1 2010" + headings}));
}

TEST(Cases, InlineMarkupLosesNothing) {
  EXPECT_EQ(events_of_case("inline_markup.xml"),
            Lines{"90000501 v1 2021 = D004926 D006861 D007656 D007785 D018384"});
}

TEST(Cases, RecordsWithFewOrNoHeadingsAreCitations) {
  EXPECT_EQ(events_of_case("no_mesh.xml"),
            (Lines{"90000601 v1 2021 =", "90000602 v1 2021 =", "90000603 v1 2021 = D006801 D015706",
                   "90000604 v1 2021 = D000328 D005260 D006801 D008297 D008875"}));
}

TEST(Cases, HeadingsWithoutUiAreFoundByNameOrReported) {
  NameTable names;
  names.add("Humans", *parse_descriptor_ui("D006801"));
  names.add("Female", *parse_descriptor_ui("D005260"));
  EXPECT_EQ(events_of_case("missing_ui.xml", names),
            (Lines{"unknown at 38 in 90000701: Invented Heading Nowhere",
                   "90000701 v1 2021 = D000368 D001921 D005260 D006801 D020521"}));
  EXPECT_EQ(events_of_case("missing_ui.xml"),
            (Lines{"unknown at 23 in 90000701: Humans", "unknown at 26 in 90000701: Female",
                   "unknown at 38 in 90000701: Invented Heading Nowhere",
                   "90000701 v1 2021 = D000368 D001921 D020521"}));
}

TEST(Cases, RepeatedDescriptorsAreJoinedAndKeepTheStar) {
  EXPECT_EQ(events_of_case("repeated_descriptor.xml"),
            Lines{"90000801 v1 2021 = D002681 D006801 D008175* D008297 D012907*"});
}

TEST(Cases, BooksAreSkipped) {
  EXPECT_EQ(events_of_case("book_article.xml"),
            (Lines{"90000901 v1 2021 = D000328 D005260 D006801 D008297 D008875", "book at 44",
                   "90000903 v1 2021 = D000420 D001249 D002648 D006801 D009330"}));
}

TEST(Cases, CutDocumentIsRefusedWithItsLine) {
  const auto source = open_byte_source(case_path("truncated.xml"));
  RecordedEvents events;
  try {
    parse_medline(*source, {}, events);
    FAIL() << "a cut document was taken";
  } catch (const InputError& error) {
    EXPECT_EQ(error.line(), 63U);
    EXPECT_EQ(error.file(), case_path("truncated.xml"));
  }
}

TEST(Cases, ExternalDocumentTypeIsNotOpened) {
  EXPECT_EQ(events_of_case("external_dtd.xml"),
            Lines{"90001101 v1 2021 = D000328 D005260 D006801 D008297 D008875"});
}

TEST(Cases, NumbersOfAllForms) {
  const std::string rest = " v1 2021 = D000071443 D000073738 D000077713 D006801 D012984";
  EXPECT_EQ(events_of_case("id_forms.xml"),
            (Lines{"1" + rest, "90001202" + rest, "4294967" + rest}));
}

TEST(Cases, BothGzipMembersAreRead) {
  EXPECT_EQ(events_of_case("two_members.xml.gz"),
            (Lines{"90001301 v1 2021 = D000328 D005260 D006801 D008297 D008875",
                   "90001302 v1 2021 = D000368 D005260 D006801 D007251 D008297 D014611"}));
}

TEST(Cases, ChecksumOfTheCompanionDiffers) {
  const std::string path = case_path("checksum.xml.gz");
  EXPECT_EQ(companion_md5(path), "6f447276a8e8fa43900e07f2848f963c");
  EXPECT_NE(md5_of_file(path), companion_md5(path));
  EXPECT_EQ(events_of_case("checksum.xml.gz"),
            Lines{"90001401 v1 2021 = D000328 D005260 D006801 D008297 D008875"});
}

}  // namespace
}  // namespace somatlas::ingest
