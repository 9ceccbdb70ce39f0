// Text forms: CSV by RFC 4180, read back by a parser of the test's own; TSV; distances.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/seed.h"
#include "tools/export/decimal_text.h"
#include "tools/export/delimited.h"

namespace somatlas::exports {
namespace {

// One record of RFC 4180, its CR LF included.
std::vector<std::string> parse_csv(const std::string& line) {
  std::vector<std::string> fields{""};
  std::size_t i = 0;
  while (i < line.size()) {
    if (line[i] == '"') {
      for (++i; i < line.size(); ++i) {
        if (line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"') {
          ++i;
        } else if (line[i] == '"') {
          break;
        }
        fields.back() += line[i];
      }
      ++i;
    } else if (line[i] == ',') {
      fields.emplace_back();
      ++i;
    } else if (line.compare(i, 2, "\r\n") == 0) {
      EXPECT_EQ(i + 2, line.size());
      return fields;
    } else {
      fields.back() += line[i++];
    }
  }
  ADD_FAILURE() << "no line end";
  return fields;
}

TEST(Csv, QuotesOnlyWhereItMust) {
  EXPECT_EQ(csv_field("Neoplasms"), "Neoplasms");
  EXPECT_EQ(csv_field("Aged, 80 and over"), "\"Aged, 80 and over\"");
  EXPECT_EQ(csv_field("a \"b\""), "\"a \"\"b\"\"\"");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_field(""), "");
  const std::vector<std::string> fields{"1", "", "Sj\xc3\xb6gren"};
  EXPECT_EQ(csv_line(fields), "1,,Sj\xc3\xb6gren\r\n");
}

TEST(Csv, ComesBackWhateverTheFieldsHold) {
  std::mt19937_64 random(test_seed());
  const std::string letters = "ab,\"\r\n; \t";
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<std::string> fields(1 + random() % 5);
    for (std::string& field : fields) {
      for (std::uint64_t length = random() % 6; length > 0; --length) {
        field += letters[random() % letters.size()];
      }
    }
    EXPECT_EQ(parse_csv(csv_line(fields)), fields);
  }
}

TEST(Tsv, KeepsAFieldOnItsLineAndInItsColumn) {
  EXPECT_EQ(tsv_line({"D000001", "a\tb\nc\x7F", ""}), "D000001\ta b c \t\n");
  EXPECT_EQ(tsv_field("Sj\xc3\xb6gren"), "Sj\xc3\xb6gren");
}

TEST(DistanceText, IsTheNearestDecimal) {
  EXPECT_EQ(distance_text(0), "0.0000000");
  EXPECT_EQ(distance_text(1), "0.0000010");  // 0.00000095...
  EXPECT_EQ(distance_text(1U << 20), "1.0000000");
  EXPECT_EQ(distance_text((1U << 20) - 1), "0.9999990");
  EXPECT_EQ(distance_text(3U << 19), "1.5000000");
  EXPECT_EQ(distance_text(0xFFFF'FFFF), "4095.9999990");
}

TEST(DistanceText, GivesTheUnitsBack) {
  for (std::uint64_t units = 0; units < 0xFFFF'FFFF; units = units + 1 + units / 1000) {
    const double value =
        std::strtod(distance_text(static_cast<std::uint32_t>(units)).c_str(), nullptr);
    ASSERT_EQ(static_cast<std::uint64_t>(value * 1048576 + 0.5), units);
  }
}

}  // namespace
}  // namespace somatlas::exports
