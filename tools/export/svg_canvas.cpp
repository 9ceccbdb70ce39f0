// Elements are appended as they are drawn. Numbers have at most two decimals, whatever the locale.
#include "tools/export/svg_canvas.h"

#include <charconv>
#include <cmath>

#include "tools/export/png.h"
#include "tools/export/xml_text.h"

namespace somatlas::exports {
namespace {

constexpr double page_width = 180;  // mm
// Of the typefaces asked for, a capital's height over the size that SVG states.
constexpr double cap_share = 0.716;
constexpr std::string_view typefaces =
    "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

std::string number(double value) {
  const auto hundredths = std::llround(value * 100);
  char digits[24];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, std::abs(hundredths)).ptr);
  text.insert(0, text.size() < 3 ? 3 - text.size() : 0, '0');
  text.insert(text.size() - 2, ".");
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return hundredths < 0 ? "-" + text : text;
}

std::string attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + number(value) + "\"";
}

std::string hex(Colour colour) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "#";
  for (const std::uint8_t channel : {colour.red, colour.green, colour.blue}) {
    text += digits[channel >> 4U];
    text += digits[channel & 15U];
  }
  return text;
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8U | (i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k > bytes.size() ? '=' : letters[word >> (18 - 6 * k) & 63U];
    }
  }
  return text;
}

}  // namespace

SvgCanvas::SvgCanvas(std::uint32_t width, std::uint32_t height, Colour paper)
    : width_(width), height_(height) {
  fill(0, 0, width, height, paper);
}

void SvgCanvas::part(std::string_view name) {
  body_ += in_part_ ? "</g>\n" : "";
  body_ += "<g id=\"" + xml_text(name) + "\">\n";
  in_part_ = true;
}

void SvgCanvas::text(double x, double y, std::string_view text, const TextStyle& style) {
  if (text.empty()) {
    return;
  }
  const std::string size = attribute("font-size", style.cap_height / cap_share) +
                           (style.bold ? " font-weight=\"bold\"" : "");
  const std::string place = attribute("x", x + style.pen / 2) + attribute("y", y) +
                            attribute("textLength", text_width(text, style) - style.pen) +
                            " lengthAdjust=\"spacingAndGlyphs\"";
  const std::string words = ">" + xml_text(text) + "</text>\n";
  if (style.halo > 0) {
    // An element of its own: programs that do not know of paint-order would hide the words.
    body_ += "<text aria-hidden=\"true\"" + place + size + " fill=\"none\" stroke=\"" +
             hex(style.halo_colour) + "\"" + attribute("stroke-width", 2 * style.halo) +
             " stroke-linejoin=\"round\"" + words;
  }
  body_ += "<text" + place + size + " fill=\"" + hex(style.colour) + "\"" + words;
}

void SvgCanvas::fill(double x, double y, double width, double height, Colour colour) {
  body_ += "<rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
           attribute("height", height) + " fill=\"" + hex(colour) + "\"/>\n";
}

void SvgCanvas::frame(double x, double y, double width, double height, Colour colour) {
  body_ += "<rect" + attribute("x", x - 0.5) + attribute("y", y - 0.5) +
           attribute("width", width + 1) + attribute("height", height + 1) +
           " fill=\"none\" stroke=\"" + hex(colour) + "\"/>\n";
}

void SvgCanvas::disc(double x, double y, double radius, Colour colour) {
  body_ += "<circle" + attribute("cx", x) + attribute("cy", y) + attribute("r", radius) +
           " fill=\"" + hex(colour) + "\"/>\n";
}

void SvgCanvas::lines(std::span<const Line> lines, double thickness, Colour colour) {
  if (lines.empty()) {
    return;
  }
  body_ += "<path fill=\"none\" stroke=\"" + hex(colour) + "\"" +
           attribute("stroke-width", thickness) + " stroke-linecap=\"square\" d=\"";
  for (const Line& line : lines) {
    body_ += "M" + number(line.from_x) + " " + number(line.from_y);
    body_ += line.from_y == line.to_y ? "H" + number(line.to_x) : "V" + number(line.to_y);
  }
  body_ += "\"/>\n";
}

void SvgCanvas::image(double x, double y, const Picture& picture) {
  body_ += "<image" + attribute("x", x) + attribute("y", y) + attribute("width", picture.width()) +
           attribute("height", picture.height()) +
           " preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
           "xlink:href=\"data:image/png;base64," +
           base64(encode_png(picture, {})) + "\"/>\n";
}

std::string SvgCanvas::file(std::string_view title, std::string_view description) const {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
         "role=\"img\" width=\"" +
         number(page_width) + "mm\" height=\"" + number(page_width * height_ / width_) +
         "mm\" viewBox=\"0 0 " + std::to_string(width_) + " " + std::to_string(height_) +
         "\" font-family=\"" + std::string(typefaces) + "\">\n<title>" + xml_text(title) +
         "</title>\n<desc>" + xml_text(description) + "</desc>\n" + body_ +
         (in_part_ ? "</g>\n" : "") + "</svg>\n";
}

}  // namespace somatlas::exports
