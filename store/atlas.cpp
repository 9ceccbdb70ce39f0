// Atlas::open and the atlas over RocksDB, but for verify().
// Always holds: what a put_ function was given becomes visible in one step, together with its
// index.
#include "store/atlas.h"

#include <algorithm>
#include <utility>

#include "store/descriptor_codec.h"
#include "store/frame.h"
#include "store/rocks_atlas.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

constexpr const char* meta_family = "meta";
constexpr const char* assignment_family = "assignment";
constexpr const char* places_family = "places";
constexpr const char* planes_family = "planes";
constexpr const char* cells_family = "cells";
constexpr const char* articles_family = "articles";
constexpr const char* descriptors_family = "descriptors";

std::string big_endian(std::uint32_t number) {
  std::string key;
  put_big_endian(key, number, 4);
  return key;
}

std::string index_key(const std::string& family) {
  return "index/" + family;
}

std::string named_key(const std::string& name) {
  return "named/" + name;
}

}  // namespace

std::unique_ptr<Atlas> Atlas::open(const std::string& directory, Access access) {
  const RocksDirectory::Access rocks_access = access == Access::read ? RocksDirectory::Access::read
                                              : access == Access::write
                                                  ? RocksDirectory::Access::write
                                                  : RocksDirectory::Access::create;
  return std::make_unique<RocksAtlas>(
      RocksDirectory::open(directory, rocks_access, RocksAtlas::layout()));
}

RocksLayout RocksAtlas::layout() {
  RocksLayout layout;
  layout.kind = "atlas";
  layout.made_by = "train";
  layout.remedy = "train it again, or restore a copy";
  layout.format = atlas_format;
  layout.families = {assignment_family, places_family,   planes_family,
                     cells_family,      articles_family, descriptors_family};
  return layout;
}

RocksAtlas::Index RocksAtlas::index(const std::string& family) {
  const std::lock_guard lock(mutex_);
  Index& cached = indexes_[family];
  if (!cached) {
    auto read = std::make_shared<FamilyIndex>();
    try {
      if (const std::optional<std::string> bytes = rocks_->get(meta_family, index_key(family)))
        *read = decode_index(*bytes);
    } catch (const StoreError& error) {
      throw rocks_->damaged("the index of " + family + ": " + error.what());
    }
    cached = std::move(read);
  }
  return cached;
}

