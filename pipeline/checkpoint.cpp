#include "pipeline/checkpoint.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "pipeline/made_ahead.h"
#include "store/atlas_codec.h"
#include "store/store_error.h"

namespace somatlas::pipeline {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_nested = 5;

Json to_json(const ArticleChanges& changes) {
  return {{"unchanged", changes.unchanged},
          {"added", changes.added},
          {"changed", changes.changed},
          {"gone", changes.gone}};
}

std::string to_text(const Checkpoint& checkpoint) {
  // The settings are written as an atlas writes them, so that one reader serves both.
  AtlasMeta begun;
  begun.settings = checkpoint.settings;
  begun.store_id = checkpoint.store_id;
  begun.store_state = checkpoint.store_state;
  Json json{{"training", Json::parse(to_json(begun))},
            {"next_epoch", checkpoint.next_epoch},
            {"first_radius", checkpoint.first_radius},
            {"small_falls", checkpoint.stop.small_falls},
            {"from", checkpoint.from},
            {"from_meta", checkpoint.from_meta}};
  if (checkpoint.stop.last_sum) {
    json["last_sum"] = *checkpoint.stop.last_sum;
  }
  if (checkpoint.changes) {
    json["changes"] = to_json(*checkpoint.changes);
  }
  return json.dump();
}

[[noreturn]] void refuse_description() {
  throw store::StoreError("the checkpoint's description is damaged");
}

/// Json::get would take -1 or 1e300 for some other number.
template <typename T>
void read_whole(const Json& object, const char* key, T& out) {
  const Json& value = object.at(key);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<T>::max()) {
    refuse_description();
  }
  out = static_cast<T>(value.get<std::uint64_t>());
}

Checkpoint from_text(const std::string& text) {
  // No deeper than what is written: Json::dump below calls itself for every level.
  const auto flat = [](int depth, Json::parse_event_t, const Json&) {
    if (depth > most_nested) {
      refuse_description();
    }
    return true;
  };
  const Json json = Json::parse(text, flat);
  const AtlasMeta begun = atlas_meta_from_json(json.at("training").dump());
  Checkpoint checkpoint;
  checkpoint.settings = begun.settings;
  checkpoint.store_id = begun.store_id;
  checkpoint.store_state = begun.store_state;
  read_whole(json, "next_epoch", checkpoint.next_epoch);
  read_whole(json, "first_radius", checkpoint.first_radius);
  read_whole(json, "small_falls", checkpoint.stop.small_falls);
  json.at("from").get_to(checkpoint.from);
  json.at("from_meta").get_to(checkpoint.from_meta);
  if (json.contains("last_sum")) {
    read_whole(json, "last_sum", checkpoint.stop.last_sum.emplace());
  }
  if (json.contains("changes")) {
    const Json& changes = json.at("changes");
    ArticleChanges& read = checkpoint.changes.emplace();
    read_whole(changes, "unchanged", read.unchanged);
    read_whole(changes, "added", read.added);
    read_whole(changes, "changed", read.changed);
    read_whole(changes, "gone", read.gone);
  }
  // What was read is all there is, but for the figures in it that a training begins without.
  Json whole = json;
  Json again = Json::parse(to_text(checkpoint));
  whole["training"] = again["training"];
  if (nlohmann::json(whole) != nlohmann::json(again)) {
    refuse_description();
  }
  return checkpoint;
}

}  // namespace

namespace {

void put_assignment(store::Atlas& work, const ArticleSet& set, const Assignment& assignment,
                    const char* meta_name, const std::string& meta_value) {
  MadeAhead<store::EncodedShard> shards(set.shards.size(), [&](std::size_t i) {
    const ShardRows& rows = set.shards[i];
    const auto first = assignment.begin() + static_cast<std::ptrdiff_t>(rows.first_training_row);
    store::AssignmentShard shard;
    shard.range = rows.range;
    shard.neuron.assign(first, first + rows.training);
    return store::encoded(shard);
  });
  work.put_checkpoint([&] { return shards.next(); }, meta_name, meta_value);
}

}  // namespace

void write_checkpoint(store::Atlas& work, const ArticleSet& set, const Assignment& assignment,
                      const Checkpoint& checkpoint) {
  put_assignment(work, set, assignment, meta_checkpoint, to_text(checkpoint));
}

void write_assignment(store::Atlas& work, const ArticleSet& set, const Assignment& assignment) {
  put_assignment(work, set, assignment, "imported", "");
}

std::optional<Checkpoint> read_checkpoint(store::Atlas& work) {
  const auto text = work.meta(meta_checkpoint);
  if (!text) {
    return std::nullopt;
  }
  try {
    return from_text(*text);
  } catch (const std::exception&) {  // of Json, or of the description of an atlas in it
    throw store::StoreError(work.directory() +
                            ": the checkpoint's description is damaged; start again with "
                            "--overwrite");
  }
}

void refuse_assignment(const store::Atlas& work) {
  throw store::StoreError(work.directory() +
                          ": the checkpoint does not fit the store's articles; start again with "
                          "--overwrite");
}

Assignment read_assignment(store::Atlas& work, const ShardRows& rows) {
  auto shard = work.assignment(rows.range);
  if (!shard || shard->neuron.size() != rows.training) {
    refuse_assignment(work);
  }
  return std::move(shard->neuron);
}

Assignment read_assignment(store::Atlas& work, const ArticleSet& set) {
  Assignment assignment(set.training);
  tbb::parallel_for(std::size_t{0}, set.shards.size(), [&](std::size_t i) {
    const ShardRows& rows = set.shards[i];
    const Assignment part = read_assignment(work, rows);
    std::copy(part.begin(), part.end(),
              assignment.begin() + static_cast<std::ptrdiff_t>(rows.first_training_row));
  });
  return assignment;
}

}  // namespace somatlas::pipeline
