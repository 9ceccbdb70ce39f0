// The colours of categories: one for each letter and one for none, far enough apart to be told from
// one another, and light enough for dark text.
#include "tools/export/category_colours.h"

#include <gtest/gtest.h>

#include <cmath>

namespace somatlas::exports {
namespace {

TEST(CategoryColours, AreApartAndLight) {
  for (const char a : category_letters) {
    const OkLab one = oklab_of(category_colour(a));
    EXPECT_GT(one.lightness, 0.65) << a;
    EXPECT_FALSE(category_name(a).empty());
    for (const char b : category_letters) {
      const OkLab other = oklab_of(category_colour(b));
      const double distance =
          std::hypot(one.lightness - other.lightness, one.green_red - other.green_red,
                     one.blue_yellow - other.blue_yellow);
      EXPECT_TRUE(a == b || distance > 0.03) << a << ' ' << b << ' ' << distance;
    }
  }
}

TEST(CategoryColours, WhatHasNoCategoryHasAColour) {
  EXPECT_EQ(category_colour('?'), category_colour('-'));
  EXPECT_EQ(category_name('?'), "no category");
  EXPECT_EQ(category_name('C'), "Diseases");
  EXPECT_EQ(category_name('Z'), "Geographicals");
}

}  // namespace
}  // namespace somatlas::exports
