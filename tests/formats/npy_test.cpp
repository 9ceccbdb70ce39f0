// .npy bytes, read back by a reader written from NumPy's description of the format alone.
#include "tools/export/npy.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <regex>
#include <string>
#include <vector>

#include "tests/formats/scratch_folder.h"

namespace somatlas::exports {
namespace {

struct Array {
  std::string type;
  bool fortran_order = true;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint16_t> values;
};

Array read_npy(const std::string& bytes) {
  Array array;
  EXPECT_GE(bytes.size(), 10U);
  EXPECT_EQ(bytes.substr(0, 6), "\x93NUMPY");
  EXPECT_EQ(bytes[6], 1);
  EXPECT_EQ(bytes[7], 0);
  const std::size_t length =
      static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  const std::size_t start = 10 + length;
  EXPECT_EQ(start % 64, 0U);
  const std::string dictionary = bytes.substr(10, length);
  EXPECT_EQ(dictionary.back(), '\n');
  std::smatch match;
  EXPECT_TRUE(std::regex_match(
      dictionary, match,
      std::regex(
          R"(\{'descr': '([^']*)', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n)")))
      << dictionary;
  array.type = match[1];
  array.fortran_order = match[2] == "True";
  const std::string shape = match[3];
  const std::regex number("[0-9]+");
  for (std::sregex_iterator it(shape.begin(), shape.end(), number), end; it != end; ++it) {
    array.shape.push_back(std::stoull(it->str()));
  }
  for (std::size_t at = start; at + 1 < bytes.size(); at += 2) {
    array.values.push_back(static_cast<std::uint16_t>(
        static_cast<unsigned char>(bytes[at]) + 256U * static_cast<unsigned char>(bytes[at + 1])));
  }
  EXPECT_EQ(bytes.size() % 2, 0U);
  return array;
}

TEST(Npy, HoldsTheShapeAndTheValuesInCOrder) {
  const ScratchFolder folder;
  NewFile file(folder / "a.npy", "a.npy");
  const std::vector<std::uint64_t> shape{2, 3, 3};
  NpyWriter writer(file, shape);
  std::vector<std::uint16_t> expected;
  for (std::uint16_t plane = 0; plane < 2; ++plane) {
    std::vector<std::uint16_t> values;
    for (std::uint16_t i = 0; i < 9; ++i) {
      values.push_back(static_cast<std::uint16_t>(16383 - plane * 1000 - i));
    }
    writer.append(values);
    expected.insert(expected.end(), values.begin(), values.end());
  }
  writer.finish();
  file.close();
  const Array array = read_npy(text_of(folder / "a.npy"));
  EXPECT_EQ(array.type, "<u2");
  EXPECT_FALSE(array.fortran_order);
  EXPECT_EQ(array.shape, shape);
  EXPECT_EQ(array.values, expected);
}

TEST(Npy, PadsEveryHeaderToAMultipleOf64) {
  for (std::uint64_t descriptors = 1; descriptors < 10'000'000'000'000'000; descriptors *= 7) {
    const std::array<std::uint64_t, 3> shape{descriptors, 1024, 1024};
    const std::string header = npy_header(shape);
    EXPECT_EQ(header.size() % 64, 0U);
    EXPECT_EQ(read_npy(header).shape, std::vector<std::uint64_t>(shape.begin(), shape.end()));
  }
}

TEST(Npy, WritesTheOneTupleOfPython) {
  const std::array<std::uint64_t, 1> shape{5};
  EXPECT_NE(npy_header(shape).find("(5,)"), std::string::npos);
}

TEST(Npy, RefusesToEndShortOrLong) {
  const ScratchFolder folder;
  NewFile file(folder / "a.npy", "a.npy");
  const std::array<std::uint64_t, 2> shape{2, 2};
  NpyWriter writer(file, shape);
  writer.append(std::vector<std::uint16_t>{1, 2, 3});
  EXPECT_THROW(writer.finish(), std::logic_error);
  EXPECT_THROW(writer.append(std::vector<std::uint16_t>{4, 5}), std::logic_error);
}

}  // namespace
}  // namespace somatlas::exports
