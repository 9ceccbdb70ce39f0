// Store::open and the store over RocksDB, but for verify().
// Always holds: a commit is one atomic ingestion of the deltas and the ledger entry.
#include "store/store.h"

#include <map>
#include <utility>

#include "store/descriptor_codec.h"
#include "store/frame.h"
#include "store/publish.h"
#include "store/rocks_store.h"
#include "store/shard_merge_operator.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

constexpr const char* shards_family = "shards";
constexpr const char* ledger_family = "ledger";
constexpr const char* descriptors_family = "descriptors";
constexpr const char* meta_family = "meta";
constexpr const char* id_key = "id";

void check_deltas(std::span<const EncodedDelta> deltas, const LedgerEntry& entry) {
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    if (i > 0 && deltas[i - 1].range >= deltas[i].range)
      throw StoreError("the deltas of '" + entry.key.name +
                       "' are not in the order of their ranges");
    if (deltas[i].key != entry.key)
      throw StoreError("a delta of '" + entry.key.name + "' names another file, '" +
                       deltas[i].key.name + "'");
  }
}

}  // namespace

std::string range_name(std::uint32_t range) {
  const std::uint64_t first = std::uint64_t{range} * pmids_per_shard;
  return "PMIDs " + std::to_string(first) + " to " + std::to_string(first + pmids_per_shard - 1);
}

std::string range_key(std::uint32_t range) {
  std::string key;
  put_big_endian(key, range, 4);
  return key;
}

std::unique_ptr<Store> Store::open(const std::string& directory, Access access) {
  const RocksDirectory::Access rocks_access = access == Access::read ? RocksDirectory::Access::read
                                              : access == Access::write
                                                  ? RocksDirectory::Access::write
                                                  : RocksDirectory::Access::create;
  RocksLayout layout = RocksStore::layout();
  layout.kept_empty = access != Access::fill;
  return std::make_unique<RocksStore>(
      RocksDirectory::open(directory, rocks_access, std::move(layout)));
}

std::vector<DescriptorEntry> Store::descriptors() {
  std::vector<DescriptorEntry> table = descriptors_as_filed();
  mesh_view()->apply(table);
  return table;
}

std::vector<EntryWords> Store::entry_words() {
  return seen_through(*mesh_view(), entry_words_as_filed());
}

void Store::put_descriptors(std::span<const DescriptorEntry> descriptors) {
  put_descriptors(descriptors, {});
}

std::optional<Shard> Store::shard(std::uint32_t range) {
  const std::shared_ptr<const MeshView> view = mesh_view();
  std::optional<Shard> shard = shard_as_filed(range);
  if (shard)
    view->apply(*shard);
  return shard;
}

std::uint64_t Store::disk_bytes() {
  return sum_of(disk_parts());
}

RocksLayout RocksStore::layout() {
  RocksLayout layout;
  layout.kind = "store";
  layout.made_by = "ingest";
  layout.remedy = "ingest its files again into a new store, or restore a copy";
  layout.format = store_format;
  layout.families = {shards_family, ledger_family, descriptors_family};
  layout.merged_family = shards_family;
  layout.merge_operator = shard_merge_operator();
  layout.first_meta = [] {
    const std::string random = unique_name("") + unique_name("");
    const std::size_t half = random.size() / 2;
    return std::map<std::string, std::string>{
        {id_key, random.substr(half - 16, 16) + random.substr(random.size() - 16)}};
  };
  return layout;
}

std::string RocksStore::id() const {
  try {
    if (const std::optional<std::string> id = rocks_->get(meta_family, id_key))
      return *id;
  } catch (const StoreError& error) {
    throw rocks_->damaged(std::string("its id: ") + error.what());
  }
  throw rocks_->damaged("it has no id");
}

