// Descriptor UIs and file keys.
#include <gtest/gtest.h>

#include <algorithm>

#include "store/descriptor_code.h"
#include "store/file_key.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

TEST(DescriptorCode, IsItsUi) {
  EXPECT_EQ(descriptor_ui(descriptor_code(9369, 6)), "D009369");
  EXPECT_EQ(descriptor_ui(descriptor_code(68036, 9)), "D000068036");
  EXPECT_EQ(descriptor_ui(descriptor_code(0, 6)), "D000000");
  EXPECT_EQ(descriptor_ui(descriptor_code(999'999'999, 9)), "D999999999");
  for (const char* text : {"", "D", "D00936", "D0093690", "C009369", "D00936x", "D00006803",
                           "D0000680361", "d009369", "D+09369"})
    EXPECT_FALSE(descriptor_code_of(text)) << text;
  EXPECT_FALSE(is_descriptor_code(descriptor_code(1'000'000, 6)));
  EXPECT_TRUE(is_descriptor_code(descriptor_code(1'000'000, 9)));
}

TEST(DescriptorCode, SortsAsItsUiDoes) {
  Random random(test_seed());
  std::vector<DescriptorCode> codes;
  for (int i = 0; i < 3'000; ++i) {
    const auto number = static_cast<std::uint32_t>(draw(random, 1'000'000));
    codes.push_back(descriptor_code(number, 6));
    codes.push_back(descriptor_code(number * 1000, 9));
    codes.push_back(descriptor_code(static_cast<std::uint32_t>(draw(random, 1'000'000'000)), 9));
  }
  for (const DescriptorCode code : codes)
    ASSERT_EQ(descriptor_code_of(descriptor_ui(code)), code);
  std::sort(codes.begin(), codes.end(), ui_less);
  for (std::size_t i = 1; i < codes.size(); ++i)
    ASSERT_LE(descriptor_ui(codes[i - 1]), descriptor_ui(codes[i]));
}

TEST(FileKey, ComesFromTheName) {
  const auto is = [](const char* path, std::uint32_t year, std::uint64_t number, const char* name) {
    EXPECT_EQ(file_key(path), (FileKey{year, number, name})) << path;
  };
  is("/data/pubmed26n0001.xml.gz", 26, 1, "pubmed26n0001.xml.gz");
  is("pubmed26n1335.xml", 26, 1335, "pubmed26n1335.xml");
  is("pubmed09n123456.xml", 9, 123456, "pubmed09n123456.xml");
  is("a.b/notes.xml", 0, 0, "notes.xml");
  is("update_0002_update.xml", 0, 2, "update_0002_update.xml");
  is("part 7 of 12.v3.xml.gz", 0, 3, "part 7 of 12.v3.xml.gz");
  is("cv_NUBL_18_01.txt", 0, 1, "cv_NUBL_18_01.txt");
  is("mypubmed26n0001.xml", 0, 1, "mypubmed26n0001.xml");
  is("pubmed26n0001b.xml", 0, 1, "pubmed26n0001b.xml");
  is("pubmed26n.xml", 0, 26, "pubmed26n.xml");
  is("x9123456789012345678.xml", 0, 123456789012345678ULL, "x9123456789012345678.xml");
  is("pubmed26n9123456789012345678.xml", 26, 123456789012345678ULL,
     "pubmed26n9123456789012345678.xml");
  is("dir/", 0, 0, "dir");
  is("", 0, 0, "");
}

TEST(FileKey, OrdersYearsThenNumbersThenNames) {
  EXPECT_LT(file_key("zzz9999.xml"), file_key("pubmed20n0001.xml"));
  EXPECT_LT(file_key("pubmed25n9999.xml"), file_key("pubmed26n0001.xml"));
  EXPECT_LT(file_key("pubmed26n9999.xml"), file_key("pubmed26n10000.xml"));
  EXPECT_LT(file_key("pubmed26n0001.xml"), file_key("pubmed26n0001.xml.gz"));
}

}  // namespace
}  // namespace somatlas::store
