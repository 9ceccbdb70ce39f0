// Real files with bytes changed at random: the parser and the slow reader both refuse one, or agree
// on every record of it. SOMATLAS_TEST_SEED repeats a run.
#include <gtest/gtest.h>

#include <random>

#include "tests/ingest/dom_reader.h"
#include "tests/ingest/recorded_events.h"
#include "tests/repetitions.h"
#include "tests/seed.h"

namespace somatlas::ingest {
namespace {

/// Whole small files, and the first and the last records of large ones.
std::vector<std::string> real_files() {
  constexpr std::size_t longest = 12'000;
  const std::filesystem::path data = SOMATLAS_TEST_DATA;
  std::vector<std::string> files;
  for (const char* const folder : {"cases", "sample"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data / folder)) {
      const std::string name = entry.path().filename().string();
      if (name == "truncated.xml" || (!name.ends_with(".xml") && !name.ends_with(".xml.gz"))) {
        continue;
      }
      std::string xml = drain(*open_byte_source(entry.path().string()));
      const std::string record_end = "</PubmedArticle>";
      const std::size_t head = xml.find(record_end, longest / 2);
      const std::size_t tail = xml.rfind(record_end, xml.size() - longest / 2);
      if (xml.size() > longest && head < tail && tail != std::string::npos) {
        xml.erase(head, tail - head);
      }
      if (xml.size() < 4 * longest) {
        files.push_back(std::move(xml));
      }
    }
  }
  return files;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t end) { return random_() % end; }

  void mutate(std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t size = 1 + below(std::min<std::size_t>(text.size() - at, 30));
    switch (below(9)) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text[at] = static_cast<char>(below(256));
        break;
      case 2:
        text.erase(at, size);
        break;
      case 3:
        text.insert(below(text.size()), text.substr(at, size));
        break;
      case 4:
        text.insert(at, token());
        break;
      case 5:
        swap_names(text);
        break;
      case 6:
        change_a_digit(text, at);
        break;
      case 7:
        move_an_element(text, at);
        break;
      default:
        text.replace(at, size, token());
        break;
    }
  }

 private:
  std::string token() {
    static const std::vector<std::string> tokens = {"<",
                                                    ">",
                                                    "&",
                                                    "\"",
                                                    "'",
                                                    "]]>",
                                                    "<!--",
                                                    "-->",
                                                    "<a>",
                                                    "</a>",
                                                    "<a/>",
                                                    "&amp;",
                                                    "&#0;",
                                                    "&#x3b1;",
                                                    "&a;",
                                                    "<![CDATA[",
                                                    "<?a ?>",
                                                    "-1",
                                                    "0",
                                                    "\n",
                                                    "\r",
                                                    "\t",
                                                    " ",
                                                    "=",
                                                    "\xc3\xa9",
                                                    "\xff",
                                                    "\xef\xbb\xbf",
                                                    "<PMID>",
                                                    "</PMID>",
                                                    "xmlns='u'",
                                                    "\x01",
                                                    "99999999999",
                                                    "<MedlineCitation>",
                                                    "<DeleteCitation>",
                                                    "<PubmedData/>",
                                                    "UI=''"};
    return tokens[below(tokens.size())];
  }

  /// Of two elements, wherever they stand.
  void swap_names(std::string& text) {
    static const std::vector<std::string> names = {
        "PMID",    "Year",         "MedlineDate",     "Article",        "Journal",
        "PubDate", "MeshHeading",  "DescriptorName",  "PubmedArticle",  "MedlineCitation",
        "UI",      "MajorTopicYN", "MeshHeadingList", "DeleteCitation", "PubmedData"};
    const std::string& from = names[below(names.size())];
    const std::string& to = names[below(names.size())];
    std::size_t left = 1 + below(4);
    for (std::size_t at = text.find(from, below(text.size())); at != std::string::npos && left != 0;
         at = text.find(from, at + to.size()), --left) {
      text.replace(at, from.size(), to);
    }
  }

  void change_a_digit(std::string& text, std::size_t at) {
    const std::size_t digit = text.find_first_of("0123456789", at);
    if (digit != std::string::npos) {
      text[digit] = static_cast<char>('0' + below(10));
    }
  }

  /// From after at to where another tag begins.
  void move_an_element(std::string& text, std::size_t at) {
    const std::size_t begin = text.find('<', at);
    const std::size_t name_end = text.find_first_of(" />", begin);
    if (begin == std::string::npos || name_end == std::string::npos) {
      return;
    }
    const std::string closing = "</" + text.substr(begin + 1, name_end - begin - 1) + ">";
    const std::size_t end = text.find(closing, name_end);
    if (end == std::string::npos) {
      return;
    }
    const std::string element = text.substr(begin, end + closing.size() - begin);
    text.erase(begin, element.size());
    const std::size_t place = text.find('<', below(text.size() + 1));
    text.insert(place == std::string::npos ? text.size() : place, element);
  }

  std::mt19937_64 random_;
};

using Outcome = std::optional<std::vector<std::string>>;

/// Where two outcomes part, for a reader of the test's output.
std::string parting(const Outcome& ours, const Outcome& theirs) {
  if (!ours || !theirs) {
    return ours ? "only the parser reads it" : "only the slow reader reads it";
  }
  const auto [a, b] = std::mismatch(ours->begin(), ours->end(), theirs->begin(), theirs->end());
  return (a == ours->end() ? "(end)" : *a) + " is not " + (b == theirs->end() ? "(end)" : *b);
}

TEST(Mutations, BothReadersRefuseOrAgree) {
  const std::vector<std::string> files = real_files();
  ASSERT_GT(files.size(), 15U);
  Mutator mutator(test_seed());
  const int rounds = repetitions(4'000, 400'000);
  int read = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string xml = files[mutator.below(files.size())];
    for (std::size_t edits = 1 + mutator.below(3); edits > 0 && !xml.empty(); --edits) {
      mutator.mutate(xml);
    }
    const auto expected = dom_events_of(xml, {});
    const std::size_t chunk = mutator.below(3) == 0 ? 1 + mutator.below(200) : 65'536;
    Outcome events;
    const std::string told = refusal([&] { events = events_of(xml, {}, chunk); });
    ASSERT_TRUE(events == expected)
        << parting(events, expected) << "; in chunks of " << chunk << "; " << told << "\n"
        << xml;
    read += events.has_value() ? 1 : 0;
  }
  EXPECT_GT(read, rounds / 20);
  EXPECT_LT(read, rounds - rounds / 20);
}

}  // namespace
}  // namespace somatlas::ingest