const Ledger& RocksStore::loaded() {
  if (!ledger_) {
    Ledger read;
    std::set<std::uint32_t> ranges;
    try {
      rocks_->for_each(ledger_family, [&](std::string_view key, std::string_view value) {
        LedgerRecord record = decode_ledger_value(key, value);
        ranges.insert(record.ranges.begin(), record.ranges.end());
        FileKey file = record.entry.key;
        read.emplace(std::move(file), std::move(record));
      });
      check_digest(ledger_digest_key, ledger_digest(read));
    } catch (const StoreError& error) {
      throw rocks_->damaged(std::string("its ledger: ") + error.what());
    }
    ledger_ = std::move(read);
    ranges_ = std::move(ranges);
  }
  return *ledger_;
}

void RocksStore::check_digest(const char* key, const std::string& digest) const {
  const std::optional<std::string> kept = rocks_->get(meta_family, key);
  if ((kept ? std::string(open_value(key, *kept)) : digest_of({})) != digest)
    throw StoreError("an entry cannot be read");
}

std::string RocksStore::state_id() {
  const std::string changes = mesh_view()->mark();
  const std::lock_guard lock(mutex_);
  const std::string files = ledger_state(loaded());
  return changes.empty() ? files : hash128_of(files + changes);
}

void Store::commit(std::span<const Shard> deltas, const LedgerEntry& entry) {
  std::vector<EncodedDelta> encoded;
  encoded.reserve(deltas.size());
  for (const Shard& delta : deltas)
    encoded.push_back(encode_delta(delta));
  commit(encoded, entry);
}

void RocksStore::commit(std::span<const EncodedDelta> deltas, const LedgerEntry& entry) {
  rocks_->require_writable();
  check_deltas(deltas, entry);
  const std::lock_guard lock(mutex_);
  const auto earlier = loaded().find(entry.key);
  LedgerRecord record{entry, {}};
  std::set<std::uint32_t> ranges;
  if (earlier != ledger_->end())
    ranges.insert(earlier->second.ranges.begin(), earlier->second.ranges.end());
  for (const EncodedDelta& delta : deltas)
    ranges.insert(delta.range);
  record.ranges.assign(ranges.begin(), ranges.end());

  Ledger next = *ledger_;
  next[entry.key] = record;
  RocksIngestion ingestion(*rocks_);
  for (const EncodedDelta& delta : deltas)
    ingestion.merge(shards_family, range_key(delta.range), delta.bytes);
  ingestion.put(ledger_family, ledger_key(entry.key), encode_ledger_value(record));
  ingestion.put(meta_family, ledger_digest_key, seal_value(ledger_digest_key, ledger_digest(next)));
  ingestion.commit();
  ranges_.insert(ranges.begin(), ranges.end());
  ledger_ = std::move(next);
}

void RocksStore::put_descriptors(std::span<const DescriptorEntry> descriptors,
                                 std::span<const EntryWords> words) {
  rocks_->require_writable();
  std::map<std::string, std::string> changed;
  for (const DescriptorEntry& entry : descriptors) {
    if (!is_descriptor_code(entry.code))
      throw StoreError("the descriptor '" + entry.name + "' has no UI");
    changed[descriptor_ui(entry.code)] = encode_descriptor_value(entry, 0);  // the last one counts
  }
  std::map<std::string, std::string> all = changed;
  for (const DescriptorEntry& entry : descriptors_as_filed())
    all.emplace(descriptor_ui(entry.code), encode_descriptor_value(entry, 0));
  RocksIngestion ingestion(*rocks_);
  for (const auto& [ui, value] : changed)
    ingestion.put(descriptors_family, ui, value);
  ingestion.put(meta_family, descriptors_digest_key,
                seal_value(descriptors_digest_key, digest_of(all)));
  if (!words.empty())
    ingestion.put(meta_family, entry_words_key,
                  encode_entry_words(with_changed(entry_words_as_filed(), words)));
  ingestion.commit();
}

std::vector<EntryWords> RocksStore::read_entry_words() const {
  const std::optional<std::string> value = rocks_->get(meta_family, entry_words_key);
  return value ? decode_entry_words(*value) : std::vector<EntryWords>();
}

