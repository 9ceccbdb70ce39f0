// Sequential colours are the figures' own. Diverging ones go from blue over pale grey to brown:
// the two sides differ in the yellow-blue direction, which nearly everyone sees. Parts are pastels
// of several lightnesses, since black and white names stand on them; their borders are drawn too.
#include "tools/serve/palettes.h"

#include <spng.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

namespace somatlas::serve {
namespace {

using exports::Colour;
using Palette256 = std::array<Colour, 256>;

constexpr Colour no_value{196, 198, 202};
constexpr Colour border{48, 52, 60};
constexpr Colour vacant{226, 228, 231};
constexpr Colour vacant_line{150, 154, 160};

constexpr std::array<Colour, parts_colours> parts{{{141, 182, 214},
                                                   {240, 205, 131},
                                                   {126, 166, 138},
                                                   {232, 160, 128},
                                                   {205, 196, 226},
                                                   {205, 222, 170},
                                                   {186, 134, 160},
                                                   {176, 216, 220},
                                                   {196, 170, 130}}};

Colour between(Colour a, Colour b, double t) {
  const exports::OkLab x = exports::oklab_of(a);
  const exports::OkLab y = exports::oklab_of(b);
  return exports::colour_of({x.lightness + (y.lightness - x.lightness) * t,
                             x.green_red + (y.green_red - x.green_red) * t,
                             x.blue_yellow + (y.blue_yellow - x.blue_yellow) * t});
}

Palette256 make(Palette palette) {
  Palette256 colours{};
  constexpr Colour low{22, 72, 140};
  constexpr Colour middle{236, 236, 232};
  constexpr Colour high{156, 76, 8};
  for (std::size_t i = 0; i <= pipeline::most_shade; ++i) {
    const double t = static_cast<double>(i) / pipeline::most_shade;
    colours[i] = palette == Palette::sequential ? exports::colour_at(t)
                 : palette == Palette::parts    ? parts[i % parts.size()]
                 : t < 0.5                      ? between(low, middle, 2 * t)
                                                : between(middle, high, 2 * t - 1);
  }
  colours[pipeline::shade_no_value] = no_value;
  colours[pipeline::shade_border] = border;
  colours[pipeline::shade_vacant] = vacant;
  colours[pipeline::shade_vacant_line] = vacant_line;
  return colours;
}

void check(int result) {
  if (result != 0) {
    throw std::runtime_error(std::string("a tile cannot be encoded: ") + spng_strerror(result));
  }
}

}  // namespace

const Palette256& colours_of(Palette palette) {
  static const std::array<Palette256, 3> all{make(Palette::sequential), make(Palette::diverging),
                                             make(Palette::parts)};
  return all[static_cast<std::size_t>(palette)];
}

std::string css_colour(Colour colour) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", colour.red, colour.green, colour.blue);
  return text.data();
}

std::string encode_tile(std::span<const pipeline::Shade> tile, Palette palette) {
  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(SPNG_CTX_ENCODER),
                                                                    spng_ctx_free);
  if (!context) {
    throw std::runtime_error("a tile cannot be encoded: no memory for libspng");
  }
  check(spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1));
  check(spng_set_option(context.get(), SPNG_IMG_COMPRESSION_LEVEL, 2));
  check(spng_set_option(context.get(), SPNG_FILTER_CHOICE, SPNG_DISABLE_FILTERING));
  spng_ihdr header{};
  header.width = pipeline::tile_edge;
  header.height = pipeline::tile_edge;
  header.bit_depth = 8;
  header.color_type = SPNG_COLOR_TYPE_INDEXED;
  check(spng_set_ihdr(context.get(), &header));
  spng_plte colours{};
  spng_trns clear{};
  colours.n_entries = 256;
  clear.n_type3_entries = pipeline::shade_outside + 1;
  for (std::size_t i = 0; i < 256; ++i) {
    const Colour colour = colours_of(palette)[i];
    colours.entries[i] = {colour.red, colour.green, colour.blue, 255};
    clear.type3_alpha[i] = i == pipeline::shade_outside ? 0 : 255;
  }
  check(spng_set_plte(context.get(), &colours));
  check(spng_set_trns(context.get(), &clear));
  check(spng_encode_image(context.get(), tile.data(), tile.size(), SPNG_FMT_PNG,
                          SPNG_ENCODE_FINALIZE));
  std::size_t size = 0;
  int error = 0;
  const std::unique_ptr<void, decltype(&std::free)> bytes(
      spng_get_png_buffer(context.get(), &size, &error), std::free);
  check(error);
  return {static_cast<const char*>(bytes.get()), size};
}

}  // namespace somatlas::serve
