// MEDLINE XML, plain or gzip, as one file. Promises: what is counted is what was met; every record
// is within the contract's bounds; a cutting of the bytes changes no record, nor whether there is a
// refusal (which of several faults libxml2 meets first does depend on it).
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "ingest/medline_parser.h"
#include "tests/fuzz/foreign_file.h"

namespace somatlas::fuzz {
namespace {

class CheckingSink final : public ingest::CitationSink {
 public:
  std::string events;
  ingest::ParseSummary met;

  void citation(const ingest::CitationView& citation) override {
    ++met.citations;
    expect(citation.pmid != 0 && citation.version != 0, "a record kept has a PMID and a version");
    expect(citation.year == 0 || (citation.year >= 1000 && citation.year <= 9999),
           "a year has four digits");
    expect(citation.headings.size() <= 1023, "an article has at most 1,023 descriptors");
    std::set<std::pair<std::uint8_t, std::uint32_t>> distinct;
    note({1, citation.pmid, citation.version, citation.year});
    for (const ingest::Heading& heading : citation.headings) {
      expect(distinct.emplace(heading.ui.digits, heading.ui.number).second,
             "an article's descriptors are distinct");
      expect(heading.ui.number < (heading.ui.digits == 6 ? 1'000'000U : 1'000'000'000U),
             "a descriptor's number fits its digits");
      note({heading.ui.number, heading.ui.digits, heading.major_topic ? 1U : 0U});
    }
  }
  void deletion(std::uint32_t pmid, std::uint16_t version) override {
    ++met.deletions;
    expect(pmid != 0 && version != 0, "a deletion has a PMID and a version");
    note({2, pmid, version});
  }
  void book(std::uint64_t line) override {
    ++met.books;
    note({3, line});
  }
  void left_out(ingest::LeftOut reason, std::uint64_t line, std::string_view text) override {
    ++met.citations;
    note({4, static_cast<std::uint64_t>(reason), line});
    events += text;
  }
  void unknown_heading(std::uint64_t line, std::uint32_t pmid, std::string_view name) override {
    note({5, line, pmid});
    events += name;
  }

 private:
  void note(std::initializer_list<std::uint64_t> figures) {
    for (const std::uint64_t figure : figures) {
      events += static_cast<char>(figure);
      events += static_cast<char>(figure >> 8U);
      events += static_cast<char>(figure >> 16U);
      events += static_cast<char>(figure >> 24U);
    }
  }
};

/// What came of a file: its events, or nothing where it is refused.
std::optional<std::string> outcome(ingest::ByteSource& source, std::string_view bytes, bool plain) {
  static const ingest::NameTable names = [] {
    ingest::NameTable table;
    table.add("Male", {8297, 6});
    table.add("Humans", {6801, 6});
    return table;
  }();
  CheckingSink sink;
  try {
    const ingest::ParseSummary summary = parse_medline(source, names, sink);
    expect(summary.citations == sink.met.citations && summary.deletions == sink.met.deletions &&
               summary.books == sink.met.books,
           "every record is counted once");
    expect(!plain || summary.xml_bytes == bytes.size(), "every byte is read");
  } catch (const ingest::InputError& error) {
    if (plain) {
      check_refusal(error, source.path(), bytes);
    }
    return std::nullopt;
  }
  return sink.events;
}

}  // namespace
}  // namespace somatlas::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace somatlas;
  const std::string_view bytes = fuzz::text_of(data, size);
  if (bytes.starts_with("\x1f\x8b")) {
    static fuzz::ForeignFile file;
    const auto source = ingest::open_byte_source(file.put(bytes));
    fuzz::outcome(*source, bytes, false);
    return 0;
  }
  fuzz::ForeignSource whole(bytes, std::size_t{1} << 16U);
  const auto expected = fuzz::outcome(whole, bytes, true);
  if (size % 4 != 0) {
    return 0;  // quicker so, and any input has a neighbour of another size
  }
  fuzz::ForeignSource pieces(bytes, 1 + size / 7);
  const auto again = fuzz::outcome(pieces, bytes, true);
  fuzz::expect(again == expected, "the cutting of the bytes makes no difference",
               expected.value_or("refused") + "] and [" + again.value_or("refused"));
  return 0;
}
