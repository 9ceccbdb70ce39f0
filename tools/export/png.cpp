// PNG through libspng, which keeps pointers to what it is given until the picture is encoded.
// Always holds: what is returned is a whole file.
#include "tools/export/png.h"

#include <spng.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "tools/export/pending_output.h"

namespace somatlas::exports {
namespace {

void check(int result, const char* step) {
  if (result != 0) {
    throw OutputFileError(std::string("the picture cannot be encoded (") + step +
                          "): " + spng_strerror(result));
  }
}

}  // namespace

std::vector<std::byte> encode_png(const Picture& picture, std::span<const PngText> texts) {
  const std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> context(spng_ctx_new(SPNG_CTX_ENCODER),
                                                                    spng_ctx_free);
  if (!context) {
    throw OutputFileError("the picture cannot be encoded: no memory for libspng");
  }
  check(spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1), "buffer");
  spng_ihdr header{};
  header.width = picture.width();
  header.height = picture.height();
  header.bit_depth = 8;
  header.color_type = SPNG_COLOR_TYPE_TRUECOLOR;
  check(spng_set_ihdr(context.get(), &header), "header");
  check(spng_set_srgb(context.get(), 0), "colour space");
  spng_phys resolution{};
  resolution.ppu_x = 11811;  // pixels a metre
  resolution.ppu_y = 11811;
  resolution.unit_specifier = 1;
  check(spng_set_phys(context.get(), &resolution), "resolution");

  // libspng keeps the pointers until the end; the strings outlive it, but it wants them writable.
  std::vector<std::string> held;
  held.reserve(2 * texts.size());
  std::vector<spng_text> entries;
  char nothing[] = "";
  for (const PngText& text : texts) {
    spng_text entry{};
    std::strncpy(entry.keyword, text.keyword.c_str(), sizeof entry.keyword - 1);
    entry.type = SPNG_ITXT;
    entry.text = held.emplace_back(text.text).data();
    entry.length = text.text.size();
    entry.language_tag = nothing;
    entry.translated_keyword = nothing;
    entries.push_back(entry);
  }
  if (!entries.empty()) {
    check(spng_set_text(context.get(), entries.data(), static_cast<std::uint32_t>(entries.size())),
          "text");
  }
  check(spng_encode_image(context.get(), picture.bytes().data(), picture.bytes().size(),
                          SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE),
        "pixels");
  std::size_t size = 0;
  int error = 0;
  const std::unique_ptr<void, decltype(&std::free)> bytes(
      spng_get_png_buffer(context.get(), &size, &error), std::free);
  check(error, "end");
  const auto* first = static_cast<const std::byte*>(bytes.get());
  return {first, first + size};
}

}  // namespace somatlas::exports
