// Entry words to bytes and back, and what later tables and lists of changes make of them.
#include "store/entry_words.h"

#include <algorithm>
#include <map>
#include <utility>

#include "store/frame.h"
#include "store/mesh_changes.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

// MeSH has six megabytes.
constexpr FrameKind frame_kind{"SOME", 1, std::size_t{1} << 28};

using WordsOf = std::map<DescriptorCode, std::vector<std::string>>;

std::vector<EntryWords> listed(WordsOf words_of) {
  std::vector<EntryWords> entries;
  entries.reserve(words_of.size());
  for (auto& [code, words] : words_of)
    if (!words.empty())
      entries.push_back({code, std::move(words)});
  return entries;
}

}  // namespace

std::string encode_entry_words(std::span<const EntryWords> entries) {
  std::string content;
  put_varint(content, static_cast<std::uint64_t>(std::ranges::count_if(
                          entries, [](const EntryWords& entry) { return !entry.words.empty(); })));
  std::uint64_t next = 0;
  for (const auto& [code, words] : entries) {
    if (words.empty())
      continue;
    if (code < next)
      throw StoreError("entry words do not come in the order of their descriptors");
    put_varint(content, code - next);
    next = std::uint64_t{code} + 1;
    put_varint(content, words.size());
    for (const std::string& word : words) {
      put_varint(content, word.size());
      content += word;
    }
  }
  return seal_frame(frame_kind, 0, content);
}

std::vector<EntryWords> decode_entry_words(std::string_view bytes) {
  const OpenedFrame frame = open_frame(frame_kind, bytes);
  if (frame.range != 0)
    throw StoreError("it is numbered as no such value is");
  ByteReader in(frame.content);
  std::vector<EntryWords> entries;
  std::uint64_t next = 0;
  for (std::uint64_t left = in.varint(in.left()); left > 0; --left) {
    EntryWords entry;
    next += in.varint(0xFFFF'FFFFU) + 1;
    entry.code = static_cast<DescriptorCode>(next - 1);
    if (next - 1 > 0xFFFF'FFFFU || !is_descriptor_code(entry.code))
      throw StoreError("entry words are of a descriptor that has no UI");
    const std::uint64_t words = in.varint(in.left());
    if (words == 0)
      throw StoreError("a descriptor stands there that has no entry words");
    for (std::uint64_t i = 0; i < words; ++i)
      entry.words.emplace_back(in.text(static_cast<std::size_t>(in.varint(in.left()))));
    entries.push_back(std::move(entry));
  }
  in.expect_end();
  return entries;
}

std::vector<EntryWords> with_changed(std::span<const EntryWords> entries,
                                     std::span<const EntryWords> changed) {
  WordsOf words_of;
  for (const std::span<const EntryWords> part : {entries, changed})
    for (const auto& [code, words] : part)
      words_of[code] = words;
  return listed(std::move(words_of));
}

std::vector<EntryWords> seen_through(const MeshView& view, std::vector<EntryWords> entries) {
  if (view.is_as_filed())
    return entries;
  WordsOf words_of;
  for (const bool changed : {false, true})
    for (EntryWords& entry : entries) {
      const std::optional<DescriptorCode> current = view.current(entry.code);
      if (!current || (*current != entry.code) != changed)
        continue;
      std::vector<std::string>& words = words_of[*current];
      std::ranges::move(entry.words, std::back_inserter(words));
    }
  return listed(std::move(words_of));
}

std::uint64_t count_words(std::span<const EntryWords> entries) {
  std::uint64_t words = 0;
  for (const EntryWords& entry : entries)
    words += entry.words.size();
  return words;
}

}  // namespace somatlas::store
