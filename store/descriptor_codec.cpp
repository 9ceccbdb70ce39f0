// Descriptor entries to bytes and back.
// Always holds: decoding what was encoded gives it back.
#include "store/descriptor_codec.h"

#include <limits>

#include "store/frame.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

std::string_view get_text(ByteReader& in) {
  return in.text(static_cast<std::size_t>(in.varint(in.left())));
}

void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out += text;
}

}  // namespace

std::string encode_descriptor_value(const DescriptorEntry& entry, std::uint64_t articles) {
  std::string payload;
  put_varint(payload, articles);
  put_text(payload, entry.name);
  put_varint(payload, entry.tree_numbers.size());
  for (const std::string& number : entry.tree_numbers)
    put_text(payload, number);
  return seal_value(descriptor_ui(entry.code), payload);
}

DescriptorRecord decode_descriptor_value(std::string_view key, std::string_view value) {
  ByteReader in(open_value(key, value));
  const std::optional<DescriptorCode> code = descriptor_code_of(key);
  if (!code)
    throw StoreError("its key is no descriptor UI");
  DescriptorRecord record;
  record.entry.code = *code;
  record.articles = in.varint(std::numeric_limits<std::uint64_t>::max());
  record.entry.name = get_text(in);
  const std::uint64_t numbers = in.varint(in.left());
  for (std::uint64_t i = 0; i < numbers; ++i)
    record.entry.tree_numbers.emplace_back(get_text(in));
  in.expect_end();
  return record;
}

}  // namespace somatlas::store