std::vector<EntryWords> RocksStore::entry_words_as_filed() {
  try {
    return read_entry_words();
  } catch (const StoreError& error) {
    throw rocks_->damaged(std::string("its entry words: ") + error.what());
  }
}

void RocksStore::put_mesh_changes(std::span<const MeshChangeList> lists) {
  rocks_->require_writable();
  auto view =
      std::make_shared<const MeshView>(std::vector<MeshChangeList>(lists.begin(), lists.end()));
  RocksIngestion ingestion(*rocks_);
  ingestion.put(meta_family, mesh_changes_key, encode_mesh_changes(mesh_changes_key, lists));
  ingestion.commit();
  const std::lock_guard lock(mutex_);
  view_ = std::move(view);
}

MeshView RocksStore::read_mesh_changes() const {
  const std::optional<std::string> value = rocks_->get(meta_family, mesh_changes_key);
  return value ? MeshView(decode_mesh_changes(mesh_changes_key, *value)) : MeshView();
}

std::shared_ptr<const MeshView> RocksStore::mesh_view() {
  const std::lock_guard lock(mutex_);
  if (!view_) {
    try {
      view_ = std::make_shared<const MeshView>(read_mesh_changes());
    } catch (const StoreError& error) {
      throw rocks_->damaged(std::string("its changes of descriptors: ") + error.what());
    }
  }
  return view_;
}

std::vector<LedgerEntry> RocksStore::ledger() {
  const std::lock_guard lock(mutex_);
  std::vector<LedgerEntry> entries;
  for (const auto& [key, record] : loaded())
    entries.push_back(record.entry);
  return entries;
}

std::optional<LedgerEntry> RocksStore::ledger_entry(const FileKey& key) {
  const std::lock_guard lock(mutex_);
  const Ledger& entries = loaded();
  const auto found = entries.find(key);
  return found == entries.end() ? std::nullopt : std::optional(found->second.entry);
}

std::vector<DescriptorEntry> RocksStore::descriptors_as_filed() {
  std::vector<DescriptorEntry> entries;
  std::map<std::string, std::string> values;
  try {
    rocks_->for_each(descriptors_family, [&](std::string_view key, std::string_view value) {
      entries.push_back(decode_descriptor_value(key, value).entry);
      values.emplace(key, value);
    });
    check_digest(descriptors_digest_key, digest_of(values));
  } catch (const StoreError& error) {
    throw rocks_->damaged(std::string("its descriptors: ") + error.what());
  }
  return entries;
}

std::vector<std::uint32_t> RocksStore::ranges() {
  const std::lock_guard lock(mutex_);
  (void)loaded();
  return {ranges_.begin(), ranges_.end()};
}

bool RocksStore::expects(std::uint32_t range) {
  const std::lock_guard lock(mutex_);
  (void)loaded();
  return ranges_.contains(range);
}

std::optional<Shard> RocksStore::read_shard(std::uint32_t range) {
  (void)take_merge_fault();
  std::optional<std::string> bytes;
  try {
    bytes = rocks_->get(shards_family, range_key(range));
  } catch (const StoreError&) {
    if (const std::string fault = take_merge_fault(); !fault.empty())
      throw StoreError(fault);
    throw;
  }
  if (!bytes)
    return std::nullopt;
  Shard shard = decode(*bytes);
  if (shard.range != range)
    throw StoreError("it is the shard of another range");
  return shard;
}

std::optional<Shard> RocksStore::shard_as_filed(std::uint32_t range) {
  const bool expected = expects(range);
  std::optional<Shard> read;
  try {
    read = read_shard(range);
  } catch (const StoreError& error) {
    throw rocks_->damaged(range_name(range) + ": " + error.what());
  }
  if (read.has_value() != expected)
    throw rocks_->damaged(range_name(range) + (expected ? ": the shard is missing"
                                                        : ": the ledger does not know the shard"));
  return read;
}

}  // namespace somatlas::store
