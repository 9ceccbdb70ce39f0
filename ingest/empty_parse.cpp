// The bare loop: a chunk from the source, a chunk to the parser.
#include "ingest/empty_parse.h"

#include <libxml/parser.h>

#include <array>
#include <memory>
#include <new>

#include "ingest/input_error.h"

namespace somatlas::ingest {

std::uint64_t parse_with_empty_handlers(ByteSource& source) {
  xmlSAXHandler handler{};
  handler.initialized = XML_SAX2_MAGIC;
  handler.startElementNs = [](void*, const xmlChar*, const xmlChar*, const xmlChar*, int,
                              const xmlChar**, int, int, const xmlChar**) {};
  handler.endElementNs = [](void*, const xmlChar*, const xmlChar*, const xmlChar*) {};
  handler.characters = [](void*, const xmlChar*, int) {};
  handler.ignorableWhitespace = handler.characters;
  const auto free_context = [](xmlParserCtxt* context) {
    xmlFreeDoc(context->myDoc);
    xmlFreeParserCtxt(context);
  };
  const std::unique_ptr<xmlParserCtxt, decltype(free_context)> context(
      xmlCreatePushParserCtxt(&handler, nullptr, nullptr, 0, nullptr), free_context);
  if (!context) {
    throw std::bad_alloc();
  }
  xmlCtxtUseOptions(context.get(), XML_PARSE_NONET);
  std::array<char, std::size_t{1} << 16U> buffer;
  std::uint64_t bytes = 0;
  std::size_t got = 0;
  do {
    got = source.read(std::as_writable_bytes(std::span(buffer)));
    xmlParseChunk(context.get(), buffer.data(), static_cast<int>(got), got == 0 ? 1 : 0);
    bytes += got;
  } while (got != 0);
  if (context->wellFormed == 0) {
    throw InputError(source.path(), 0, "is not well-formed XML");
  }
  return bytes;
}

}  // namespace somatlas::ingest
