// Ledger entries to bytes and back.
// Always holds: decode_ledger_value(ledger_key(k), encode_ledger_value(r)) == r.
#include "store/ledger_codec.h"

#include <limits>

#include "store/frame.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t md5_limit = 64;
constexpr std::uint64_t range_count = 65'536;

/// What the state id covers.
std::string figures(const LedgerEntry& entry) {
  std::string out;
  put_varint(out, entry.file_bytes);
  put_varint(out, entry.md5.size());
  out += entry.md5;
  for (const std::uint64_t count :
       {entry.xml_bytes, entry.citations, entry.with_descriptors, entry.deletions, entry.books})
    put_varint(out, count);
  for (const std::uint64_t count : entry.left_out)
    put_varint(out, count);
  for (const std::uint64_t count :
       {entry.unknown_headings, entry.earlier_citations, entry.earlier_left_out})
    put_varint(out, count);
  return out;
}

}  // namespace

std::string ledger_key(const FileKey& key) {
  std::string out;
  put_big_endian(out, key.year, 4);
  put_big_endian(out, key.number, 8);
  return out + key.name;
}

std::string encode_ledger_value(const LedgerRecord& record) {
  if (record.entry.md5.size() > md5_limit)
    throw StoreError("the MD5 of '" + record.entry.key.name + "' is no MD5");
  std::string payload = figures(record.entry);
  put_varint(payload, zigzag(record.entry.taken_at));
  put_varint(payload, record.ranges.size());
  std::uint32_t next = 0;
  for (const std::uint32_t range : record.ranges) {
    put_varint(payload, range - next);
    next = range + 1;
  }
  return seal_value(ledger_key(record.entry.key), payload);
}

LedgerRecord decode_ledger_value(std::string_view key, std::string_view value) {
  ByteReader in(open_value(key, value));
  ByteReader key_in(key);
  LedgerRecord record;
  LedgerEntry& entry = record.entry;
  entry.key.year = static_cast<std::uint32_t>(key_in.big_endian(4));
  entry.key.number = key_in.big_endian(8);
  entry.key.name = key_in.text(key_in.left());
  entry.file_bytes = in.varint(any);
  entry.md5 = in.text(static_cast<std::size_t>(in.varint(md5_limit)));
  for (std::uint64_t* count : {&entry.xml_bytes, &entry.citations, &entry.with_descriptors,
                               &entry.deletions, &entry.books})
    *count = in.varint(any);
  for (std::uint64_t& count : entry.left_out)
    count = in.varint(any);
  for (std::uint64_t* count :
       {&entry.unknown_headings, &entry.earlier_citations, &entry.earlier_left_out})
    *count = in.varint(any);
  entry.taken_at = unzigzag(in.varint(any));
  record.ranges.resize(static_cast<std::size_t>(in.varint(range_count)));
  std::uint64_t next = 0;
  for (std::uint32_t& range : record.ranges) {
    next += in.varint(range_count);
    if (next >= range_count)
      throw StoreError("a range is past the last PMID");
    range = static_cast<std::uint32_t>(next++);
  }
  in.expect_end();
  return record;
}

std::string ledger_state(const Ledger& ledger) {
  std::string all;
  for (const auto& [key, record] : ledger) {
    const std::string bytes = ledger_key(key);
    put_varint(all, bytes.size());
    all += bytes;
    all += figures(record.entry);
  }
  return hash128_of(all);
}

std::string ledger_digest(const Ledger& ledger) {
  std::map<std::string, std::string> entries;
  for (const auto& [key, record] : ledger)
    entries.emplace(ledger_key(key), encode_ledger_value(record));
  return digest_of(entries);
}

}  // namespace somatlas::store
