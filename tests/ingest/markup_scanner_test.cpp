// The scanner that runs ahead of the parser: however a document is cut into chunks, it finds the
// same markup, lines and violations. Cut into single bytes it never takes its hot path, so that is
// what large chunks are compared with.
#include "ingest/markup_scanner.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/seed.h"

namespace somatlas::ingest {
namespace {

/// What the scanner says at the end of a document, or at its first violation.
struct Verdict {
  std::uint64_t settled = 0;
  std::uint64_t line = 0;
  std::optional<MarkupFault> fault;
  bool operator==(const Verdict&) const = default;
};

template <typename NextSize>
Verdict scan(std::string_view document, const NextSize& next_size) {
  MarkupScanner scanner;
  for (std::size_t at = 0; at < document.size();) {
    const std::string_view chunk = document.substr(at, next_size());
    if (const auto violation = scanner.scan(chunk)) {
      return {scanner.settled(), violation->line, violation->fault};
    }
    at += chunk.size();
  }
  return {scanner.settled(), scanner.line(), std::nullopt};
}

class RandomMarkup {
 public:
  explicit RandomMarkup(std::mt19937_64& random) : random_(random) {}

  std::string document() {
    std::string out;
    // Stretches of like pieces, so that both the hot path and every way out of it are taken.
    for (std::size_t stretch = draw(8); stretch > 0; --stretch) {
      const std::size_t kind = draw(10);
      for (std::size_t pieces = kind < 4 ? draw(400) : 1; pieces > 0; --pieces) {
        piece(kind, out);
      }
    }
    return out;
  }

 private:
  std::size_t draw(std::size_t below) { return random_() % below; }

  std::string text(std::size_t longest) {
    constexpr std::string_view letters = "ab >\n'\"!?-]/=x";
    std::string out;
    for (std::size_t size = draw(longest); size > 0; --size) {
      out += letters[draw(letters.size())];
    }
    return out;
  }
  std::string value(std::size_t longest) {
    constexpr std::string_view letters = "ab >\n'!?-]/=";
    std::string out;
    for (std::size_t size = draw(longest); size > 0; --size) {
      out += letters[draw(letters.size())];
    }
    return " n=\"" + out + "\"";
  }

  void piece(std::size_t kind, std::string& out) {
    switch (kind) {
      case 0:
        out += "<A>" + text(30) + "</A>\n";
        break;
      case 1:
        out += "<PMID Version=\"1\">" + text(9) + "</PMID>";
        break;
      case 2:
        out += "<b" + value(60) + value(9) + "/>" + text(60);
        break;
      case 3:
        out += "<Text>" + text(4'000) + "</Text>";
        break;
      case 4:
        out += "<!--" + std::string(draw(3'000), 'c') + "<x>\n-->";
        break;
      case 5:
        out += "<![CDATA[" + std::string(draw(3'000), 'c') + "]<y a='>]]>";
        break;
      case 6:
        out += "<?p " + std::string(draw(90), 'i') + " < ?>";
        break;
      case 7:
        out += "<long";
        for (std::size_t values = draw(2) == 0 ? 990 + draw(20) : draw(9); values > 0; --values) {
          out += value(4);
        }
        out += ">";
        break;
      case 8:  // texts as long as they may be, or a little longer
        out += "<t>\n" + std::string(draw(10) == 0 ? longest_section_bytes - 4 + draw(8) : 9, 'x');
        break;
      default:
        out += "<long" + value(draw(2) == 0 ? 2 * longest_markup_bytes : 9'000) + ">";
        break;
    }
  }

  std::mt19937_64& random_;
};

TEST(MarkupScanner, FindsTheSameHoweverTheDocumentIsCut) {
  std::mt19937_64 random(test_seed());
  std::size_t faults = 0;
  std::size_t sound = 0;
  for (int i = 0; i < 300; ++i) {
    std::string document = RandomMarkup(random).document();
    document.resize(document.size() - random() % (document.size() / 4 + 1));
    const Verdict bytewise = scan(document, [] { return std::size_t{1}; });
    const std::size_t most = std::size_t{1} << (1 + random() % 17);
    for (const std::size_t least : {std::size_t{1}, most}) {
      const Verdict cut = scan(document, [&] { return least + random() % most; });
      EXPECT_EQ(cut.fault, bytewise.fault);
      EXPECT_EQ(cut.line, bytewise.line);
      if (!cut.fault) {
        EXPECT_EQ(cut.settled, bytewise.settled);
      }
    }
    ++(bytewise.fault ? faults : sound);
  }
  EXPECT_GT(faults, 0U);
  EXPECT_GT(sound, 0U);
}

TEST(MarkupScanner, FindsALongTextWhereverItIsCut) {
  const std::string tags = [] {
    std::string all;
    for (int i = 0; i < 1000; ++i) {
      all += "<A>a</A>";
    }
    return all;
  }();
  for (const std::size_t bytes : {longest_section_bytes, longest_section_bytes + 1}) {
    for (const std::size_t behind : {0, 1, 2, 700, 1022, 1023, 1024, 1025, 3000}) {
      const std::string document = "<t>" + std::string(bytes, 'x') + tags;
      std::size_t pieces = 0;
      const Verdict cut =
          scan(document, [&] { return pieces++ == 0 ? 3 + bytes - behind : document.size(); });
      EXPECT_EQ(cut.fault.has_value(), bytes > longest_section_bytes) << behind;
    }
  }
}

}  // namespace
}  // namespace somatlas::ingest
