// Documents without end, made as they are read: each is refused with one sentence and its line, or
// read, in bounded memory and in a time that does not depend on how much of it there would be.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <ctime>
#include <ostream>

#include "ingest/markup_scanner.h"
#include "tests/ingest/recorded_events.h"

namespace somatlas::ingest {
namespace {

constexpr std::size_t gibibyte = std::size_t{1} << 30U;
constexpr std::size_t memory_bound = std::size_t{100} << 20U;

/// A document too large to be built: head, then a piece many times, then tail.
class LongSource final : public ByteSource {
 public:
  LongSource(std::string head, std::string piece, std::size_t times, std::string tail)
      : parts_{std::move(head), std::move(piece), std::move(tail)}, times_(times) {}

  [[nodiscard]] std::size_t read(std::span<std::byte> out) override {
    std::size_t filled = 0;
    while (filled < out.size() && part_ < 3) {
      const std::string& part = parts_[part_];
      const std::size_t size = std::min(out.size() - filled, part.size() - taken_);
      std::memcpy(out.data() + filled, part.data() + taken_, size);
      filled += size;
      taken_ += size;
      if (taken_ == part.size()) {
        taken_ = 0;
        part_ += part_ == 1 && ++rounds_ < times_ ? 0 : 1;
      }
    }
    return filled;
  }
  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] std::uint64_t file_bytes() const override { return 0; }
  [[nodiscard]] Md5Hex md5() const override { return {}; }

 private:
  std::string path_ = "long.xml";
  std::array<std::string, 3> parts_;
  std::size_t times_;
  std::size_t part_ = 0;
  std::size_t taken_ = 0;
  std::size_t rounds_ = 0;
};

bool sanitized() {
  return ::dlsym(RTLD_DEFAULT, "__asan_init") != nullptr ||
         ::dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
}

/// Bytes that the process has in memory (VmRSS), or the most it has had (VmHWM).
std::size_t resident_bytes(const std::string& which) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(which + ":")) {
      return std::stoull(line.substr(which.size() + 1)) * 1024;
    }
  }
  return 0;
}

/// What a call costs: processor time, and memory on top of what there was.
struct Cost {
  double seconds = 0;
  std::size_t bytes = 0;
};
template <typename Call>
Cost cost_of(const Call& call) {
  std::ofstream("/proc/self/clear_refs") << "5";  // the most is counted from here on
  const std::size_t before = resident_bytes("VmRSS");
  const std::clock_t begin = std::clock();
  call();
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const std::size_t most = resident_bytes("VmHWM");
  return {seconds, most > before ? most - before : 0};
}

struct Endless {
  const char* name;
  std::string head;
  std::string piece;
  std::size_t times;
  std::string tail;
  std::string told;  // the sentence, or its beginning
};
void PrintTo(const Endless& endless, std::ostream* out) {
  *out << endless.name;
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

/// A piece that makes up a gibibyte when it is repeated so often.
std::size_t times_to_gibibyte(const std::string& piece) {
  return gibibyte / piece.size();
}

Endless gibibyte_of(const char* name, const std::string& head, const std::string& piece,
                    const std::string& tail, const std::string& told) {
  return {name, head, piece, times_to_gibibyte(piece), tail, told};
}

const std::string kibi(1024, 'x');
const std::string set = "<PubmedArticleSet>\n";
const std::string in_record = set + "<MedlineCitation><PMID>1</PMID>\n";
const std::string no_such = ", which no MEDLINE or MeSH file has; fetch it again or repair it";
const std::string long_tag = "has a tag longer than 65536 bytes" + no_such;
const std::string long_text = "has a text longer than 1048576 bytes" + no_such;
const std::string long_section =
    "has a comment or CDATA section longer than 1048576 bytes" + no_such;
const std::string long_record =
    "has a record of more than 1000000 headings and dates, which no MEDLINE file has; fetch it "
    "again "
    "or repair it";

/// Attributes that look for their namespaces among those of all tags around them.
std::string namespaces(int different) {
  std::string text = "<a";
  for (int i = 0; i < 30; ++i) {
    const std::string name = std::to_string(different) + "n" + std::to_string(i);
    text += " xmlns:n" + name + "='u" + name + "' x:l" + name + "=''";
  }
  return text + ">";
}
std::string names(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "<n" + std::to_string(i) + "/>";
  }
  return text;
}

class HostileBounds : public testing::TestWithParam<Endless> {};

