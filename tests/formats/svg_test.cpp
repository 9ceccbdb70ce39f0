// Figures as SVG, read again by libxml2: well-formed whatever the names, nothing from outside, the
// words and cells that the picture has.
#include <gtest/gtest.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <spng.h>

#include <functional>
#include <memory>
#include <random>

#include "tests/seed.h"
#include "tools/export/map_picture.h"
#include "tools/export/svg_canvas.h"
#include "tools/export/xml_text.h"

namespace somatlas::exports {
namespace {

using Document = std::unique_ptr<xmlDoc, decltype(&xmlFreeDoc)>;

// Null where the text is no well-formed XML.
Document parsed(const std::string& text) {
  return {xmlReadMemory(text.data(), static_cast<int>(text.size()), "figure.svg", nullptr,
                        XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_HUGE),
          xmlFreeDoc};
}

void for_each_element(xmlNode* node, const std::function<void(xmlNode*)>& visit) {
  for (; node != nullptr; node = node->next) {
    if (node->type == XML_ELEMENT_NODE) {
      visit(node);
    }
    for_each_element(node->children, visit);
  }
}

std::string name_of(const xmlNode* node) {
  return reinterpret_cast<const char*>(node->name);
}

std::string content_of(xmlNode* node) {
  const std::unique_ptr<xmlChar, void (*)(void*)> text(xmlNodeGetContent(node),
                                                       [](void* p) { xmlFree(p); });
  return reinterpret_cast<const char*>(text.get());
}

std::string attribute(xmlNode* node, const char* name) {
  const std::unique_ptr<xmlChar, void (*)(void*)> text(
      xmlGetProp(node, reinterpret_cast<const xmlChar*>(name)), [](void* p) { xmlFree(p); });
  return text ? reinterpret_cast<const char*>(text.get()) : "";
}

MapFigure figure_of_side(std::uint32_t side) {
  MapFigure figure;
  figure.side = side;
  figure.title = "A title";
  figure.quantity = "weight";
  figure.caption = {"one", "two"};
  figure.value.resize(std::size_t{side} * side);
  figure.state.resize(figure.value.size(), CellState::valued);
  for (std::size_t i = 0; i < figure.value.size(); ++i) {
    figure.value[i] = static_cast<double>(i) / static_cast<double>(figure.value.size());
  }
  return figure;
}

std::vector<std::uint8_t> bytes_of_base64(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  std::uint32_t word = 0;
  std::uint32_t bits = 0;
  for (const char c : text) {
    if (c == '=') {
      break;
    }
    word = word << 6U | static_cast<std::uint32_t>(letters.find(c));
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push_back(static_cast<std::uint8_t>(word >> bits & 255U));
    }
  }
  return bytes;
}

TEST(Svg, IsWellFormedWhateverTheNames) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 12; ++round) {
    const auto noise = [&] {
      std::string text = "</text><script>alert(1)</script>\"' onload='x' ]]>&amp;&#0;<!--";
      for (int i = 0; i < 60; ++i) {
        text.insert(text.begin() + static_cast<std::ptrdiff_t>(random() % text.size()),
                    static_cast<char>(random()));
      }
      return text;
    };
    MapFigure figure = figure_of_side(16);
    figure.title = noise();
    figure.subtitle = noise();
    figure.quantity = noise();
    figure.no_value = noise();
    figure.caption = {noise(), noise()};
    figure.overlay.assign(256, 1);
    figure.overlay_text = noise();
    figure.label_count = 50;
    for (std::uint32_t i = 0; i < 256; i += 40) {
      figure.labels.push_back({i, noise()});
    }
    const Document document = parsed(svg_of_map(figure, noise()));
    ASSERT_TRUE(document);
    for_each_element(xmlDocGetRootElement(document.get()), [](xmlNode* node) {
      EXPECT_NE(name_of(node), "script");
      for (const xmlAttr* a = node->properties; a != nullptr; a = a->next) {
        EXPECT_NE(std::string(reinterpret_cast<const char*>(a->name)).substr(0, 2), "on");
      }
      const std::string reference = attribute(node, "href");
      EXPECT_TRUE(reference.empty() || reference.starts_with("data:image/png;base64,"));
    });
  }
}

TEST(Svg, TextOfXmlIsReadAsItWas) {
  const std::string kept = "A & B < C > \"D\" 'E' Sj\xc3\xb6gren \xe2\x82\xac \xf0\x9f\xa7\xac";
  const Document document = parsed("<a b=\"" + xml_text(kept) + "\">" + xml_text(kept) + "</a>");
  ASSERT_TRUE(document);
  xmlNode* const root = xmlDocGetRootElement(document.get());
  EXPECT_EQ(content_of(root), kept);
  EXPECT_EQ(attribute(root, "b"), kept);
  const std::string box = "\xef\xbf\xbd";
  EXPECT_EQ(xml_text(std::string("a\0b\tc\x7f", 6)), "a b c ");
  EXPECT_EQ(xml_text("\x80z"), box + "z");
  EXPECT_EQ(xml_text("\xc3"), box);                                // cut
  EXPECT_EQ(xml_text("\xc0\xaf"), box + box);                      // overlong
  EXPECT_EQ(xml_text("\xed\xa0\x80"), box + box + box);            // a surrogate
  EXPECT_EQ(xml_text("\xef\xbf\xbf"), box + box + box);            // U+FFFF
  EXPECT_EQ(xml_text("\xf4\x90\x80\x80"), box + box + box + box);  // beyond U+10FFFF
}

