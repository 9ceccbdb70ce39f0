// The font of pictures: which characters it has, that none is left out, and where accents go.
#include "tools/export/stroke_font.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace somatlas::exports {
namespace {

/// What is drawn of a text, inks of 60 rows of 80 pixels; its baseline is row 45, its scale 3.
std::vector<std::uint8_t> drawn(const std::string& text) {
  TextStyle style;
  style.cap_height = 30;
  style.pen = 3;
  Picture picture(80, 60, {255, 255, 255});
  draw_text(picture, 10, 45, text, style);
  return {picture.bytes().begin(), picture.bytes().end()};
}

TEST(StrokeFont, DrawsEveryCharacterAndNoTwoAlike) {
  // ASCII, Latin-1, and what else European names and lists of terms use.
  std::set<std::vector<std::uint8_t>> seen;
  std::size_t characters = 0;
  const auto draw = [&](const std::string& character) {
    EXPECT_TRUE(seen.insert(drawn(character)).second) << character;
    ++characters;
  };
  for (char c = '!'; c <= '~'; ++c) {
    draw(std::string(1, c));
  }
  for (int code = 0xA1; code <= 0xFF; ++code) {
    if (code != 0xAD) {  // the soft hyphen
      draw({static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))});
    }
  }
  for (const char* character :
       {"\u0103", "\u0105", "\u0107", "\u010D", "\u0111", "\u0119", "\u011B", "\u011F", "\u0131",
        "\u0142", "\u0144", "\u0148", "\u0151", "\u0153", "\u0159", "\u015B", "\u015F", "\u0160",
        "\u0161", "\u016F", "\u0171", "\u017A", "\u017C", "\u017E", "\u0219", "\u0393", "\u0394",
        "\u03A3", "\u03A9", "\u03B1", "\u03B2", "\u03B3", "\u03B4", "\u03B5", "\u03B8", "\u03BB",
        "\u03C0", "\u03C3", "\u03C9", "\u2013", "\u2014", "\u2018", "\u2019", "\u201C", "\u201D",
        "\u201E", "\u2026", "\u20AC", "\u2264"}) {
    draw(character);
  }
  EXPECT_EQ(seen.size(), characters);
  EXPECT_FALSE(seen.contains(drawn(" ")));
  EXPECT_FALSE(seen.contains(drawn("\u6F22"))) << "a box";
  EXPECT_EQ(drawn("\u00B5"), drawn("\u03BC"));  // micro, mu
  EXPECT_EQ(drawn("\u0391"), drawn("A"));       // Alpha
}

TEST(StrokeFont, AccentsLeaveLettersTheirPlace) {
  const TextStyle style;
  const auto rows = [](const std::vector<std::uint8_t>& bytes, std::size_t first,
                       std::size_t last) {
    return std::vector<std::uint8_t>(bytes.begin() + static_cast<std::ptrdiff_t>(first * 80 * 3),
                                     bytes.begin() + static_cast<std::ptrdiff_t>(last * 80 * 3));
  };
  for (const auto& [letter, base] : {std::pair<std::string, std::string>{"\u00F6", "o"},
                                     {"\u00E9", "e"},
                                     {"\u00F1", "n"},
                                     {"\u0161", "s"}}) {
    EXPECT_EQ(text_width(letter, style), text_width(base, style));
    EXPECT_EQ(rows(drawn(letter), 24, 60), rows(drawn(base), 24, 60)) << letter;
    EXPECT_NE(rows(drawn(letter), 0, 20), rows(drawn(base), 0, 20)) << letter;
  }
  // Capitals give way, so that a line is no higher for them; what hangs below leaves all above.
  EXPECT_EQ(rows(drawn("\u00C5\u0158"), 0, 10), rows(drawn(" "), 0, 10));
  EXPECT_NE(rows(drawn("\u00D6"), 20, 40), rows(drawn("O"), 20, 40));
  EXPECT_EQ(rows(drawn("\u00E7"), 0, 42), rows(drawn("c"), 0, 42));
}

TEST(StrokeFont, ShowsABoxForEachCharacterItLacks) {
  const TextStyle style;
  // Two characters of any length, a byte that begins none, a control character.
  const std::string box = "\u6F22";
  for (const std::string lacking : {"\u0416", "\U0001F9EC", "\xFF", "\x80", "\x01", "\xE6"}) {
    EXPECT_EQ(drawn(lacking), drawn(box));
    EXPECT_EQ(text_width("a" + lacking + "b", style), text_width("a" + box + "b", style));
  }
  EXPECT_GT(text_width("a" + box + "b", style), text_width("ab", style) + 3);
  EXPECT_NE(drawn(box), drawn(" "));
}

TEST(StrokeFont, StaysInsideThePicture) {
  Picture picture(20, 10, {255, 255, 255});
  draw_text(picture, -15, 4, "WWWWWWWW", TextStyle{20, 3, {0, 0, 0}, 4, {9, 9, 9}});
  picture.fill(-5, -5, 100, 3, {1, 2, 3});
  picture.disc(19, 9, 8, {4, 5, 6});
  EXPECT_EQ(picture.bytes().size(), 600U);
}

}  // namespace
}  // namespace somatlas::exports
