// Figures, decoded again by libspng: size, the colour of each cell, the colour bar, hatches, text.
#include "tools/export/map_picture.h"

#include <gtest/gtest.h>
#include <spng.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "tests/repetitions.h"
#include "tests/seed.h"
#include "tools/export/png.h"
#include "tools/lookup/descriptor_names.h"

namespace somatlas::exports {
namespace {

struct Decoded {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> bytes;
  std::vector<PngText> texts;
  [[nodiscard]] Colour at(std::uint32_t x, std::uint32_t y) const {
    const std::size_t i = (std::size_t{y} * width + x) * 3;
    return {bytes.at(i), bytes.at(i + 1), bytes.at(i + 2)};
  }
};

Decoded decode(const std::vector<std::byte>& png) {
  Decoded result;
  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(0), spng_ctx_free);
  EXPECT_EQ(spng_set_png_buffer(context.get(), png.data(), png.size()), 0);
  spng_ihdr header{};
  EXPECT_EQ(spng_get_ihdr(context.get(), &header), 0);
  EXPECT_EQ(header.bit_depth, 8);
  EXPECT_EQ(header.color_type, SPNG_COLOR_TYPE_TRUECOLOR);
  result.width = header.width;
  result.height = header.height;
  std::size_t size = 0;
  EXPECT_EQ(spng_decoded_image_size(context.get(), SPNG_FMT_RGB8, &size), 0);
  result.bytes.resize(size);
  EXPECT_EQ(spng_decode_image(context.get(), result.bytes.data(), size, SPNG_FMT_RGB8, 0), 0);
  std::uint32_t count = 0;
  if (spng_get_text(context.get(), nullptr, &count) == 0) {
    std::vector<spng_text> texts(count);
    EXPECT_EQ(spng_get_text(context.get(), texts.data(), &count), 0);
    for (const spng_text& text : texts) {
      result.texts.push_back({text.keyword, std::string(text.text, text.length)});
    }
  }
  return result;
}

MapFigure figure_of_side(std::uint32_t side) {
  MapFigure figure;
  figure.side = side;
  figure.title = "Neoplasms";
  figure.subtitle = "D009369";
  figure.quantity = "weight";
  figure.caption = {"one", "two"};
  figure.value.resize(std::size_t{side} * side);
  figure.state.resize(figure.value.size(), CellState::valued);
  for (std::size_t i = 0; i < figure.value.size(); ++i) {
    figure.value[i] = static_cast<double>(i) / static_cast<double>(figure.value.size());
  }
  return figure;
}

TEST(MapPicture, EveryCellHasTheColourOfItsValue) {
  for (const std::uint32_t side : {1U, 3U, 33U}) {
    const MapFigure figure = figure_of_side(side);
    const MapLayout layout = layout_of(figure);
    const Decoded picture = decode(encode_png(draw_map(figure), {}));
    ASSERT_EQ(picture.width, layout.width);
    ASSERT_EQ(picture.height, layout.height);
    for (std::uint32_t i = 0; i < side * side; ++i) {
      const std::uint32_t x = layout.map_left + i % side * layout.cell;
      const std::uint32_t y = layout.map_top + i / side * layout.cell;
      const Colour expected = colour_at(figure.value[i]);
      EXPECT_EQ(picture.at(x, y), expected);
      EXPECT_EQ(picture.at(x + layout.cell - 1, y + layout.cell - 1), expected);
    }
  }
}

TEST(MapPicture, IsAboutAThousandPixelsWideForEverySide) {
  for (std::uint32_t side = 1; side <= 1400; ++side) {
    MapFigure figure;
    figure.side = side;
    const MapLayout layout = layout_of(figure);
    EXPECT_GE(layout.cell, 1U);
    EXPECT_GE(layout.cell * side, 720U) << side;
    EXPECT_LE(layout.cell * side, 1450U) << side;
    EXPECT_GE(layout.width, layout.map_left + layout.cell * side);
  }
  MapFigure large;
  large.side = 4096;
  EXPECT_EQ(layout_of(large).cell, 1U);
}

TEST(MapPicture, TheBarRunsThroughTheScale) {
  const MapFigure figure = figure_of_side(8);
  const MapLayout layout = layout_of(figure);
  const Decoded picture = decode(encode_png(draw_map(figure), {}));
  const std::uint32_t y = layout.bar_top + layout.bar_height / 2;
  EXPECT_EQ(picture.at(layout.bar_left, y), colour_scale().front());
  EXPECT_EQ(picture.at(layout.bar_left + layout.bar_width - 1, y), colour_scale().back());
  EXPECT_EQ(picture.at(layout.bar_left + layout.bar_width / 2, y),
            colour_at((layout.bar_width / 2 + 0.5) / layout.bar_width));
}

TEST(MapPicture, VacantCellsAreGreyAndNothingElseIs) {
  MapFigure figure = figure_of_side(8);
  figure.state[9] = CellState::vacant;
  figure.state[10] = CellState::no_value;
  figure.no_value = "no dated article";
  const MapLayout layout = layout_of(figure);
  const Decoded picture = decode(encode_png(draw_map(figure), {}));
  const auto is_grey = [](Colour c) { return c.red == c.green && c.green == c.blue; };
  for (std::uint32_t i = 0; i < 64; ++i) {
    std::set<int> tones;
    for (std::uint32_t d = 0; d < layout.cell; ++d) {
      const Colour c = picture.at(layout.map_left + i % 8 * layout.cell + d,
                                  layout.map_top + i / 8 * layout.cell + 3);
      EXPECT_EQ(is_grey(c), i == 9 || i == 10) << i;
      tones.insert(c.red);
    }
    EXPECT_EQ(tones.size(), i == 9 ? 2U : 1U) << i;  // the hatch has two tones
  }
  for (const Colour colour : colour_scale()) {
    EXPECT_FALSE(is_grey(colour));
  }
}

// Where two pictures of one size differ, in a rectangle.
bool differ(const Picture& a, const Picture& b, std::uint32_t left, std::uint32_t top,
            std::uint32_t right, std::uint32_t bottom) {
  for (std::uint32_t y = top; y < bottom; ++y) {
    for (std::uint32_t x = left; x < right; ++x) {
      if (a.pixel(x, y) != b.pixel(x, y)) {
        return true;
      }
    }
  }
  return false;
}

TEST(MapPicture, TheLegendExplainsGreyCellsOnlyWhereThereAreAny) {
  const MapFigure plain = figure_of_side(8);
  MapFigure vacant = plain;
  vacant.state[9] = CellState::vacant;
  MapFigure nothing = plain;
  nothing.state[9] = CellState::no_value;
  nothing.no_value = "no article";
  const MapLayout layout = layout_of(plain);
  const std::uint32_t beside_bar = layout.bar_left + layout.bar_width + 40;
  Picture empty = draw_map(plain);
  empty.fill(beside_bar, layout.bar_top - 5, layout.width, layout.bar_height + 10, {255, 255, 255});
  const auto says = [&](const MapFigure& figure) {
    return differ(draw_map(figure), empty, beside_bar, layout.bar_top - 5, layout.width,
                  layout.bar_top + layout.bar_height + 5);
  };
  EXPECT_FALSE(says(plain));
  EXPECT_TRUE(says(vacant));
  EXPECT_TRUE(says(nothing));
}

TEST(MapPicture, TheEndsOfTheBarHaveTheirNumbers) {
  for (const double high : {0.998, 0.0517, 7.0, 113.0, 54321.0}) {
    MapFigure figure = figure_of_side(8);
    figure.high = high;
    MapFigure other = figure;
    other.high = high * 1.01;
    const MapLayout layout = layout_of(figure);
    const std::uint32_t end = layout.bar_left + layout.bar_width;
    const std::uint32_t below = layout.bar_top + layout.bar_height + 8;
    // Nothing else is written so close to the end: the number is that of the end.
    EXPECT_TRUE(differ(draw_map(figure), draw_map(other), end - 12, below, end + 12, below + 16))
        << high;
  }
}

TEST(MapPicture, TheAxesHaveNames) {
  const MapFigure figure = figure_of_side(48);
  const MapLayout layout = layout_of(figure);
  const Picture picture = draw_map(figure);
  const Picture blank(picture.width(), picture.height(), {255, 255, 255});
  const std::uint32_t middle = layout.cell * figure.side / 2;
  EXPECT_TRUE(differ(picture, blank, layout.map_left + middle - 20, layout.map_top - 40,
                     layout.map_left + middle + 20, layout.map_top - 26));
  EXPECT_TRUE(
      differ(picture, blank, 0, layout.map_top + middle - 8, 36, layout.map_top + middle + 8));
}

TEST(MapPicture, ALogarithmicBarPlacesValuesByTheirLogarithm) {
  MapFigure figure = figure_of_side(2);
  figure.spacing = Spacing::logarithmic;
  figure.high = 1023;
  EXPECT_DOUBLE_EQ(position_on_bar(figure, 0), 0);
  EXPECT_DOUBLE_EQ(position_on_bar(figure, 1), 0.1);
  EXPECT_DOUBLE_EQ(position_on_bar(figure, 31), 0.5);
  EXPECT_DOUBLE_EQ(position_on_bar(figure, 1023), 1);
  EXPECT_DOUBLE_EQ(position_on_bar(figure, 5000), 1);
  EXPECT_EQ(tick_values(figure),
            (std::vector<double>{0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}));
}

TEST(MapPicture, LinearTicksAreRoundNumbersWithinTheBar) {
  MapFigure figure = figure_of_side(2);
  figure.low = 1961.2;
  figure.high = 2003.9;
  figure.whole_numbers = true;
  EXPECT_EQ(tick_values(figure), (std::vector<double>{1970, 1980, 1990, 2000}));
  figure.low = 0;
  figure.high = 0.5;
  figure.whole_numbers = false;
  const std::vector<double> ticks = tick_values(figure);
  ASSERT_EQ(ticks.size(), 6U);
  EXPECT_NEAR(ticks[1], 0.1, 1e-12);
  EXPECT_NEAR(ticks[5], 0.5, 1e-12);
}

TEST(MapPicture, AFlatMapIsDrawnToo) {
  MapFigure figure = figure_of_side(4);
  std::fill(figure.value.begin(), figure.value.end(), 0.0);
  figure.low = figure.high = 0;
  const MapLayout layout = layout_of(figure);
  const Decoded picture = decode(encode_png(draw_map(figure), {}));
  EXPECT_EQ(picture.at(layout.map_left + 1, layout.map_top + 1), colour_scale().front());
  EXPECT_EQ(tick_values(figure), std::vector<double>{0});
}

TEST(MapPicture, SaysInsideTheFileWhatItShows) {
  const std::vector<PngText> texts{{"Title", "Sj\xc3\xb6gren"}, {"Software", "somatlas"}};
  const Decoded picture = decode(encode_png(draw_map(figure_of_side(2)), texts));
  ASSERT_EQ(picture.texts.size(), 2U);
  EXPECT_EQ(picture.texts[0].keyword, "Title");
  EXPECT_EQ(picture.texts[0].text, "Sj\xc3\xb6gren");
}

TEST(MapPicture, BreaksALongWordInTimeWithItsLength) {
  MapFigure figure = figure_of_side(4);
  figure.caption = {std::string(static_cast<std::size_t>(repetitions(200'000, 200'000)), 'x')};
  const auto begun = std::chrono::steady_clock::now();
  const MapLayout layout = layout_of(figure);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
  EXPECT_GT(layout.caption.size(), 250U);
  EXPECT_LT(seconds.count(), 30);  // with sanitizers, beside other work
}

TEST(MapPicture, TheTitleLeavesInk) {
  MapFigure with = figure_of_side(4);
  MapFigure without = with;
  without.title.clear();
  const Picture a = draw_map(with);
  const Picture b = draw_map(without);
  std::size_t differing = 0;
  for (std::uint32_t y = 0; y < a.height(); ++y) {
    for (std::uint32_t x = 0; x < a.width(); ++x) {
      if (a.pixel(x, y) != b.pixel(x, y)) {
        ++differing;
        EXPECT_LT(y, layout_of(with).map_top - 40);
      }
    }
  }
  EXPECT_GT(differing, 500U);
}

TEST(Labels, NeverOverlapNorLeaveTheMapNorRepeat) {
  const std::uint32_t side = 64;
  const std::uint32_t cell = 16;
  for (const bool places : {true, false}) {
    std::vector<MapLabel> labels;
    for (std::uint32_t i = 0; i < side * side; i += 37) {
      const auto kind = places ? LabelKind::place : static_cast<LabelKind>(1 + i % 3);
      labels.push_back({i, "Receptors, Antigen, T-Cell, number " + std::to_string(i % 200), kind});
      labels.push_back({i, "RECEPTORS, antigen, T-Cell, number " + std::to_string(i % 200), kind});
    }
    const std::vector<PlacedLabel> placed = place_labels(labels, 40, side, cell, 100, 50);
    EXPECT_GT(placed.size(), 15U);
    EXPECT_LE(placed.size(), 40U);
    std::set<std::string> texts;
    for (std::size_t a = 0; a < placed.size(); ++a) {
      const Box& box = placed[a].box;
      EXPECT_GE(box.left, 100);
      EXPECT_GE(box.top, 50);
      EXPECT_LE(box.right, 100 + side * cell);
      EXPECT_LE(box.bottom, 50 + side * cell);
      std::string text;
      for (const std::string& line : placed[a].lines) {
        EXPECT_LE(text_width(line, label_style(placed[a].kind)), box.right - box.left + 1e-9);
        text += line;
      }
      EXPECT_TRUE(texts.insert(lookup::folded(text)).second) << text;
      for (std::size_t b = a + 1; b < placed.size(); ++b) {
        const Box& other = placed[b].box;
        EXPECT_FALSE(box.left < other.right && other.left < box.right && box.top < other.bottom &&
                     other.top < box.bottom);
      }
    }
  }
}

TEST(Labels, OfSeveralHeadingsLeaveOutTheLastWhereTheyTakeMoreThanThreeLines) {
  const auto lines = [](const std::string& name) {
    const std::vector<MapLabel> label{{32 * 64 + 32, name, LabelKind::area}};
    return place_labels(label, 1, 64, 16, 0, 0).at(0).lines;
  };
  EXPECT_EQ(lines("Pain / Sleep"), std::vector<std::string>{"Pain / Sleep"});
  EXPECT_EQ(lines("Neurodevelopmental Disorders / Nasopharyngeal Neoplasms / Irritable Mood"),
            (std::vector<std::string>{"Neurodevelopmental", "Disorders / …"}));
  EXPECT_EQ(lines("Cell Line, Tumor / Breast Neoplasms / Genital Diseases, Female"),
            (std::vector<std::string>{"Cell Line, Tumor /", "Breast Neoplasms / …"}));
  EXPECT_EQ(
      lines("Receptors, Antigen, T-Cell, alpha-beta, of one heading, and of many words").size(),
      4U);
}

TEST(Labels, BreakAtBlanks) {
  const TextStyle style;
  const double width = text_width("Receptors, Antigen,", style);
  EXPECT_EQ(broken_into_lines("Receptors, Antigen, T-Cell, alpha-beta", width, style),
            (std::vector<std::string>{"Receptors, Antigen,", "T-Cell, alpha-beta"}));
  EXPECT_EQ(broken_into_lines("Neoplasms", 4, style), std::vector<std::string>{"Neoplasms"});
  EXPECT_TRUE(broken_into_lines("", 4, style).empty());
}

TEST(MapPicture, WordsThatAreTooLongAreBrokenAndNeverCut) {
  MapFigure figure = figure_of_side(8);
  figure.title = "Of the " + std::string(300, 'W') + " and more";
  figure.subtitle = std::string(50, ' ') + std::string(900, 'i');
  figure.caption = {std::string(400, 'm'), "", "a b c " + std::string(200, '\xc3')};
  figure.overlay.assign(64, 1);
  figure.overlay_text = "of a list";
  const MapLayout layout = layout_of(figure);
  std::string title;
  for (const std::string& line : layout.title) {
    EXPECT_LE(text_width(line, title_style), layout.cell * 8);
    title += line;
  }
  EXPECT_EQ(std::count(title.begin(), title.end(), 'W'), 300);
  const Picture picture = draw_map(figure);
  for (std::uint32_t y = 0; y < picture.height(); ++y) {
    for (std::uint32_t x = layout.width - 20; x < layout.width; ++x) {
      ASSERT_EQ(picture.pixel(x, y), (Colour{255, 255, 255})) << x << " " << y;
    }
  }
  for (std::uint32_t y = layout.height - 15; y < layout.height; ++y) {
    for (std::uint32_t x = 0; x < layout.width; ++x) {
      ASSERT_EQ(picture.pixel(x, y), (Colour{255, 255, 255})) << x << " " << y;
    }
  }
}

TEST(MapPicture, MoreDotsShowTheSame) {
  MapFigure figure = figure_of_side(8);
  figure.state[9] = CellState::vacant;
  const MapLayout layout = layout_of(figure);
  const Picture once = draw_map(figure);
  const Picture three = draw_map(figure, 3);
  ASSERT_EQ(three.width(), 3 * once.width());
  ASSERT_EQ(three.height(), 3 * once.height());
  const std::uint32_t edge = layout.cell * 8;
  for (std::uint32_t y = layout.map_top - 1; y < layout.map_top + edge + 1; ++y) {
    for (std::uint32_t x = layout.map_left - 1; x < layout.map_left + edge + 1; ++x) {
      ASSERT_EQ(three.pixel(3 * x + 1, 3 * y + 1), once.pixel(x, y)) << x << " " << y;
      ASSERT_EQ(three.pixel(3 * x + 2, 3 * y), once.pixel(x, y)) << x << " " << y;
    }
  }
}

TEST(MapPicture, ArticlesOfAListAreDiscsByTheirNumber) {
  MapFigure figure = figure_of_side(8);
  figure.overlay.assign(64, 0);
  figure.overlay[10] = 1;
  figure.overlay[30] = 400;
  const MapLayout layout = layout_of(figure);
  const Picture with = draw_map(figure);
  const double centre = layout.cell / 2.0;
  std::map<std::size_t, int> ink;
  for (std::uint32_t i = 0; i < 64; ++i) {
    for (std::uint32_t y = 0; y < layout.cell; ++y) {
      for (std::uint32_t x = 0; x < layout.cell; ++x) {
        const Colour at = with.pixel(layout.map_left + i % 8 * layout.cell + x,
                                     layout.map_top + i / 8 * layout.cell + y);
        if (at == colour_at(figure.value[i])) {
          continue;
        }
        ++ink[i];
        EXPECT_LE(std::hypot(x + 0.5 - centre, y + 0.5 - centre), 25);
      }
    }
    EXPECT_EQ(ink[i] > 0, figure.overlay[i] > 0) << i;
  }
  EXPECT_GT(ink[30], 4 * ink[10]);
  for (const std::uint32_t cell : {1U, 4U, 43U, 128U}) {
    double last = 0;
    for (const std::uint32_t count : {1U, 7U, 50U, 1000U}) {
      const double radius = disc_radius(count, 1000, cell);
      EXPECT_GE(radius, std::max(last, 2.0));
      EXPECT_LE(radius, std::max(9.0, cell / 2.0));
      last = radius;
    }
    EXPECT_LE(disc_radius(1, 1, cell), 6);
  }
}

// Every edge between two cells, one by one.
TEST(MapPicture, BordersAreTheEdgesBetweenParts) {
  std::mt19937_64 random(test_seed());
  for (const std::uint32_t side : {1U, 2U, 9U, 30U}) {
    std::vector<std::uint32_t> part(std::size_t{side} * side);
    for (std::uint32_t& number : part) {
      number = static_cast<std::uint32_t>(random() % 3);
    }
    std::set<std::vector<std::uint32_t>> expected;  // across, row, column
    for (std::uint32_t row = 0; row < side; ++row) {
      for (std::uint32_t column = 0; column < side; ++column) {
        const std::uint32_t here = part[row * side + column];
        if (row > 0 && part[(row - 1) * side + column] != here) {
          expected.insert({1, row, column});
        }
        if (column > 0 && part[row * side + column - 1] != here) {
          expected.insert({0, row, column});
        }
      }
    }
    std::set<std::vector<std::uint32_t>> drawn;
    const std::vector<Border> borders = borders_of(side, part);
    for (const Border& border : borders) {
      for (std::uint32_t i = 0; i < border.length; ++i) {
        const bool first =
            drawn
                .insert(border.across ? std::vector{1U, border.row, border.column + i}
                                      : std::vector{0U, border.row + i, border.column})
                .second;
        EXPECT_TRUE(first);
      }
      // A run is as long as it can be.
      EXPECT_FALSE(expected.contains(
          border.across ? std::vector{1U, border.row, border.column + border.length}
                        : std::vector{0U, border.row + border.length, border.column}));
    }
    EXPECT_EQ(drawn, expected);
  }
}

}  // namespace
}  // namespace somatlas::exports