TEST(Svg, RandomBytesStayWellFormed) {
  std::mt19937_64 random(test_seed());
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 12, ' ');
    for (char& c : bytes) {
      c = static_cast<char>(random() % 3 == 0 ? 0xE0 + random() % 32 : random());
    }
    EXPECT_TRUE(parsed("<a>" + xml_text(bytes) + "</a>")) << round;
  }
}

TEST(Svg, HasTheNamesWhereThePictureHasThem) {
  MapFigure figure = figure_of_side(32);
  figure.label_count = 10;
  for (std::uint32_t i = 0; i < 1024; i += 90) {
    figure.labels.push_back({i, "Region " + std::to_string(i), static_cast<LabelKind>(i % 4)});
  }
  const MapLayout layout = layout_of(figure);
  const std::vector<PlacedLabel> placed = place_labels(
      figure.labels, figure.label_count, figure.side, layout.cell, layout.map_left, layout.map_top);
  const Document document = parsed(svg_of_map(figure, "words"));
  ASSERT_TRUE(document);
  std::vector<std::string> names;
  for_each_element(xmlDocGetRootElement(document.get()), [&](xmlNode* node) {
    if (name_of(node) != "text" || attribute(node->parent, "id") != "names" ||
        !attribute(node, "aria-hidden").empty()) {
      return;
    }
    const PlacedLabel& label = placed.at(names.size());
    names.push_back(content_of(node));
    EXPECT_EQ(names.back(), label.lines.at(0));
    const double left = std::stod(attribute(node, "x"));
    EXPECT_GE(left, label.box.left);
    EXPECT_LE(left + std::stod(attribute(node, "textLength")), label.box.right + 0.02);
    EXPECT_LE(std::stod(attribute(node, "y")), label.box.bottom);
  });
  EXPECT_EQ(names.size(), placed.size());
  EXPECT_EQ(names.size(), 10U);
}

TEST(Svg, HoldsEveryCellInOnePictureThatStaysSharp) {
  MapFigure figure = figure_of_side(30);
  figure.state[7] = CellState::no_value;
  figure.value[8] = 2;
  const MapLayout layout = layout_of(figure);
  const Document document = parsed(svg_of_map(figure, "words"));
  ASSERT_TRUE(document);
  int pictures = 0;
  for_each_element(xmlDocGetRootElement(document.get()), [&](xmlNode* node) {
    if (name_of(node) != "image" || attribute(node->parent, "id") != "cells") {
      return;
    }
    ++pictures;
    EXPECT_EQ(attribute(node, "x"), std::to_string(layout.map_left));
    EXPECT_EQ(attribute(node, "width"), std::to_string(30 * layout.cell));
    EXPECT_EQ(attribute(node, "style"), "image-rendering:pixelated");
    const std::string data = attribute(node, "href");
    const std::vector<std::uint8_t> png = bytes_of_base64(data.substr(data.find(',') + 1));
    const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(0),
                                                                      spng_ctx_free);
    ASSERT_EQ(spng_set_png_buffer(context.get(), png.data(), png.size()), 0);
    const std::size_t edge = std::size_t{30} * layout.cell;
    std::vector<std::uint8_t> rows(edge * edge * 3);
    ASSERT_EQ(spng_decode_image(context.get(), rows.data(), rows.size(), SPNG_FMT_RGB8, 0), 0);
    for (std::size_t i = 0; i < 900; ++i) {
      const std::size_t at = ((i / 30 * edge + i % 30) * layout.cell) * 3;
      const Colour colour{rows[at], rows[at + 1], rows[at + 2]};
      EXPECT_EQ(colour, i == 7 ? Colour(222, 222, 222) : colour_at(figure.value[i])) << i;
    }
  });
  EXPECT_EQ(pictures, 1);
}

// Values without any order are the worst case.
TEST(Svg, StaysSmallEnoughToSendAtSide1024) {
  std::mt19937_64 random(test_seed());
  MapFigure figure = figure_of_side(1024);
  for (double& value : figure.value) {
    value = static_cast<double>(random() % 1000) / 999;
  }
  std::vector<std::uint32_t>& part = figure.parts.emplace_back(figure.value.size());
  for (std::size_t i = 0; i < part.size(); ++i) {
    part[i] = static_cast<std::uint32_t>(i / 1024 / 22 * 47 + i % 1024 / 22);
  }
  const std::string file = svg_of_map(figure, "words");
  EXPECT_LT(file.size(), std::size_t{5} << 20);
  EXPECT_TRUE(parsed(file));
}

TEST(Svg, NumbersAreShort) {
  SvgCanvas canvas(10, 10, {1, 2, 255});
  canvas.disc(-0.004, 12.345, 0.5, {0, 16, 255});
  canvas.fill(-3, -0.25, 100, 0.1, {1, 1, 1});
  const std::string file = canvas.file("t", "d");
  EXPECT_NE(file.find("<circle cx=\"0\" cy=\"12.35\" r=\"0.5\" fill=\"#0010ff\"/>"),
            std::string::npos)
      << file;
  EXPECT_NE(file.find("<rect x=\"-3\" y=\"-0.25\" width=\"100\" height=\"0.1\""), std::string::npos)
      << file;
}

}  // namespace
}  // namespace somatlas::exports
