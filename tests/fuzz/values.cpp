// The other values on disk: ledger entries, descriptors, entry words, and all that an atlas holds.
// The first byte chooses which, the rest is its content under a checksum that fits, or the value as
// it stands. Promises: what decodes encodes to the same bytes, or is refused with a StoreError.
#include <array>
#include <cstdint>
#include <string>

#include "store/atlas_codec.h"
#include "store/descriptor_codec.h"
#include "store/frame.h"
#include "store/ledger_codec.h"
#include "store/store_error.h"
#include "store/varint.h"
#include "tests/fuzz/expect.h"

namespace somatlas::store {
namespace {

using fuzz::expect;

constexpr const char* one_form = "a value has one form";

std::string framed(std::string_view magic, std::uint32_t number, std::string_view content) {
  return seal_frame({magic, atlas_format, std::size_t{1} << 30}, number, content);
}

/// The key is a byte for its length and then its bytes.
void check_ledger(std::string_view content) {
  ByteReader in(content);
  const std::string_view key = in.text(in.byte());
  const std::string value = seal_value(key, in.text(in.left()));
  const LedgerRecord record = decode_ledger_value(key, value);
  expect(ledger_key(record.entry.key) == key && encode_ledger_value(record) == value, one_form);
}

void check_descriptor(std::string_view content) {
  const std::string value = seal_value("D000123", content);
  const DescriptorRecord record = decode_descriptor_value("D000123", value);
  expect(encode_descriptor_value(record.entry, record.articles) == value, one_form);
}

void check_assignment(std::string_view content) {
  const AssignmentShard shard = decode_assignment(framed("SOMA", 3, content), 3);
  // "Named" says nothing of no rows, so that these have two forms.
  expect(decode_assignment(encode_assignment(shard), 3) == shard, "an assignment comes back");
}

void check_places(std::string_view content) {
  const std::string value = framed("SOMP", 3, content);
  expect(encode_places(decode_places(value, 3)) == value, one_form);
}

void check_plane(std::string_view content) {
  const std::string value = framed("SOMW", 18, content);
  expect(encode_plane(18, decode_plane(value, 18)) == value, one_form);
}

/// The first byte is the value that is put in place of a sound one, the second the neurons.
void check_cells(std::string_view content) {
  ByteReader in(content);
  const std::size_t column = in.byte() % cell_keys.size();
  const std::size_t neurons = in.byte() % 32;
  AtlasCells cells;
  cells.norm.resize(neurons, -5);
  cells.square_sum.resize(neurons, 25);
  cells.vacant.resize(neurons);
  cells.hits.resize(neurons, 1);
  cells.year_count.resize(neurons);
  cells.year_sum.resize(neurons);
  cells.height.resize(neurons, 1'000'000);
  cells.leading.resize(neurons * leading_per_cell);
  cells.recent_count.resize(neurons);
  cells.leading_weight.resize(neurons * leading_per_cell);
  cells.region.resize(neurons);
  cells.recent_from = 2022;
  if (neurons != 0) {
    for (std::vector<AtlasRegion>& level : cells.levels) {
      level.push_back({"Neoplasms", 0, 1, 0, 1, 1, 1990, 0, {{18, 1}}});
    }
  }
  std::vector<std::string> columns = encode_cells(cells);
  const bool level = column >= cell_keys.size() - region_levels;
  columns[column] =
      framed(level ? "SOMR" : "SOMC", static_cast<std::uint32_t>(level ? column - 10 : column),
             in.text(in.left()));
  expect(encode_cells(decode_cells(columns)) == columns, one_form);
}

void check_articles(std::string_view content) {
  const std::string value = seal_value("abcd", content);
  expect(encode_articles("abcd", decode_articles("abcd", value)) == value, one_form);
}

void check_index(std::string_view content) {
  const std::string value = framed("SOMI", 9, content);
  expect(encode_index(decode_index(value)) == value, one_form);
}

void check_entry_words(std::string_view content) {
  const std::string value = seal_frame({"SOME", 1, std::size_t{1} << 28}, 0, content);
  expect(encode_entry_words(decode_entry_words(value)) == value, one_form);
}

/// As it stands: the checksum of nearly all of these is wrong.
void check_unsealed(std::string_view value) {
  const auto refuses = [](const auto& call) {
    try {
      call();
    } catch (const StoreError&) {
    }
  };
  refuses([&] { (void)open_value("key", value); });
  refuses([&] { (void)decode_places(value, 3); });
  (void)decode_index(value);
}

}  // namespace
}  // namespace somatlas::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace somatlas::store;
  constexpr std::array checks = {check_ledger,   check_descriptor, check_assignment, check_places,
                                 check_plane,    check_cells,      check_articles,   check_index,
                                 check_unsealed, check_entry_words};
  if (size == 0) {
    return 0;
  }
  try {
    checks[*data % checks.size()]({reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const StoreError&) {
  }
  return 0;
}