TEST_P(HostileBounds, AreKept) {
  const Endless& endless = GetParam();
  LongSource source(endless.head, endless.piece, endless.times, endless.tail);
  RecordedEvents events;
  std::string told;
  const Cost cost = cost_of([&] { told = refusal([&] { parse_medline(source, {}, events); }); });
  EXPECT_EQ(told.substr(0, endless.told.size()), endless.told);
  if (!sanitized()) {  // a sanitizer takes its own time and keeps freed memory
    EXPECT_LT(cost.seconds, 1.0);
    EXPECT_LT(cost.bytes, memory_bound);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, HostileBounds,
    testing::Values(
        gibibyte_of("Attribute", set + "<MedlineCitation a='", kibi, "'/></PubmedArticleSet>",
                    "long.xml:2: " + long_tag),
        gibibyte_of("Attributes", set + "<MedlineCitation", " a='b'", "/>",
                    "long.xml:2: has a tag with more than 1000 attributes" + no_such),
        gibibyte_of("ElementName", set + "<", kibi, "/>", "long.xml:2: " + long_tag),
        gibibyte_of("ClosingTag", set + "</", kibi, ">", "long.xml:2: " + long_tag),
        gibibyte_of("Instruction", set + "<?a ", kibi, "?>", "long.xml:2: " + long_tag),
        gibibyte_of("DocumentType", "<!DOCTYPE a [\n", "<!ELEMENT a ANY>", "]><a/>",
                    "long.xml:1: " + long_tag),
        gibibyte_of("Comment", set + "<!-- ", kibi, "-->", "long.xml:2: " + long_section),
        gibibyte_of("CdataSection", set + "<![CDATA[", kibi, "]]>", "long.xml:2: " + long_section),
        gibibyte_of("Abstract", in_record + "<Article><Abstract>", kibi, "</Abstract></Article>",
                    "long.xml:3: " + long_text),
        gibibyte_of("Pmid", set + "<MedlineCitation>\n<PMID>", "1", "</PMID></MedlineCitation>",
                    "long.xml:3: " + long_text),
        gibibyte_of("CharacterReferences", in_record + "<a>", "&#50;", "</a>",
                    "long.xml:3: " + long_text),
        gibibyte_of("Blanks", set, " \n", "</PubmedArticleSet>", "long.xml:1: " + long_text),
        gibibyte_of("Nesting", in_record, "<a>", "",
                    "long.xml:3: nests elements more than 256 deep" + no_such),
        gibibyte_of("NestingOutsideRecords", set, "<a b='c'>\n", "",
                    "long.xml:257: nests elements more than 256 deep" + no_such),
        gibibyte_of("OpenTags", "", "<", "", "long.xml:1: "),
        Endless{"Headings", in_record + "<MeshHeadingList>",
                "<MeshHeading><DescriptorName UI='D000001'/></MeshHeading>", 1'000'000'000,
                "</MeshHeadingList></MedlineCitation>", "long.xml:2: " + long_record},
        Endless{"UnknownHeadings", in_record + "<MeshHeadingList>",
                "<MeshHeading><DescriptorName>no such</DescriptorName></MeshHeading>",
                1'000'000'000, "", "long.xml:2: " + long_record},
        gibibyte_of("BlanksBeforeTheRoot", "<?xml version='1.0'?>\n", "  \n", "<RAW_DATA/>",
                    "long.xml:1: " + long_text),
        gibibyte_of("Namespaces", set, namespaces(1) + namespaces(2), "",
                    "long.xml:2: declares more than 64 namespaces at once" + no_such),
        Endless{"Names", set + names(10'001), "<a/>", 1, "</PubmedArticleSet>",
                "long.xml:2: has more than 10000 different names" + no_such}),
    [](const testing::TestParamInfo<Endless>& made) { return made.param.name; });

/// Hundreds of megabytes in small parts are no fault.
TEST(Hostile, MemoryDoesNotGrowWithTheDocument) {
  RecordedEvents events;
  const Cost cost = cost_of([&] {
    LongSource texts("<PubmedArticleSet><MedlineCitation><PMID>1</PMID><Abstract>",
                     repeated("words and \xce\xb1 ", 6000) + "<i>x</i>", 600,
                     "</Abstract></MedlineCitation></PubmedArticleSet>");
    EXPECT_GT(parse_medline(texts, {}, events).xml_bytes, 40000000U);
    LongSource number("<PubmedArticleSet><MedlineCitation><PMID>", std::string(1000, '1'), 1000,
                      "</PMID></MedlineCitation></PubmedArticleSet>");
    parse_medline(number, {}, events);
    for (const std::string open : {"<![CDATA[", "<!--"}) {
      const std::string close = open == "<!--" ? "-->" : "]]>";
      LongSource section("<PubmedArticleSet><MedlineCitation><PMID>2</PMID><a>\n" + open,
                         std::string(1000, 'x'), 1000,
                         close + "</a></MedlineCitation></PubmedArticleSet>");
      parse_medline(section, {}, events);
    }
    LongSource blanks(set, repeated(" ", 100000) + "<a/>", 500, "</PubmedArticleSet>" + kibi);
    EXPECT_NE(refusal([&] { parse_medline(blanks, {}, events); }), "nothing refused");
  });
  EXPECT_EQ(events.lines,
            (std::vector<std::string>{"1 v1 0 =", "left out 1 at 1: " + std::string(64, '1'),
                                      "2 v1 0 =", "2 v1 0 ="}));
  if (!sanitized()) {
    EXPECT_LT(cost.bytes, std::size_t{30} << 20U);
  }
}

}  // namespace
}  // namespace somatlas::ingest