void RocksAtlas::drop_other_generations(const std::string& family, std::uint32_t current) {
  if (current > 0)
    rocks_->drop_files(family, big_endian(0), big_endian(current));
  rocks_->drop_files(family, big_endian(current + 1), big_endian(0xFFFF'FFFF));
}

RocksAtlas::Replacement::Replacement(RocksAtlas& atlas, RocksIngestion& ingestion,
                                     const std::string& family)
    : atlas_(atlas), ingestion_(ingestion), family_(family) {
  index_.generation = atlas.index(family)->generation + 1;
  prefix_ = big_endian(index_.generation);
}

void RocksAtlas::Replacement::put(const std::string& key, std::string_view value) {
  if (!index_.keys.empty() && index_.keys.back() >= key)
    throw StoreError("the entries of " + family_ + " for the atlas '" + atlas_.directory() +
                     "' do not come in order");
  ingestion_.put(family_, prefix_ + key, value);
  index_.keys.push_back(key);
}

void RocksAtlas::Replacement::put_index() {
  ingestion_.put(meta_family, index_key(family_), encode_index(index_));
}

void RocksAtlas::Replacement::publish() {
  const std::uint32_t generation = index_.generation;
  {
    const std::lock_guard lock(atlas_.mutex_);
    atlas_.indexes_[family_] = std::make_shared<const FamilyIndex>(std::move(index_));
  }
  atlas_.drop_other_generations(family_, generation);
}

std::optional<std::string> RocksAtlas::meta(const std::string& name) {
  const std::string key = named_key(name);
  try {
    const std::optional<std::string> bytes = rocks_->get(meta_family, key);
    return bytes ? std::optional<std::string>(open_value(key, *bytes)) : std::nullopt;
  } catch (const StoreError& error) {
    throw rocks_->damaged("the value '" + name + "': " + error.what());
  }
}

void RocksAtlas::put_meta(const std::string& name, const std::string& text) {
  RocksIngestion ingestion(*rocks_);
  ingestion.put(meta_family, named_key(name), seal_value(named_key(name), text));
  ingestion.commit();
}

void Atlas::put_entry_words(std::span<const EntryWords> words) {
  put_meta(entry_words_name, encode_entry_words(words));
}

std::vector<EntryWords> Atlas::entry_words() {
  const std::optional<std::string> value = meta(entry_words_name);
  try {
    return value ? decode_entry_words(*value) : std::vector<EntryWords>();
  } catch (const StoreError& error) {
    throw StoreError("the entry words of the atlas '" + directory() + "': " + error.what() +
                     "; train it again, or restore a copy");
  }
}

void RocksAtlas::put_checkpoint(const std::function<std::optional<EncodedShard>()>& next,
                                const std::string& meta_name, const std::string& meta_value) {
  RocksIngestion ingestion(*rocks_);
  Replacement shards(*this, ingestion, assignment_family);
  while (const std::optional<EncodedShard> shard = next())
    shards.put(big_endian(shard->range), shard->value);
  shards.put_index();
  ingestion.put(meta_family, named_key(meta_name), seal_value(named_key(meta_name), meta_value));
  ingestion.commit();
  shards.publish();
}

void RocksAtlas::put_placement(const std::function<bool(const PlacementSink&)>& write) {
  RocksIngestion ingestion(*rocks_);
  Replacement assignment(*this, ingestion, assignment_family);
  Replacement places(*this, ingestion, places_family);
  const auto into = [](Replacement& family) {
    return
        [&family](const EncodedShard& shard) { family.put(big_endian(shard.range), shard.value); };
  };
  if (!write({.places = into(places), .assignment = into(assignment)}))
    return;
  assignment.put_index();
  places.put_index();
  ingestion.commit();
  assignment.publish();
  places.publish();
}

void RocksAtlas::put_planes(const std::function<bool(AtlasDescriptor&, std::string&)>& next) {
  RocksIngestion ingestion(*rocks_);
  Replacement names(*this, ingestion, descriptors_family);
  Replacement planes(*this, ingestion, planes_family);
  AtlasDescriptor descriptor;
  std::string plane;
  while (next(descriptor, plane)) {
    if (!is_descriptor_code(descriptor.code))
      throw StoreError("the descriptor '" + descriptor.name + "' has no UI");
    const std::string ui = descriptor_ui(descriptor.code);
    names.put(ui,
              encode_descriptor_value({descriptor.code, descriptor.name, descriptor.tree_numbers},
                                      descriptor.articles));
    planes.put(ui, plane);
  }
  names.put_index();
  planes.put_index();
  ingestion.commit();
  names.publish();
  planes.publish();
}

void RocksAtlas::put_cells(const AtlasCells& cells) {
  RocksIngestion ingestion(*rocks_);
  Replacement columns(*this, ingestion, cells_family);
  std::size_t number = 0;
  for (const std::string& value : encode_cells(cells))
    columns.put(std::string(cell_keys[number++]), value);
  columns.put_index();
  ingestion.commit();
  columns.publish();
}

void RocksAtlas::put_articles(const std::function<std::optional<EncodedArticles>()>& next) {
  RocksIngestion ingestion(*rocks_);
  Replacement lists(*this, ingestion, articles_family);
  while (const std::optional<EncodedArticles> cell = next())
    lists.put(big_endian(cell->neuron), cell->value);
  lists.put_index();
  ingestion.commit();
  lists.publish();
}

std::optional<std::string> RocksAtlas::value(const std::string& family, const FamilyIndex& current,
                                             const std::string& key) {
  if (!std::binary_search(current.keys.begin(), current.keys.end(), key))
    return std::nullopt;
  std::optional<std::string> bytes = rocks_->get(family, big_endian(current.generation) + key);
  if (!bytes)
    throw StoreError("it is missing");
  return bytes;
}

std::vector<std::uint32_t> RocksAtlas::numbers(const std::string& family) {
  std::vector<std::uint32_t> out;
  for (const std::string& key : index(family)->keys)
    out.push_back(static_cast<std::uint32_t>(ByteReader(key).big_endian(4)));
  return out;
}

std::vector<std::uint32_t> RocksAtlas::assignment_ranges() {
  return numbers(assignment_family);
}

std::vector<std::uint32_t> RocksAtlas::place_ranges() {
  return numbers(places_family);
}

std::optional<AssignmentShard> RocksAtlas::assignment(std::uint32_t range) {
  const Index current = index(assignment_family);
  try {
    const std::optional<std::string> bytes = value(assignment_family, *current, big_endian(range));
    return bytes ? std::optional(decode_assignment(*bytes, range)) : std::nullopt;
  } catch (const StoreError& error) {
    throw rocks_->damaged("the assignment of range " + std::to_string(range) + ": " + error.what());
  }
}

std::optional<PlaceShard> RocksAtlas::places(std::uint32_t range) {
  const Index current = index(places_family);
  try {
    const std::optional<std::string> bytes = value(places_family, *current, big_endian(range));
    return bytes ? std::optional(decode_places(*bytes, range)) : std::nullopt;
  } catch (const StoreError& error) {
    throw rocks_->damaged("the places of range " + std::to_string(range) + ": " + error.what());
  }
}

std::vector<AtlasDescriptor> RocksAtlas::descriptors() {
  std::vector<AtlasDescriptor> out;
  const Index current = index(descriptors_family);
  for (const std::string& ui : current->keys) {
    try {
      DescriptorRecord record =
          decode_descriptor_value(ui, value(descriptors_family, *current, ui).value());
      out.push_back({record.entry.code, std::move(record.entry.name),
                     std::move(record.entry.tree_numbers), record.articles});
    } catch (const StoreError& error) {
      throw rocks_->damaged("descriptor '" + ui + "': " + error.what());
    }
  }
  return out;
}

std::optional<std::vector<std::uint16_t>> RocksAtlas::plane(DescriptorCode code) {
  const std::string ui = descriptor_ui(code);
  const Index current = index(planes_family);
  try {
    const std::optional<std::string> bytes = value(planes_family, *current, ui);
    return bytes ? std::optional(decode_plane(*bytes, code)) : std::nullopt;
  } catch (const StoreError& error) {
    throw rocks_->damaged("the plane of '" + ui + "': " + error.what());
  }
}

AtlasCells RocksAtlas::cells() {
  const Index current = index(cells_family);
  if (current->keys.empty())
    throw StoreError(
        "the atlas '" + directory() +
        "' has no cells: its training did not end, go on with somatlas train --resume");
  try {
    std::vector<std::string> values;
    for (const std::string& key : current->keys)
      values.push_back(value(cells_family, *current, key).value());
    return decode_cells(values);
  } catch (const StoreError& error) {
    throw rocks_->damaged(std::string("its cells: ") + error.what());
  }
}

std::vector<std::uint32_t> RocksAtlas::articles(std::uint32_t neuron) {
  const std::string key = big_endian(neuron);
  const Index current = index(articles_family);
  try {
    const std::optional<std::string> bytes = value(articles_family, *current, key);
    return bytes ? decode_articles(key, *bytes) : std::vector<std::uint32_t>{};
  } catch (const StoreError& error) {
    throw rocks_->damaged("the articles of neuron " + std::to_string(neuron) + ": " + error.what());
  }
}

}  // namespace somatlas::store
