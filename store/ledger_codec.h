// A ledger entry as key and value, and the state id that all entries together make.
// Always holds: keys sort as FileKey does; the value's checksum covers the key.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace somatlas::store {

/// A ledger entry with the ranges that its file has had rows in, earlier texts included.
struct LedgerRecord {
  LedgerEntry entry;
  std::vector<std::uint32_t> ranges;  // ascending
  friend bool operator==(const LedgerRecord&, const LedgerRecord&) = default;
};

using Ledger = std::map<FileKey, LedgerRecord>;

/// Year (4 bytes) and number (8 bytes), big-endian, then the name.
[[nodiscard]] std::string ledger_key(const FileKey& key);

/// XXH3-64 of key and payload (store/frame.h), then the payload: file_bytes, md5 (its length, its
/// text), xml_bytes, citations, with_descriptors, deletions, books, left_out by reason,
/// unknown_headings, earlier_citations, earlier_left_out, taken_at (zigzag), the number of ranges,
/// and each range less the one before less 1; all varints.
[[nodiscard]] std::string encode_ledger_value(const LedgerRecord& record);
/// Throws StoreError with what is wrong, as half a sentence.
[[nodiscard]] LedgerRecord decode_ledger_value(std::string_view key, std::string_view value);

/// XXH3-128 over key and figures of every entry in key order, ranges and times left out;
/// 32 hexadecimal digits.
[[nodiscard]] std::string ledger_state(const Ledger& ledger);

/// The digest of all entries as they are on disk; kept in meta beside them.
[[nodiscard]] std::string ledger_digest(const Ledger& ledger);

}  // namespace somatlas::store
