#include "pipeline/checkpoint.h"

#include <nlohmann/json.hpp>

#include "store/store_error.h"

namespace somatlas::pipeline {
namespace {

using Json = nlohmann::ordered_json;

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
            {"from_state", checkpoint.from_state}};
  if (checkpoint.stop.last_sum) {
    json["last_sum"] = *checkpoint.stop.last_sum;
  }
  if (checkpoint.changes) {
    json["changes"] = to_json(*checkpoint.changes);
  }
  return json.dump();
}

Checkpoint from_text(const std::string& text) {
  const Json json = Json::parse(text);
  const AtlasMeta begun = atlas_meta_from_json(json.at("training").dump());
  Checkpoint checkpoint;
  checkpoint.settings = begun.settings;
  checkpoint.store_id = begun.store_id;
  checkpoint.store_state = begun.store_state;
  json.at("next_epoch").get_to(checkpoint.next_epoch);
  json.at("first_radius").get_to(checkpoint.first_radius);
  json.at("small_falls").get_to(checkpoint.stop.small_falls);
  json.at("from").get_to(checkpoint.from);
  json.at("from_state").get_to(checkpoint.from_state);
  if (json.contains("last_sum")) {
    checkpoint.stop.last_sum = json.at("last_sum").get<std::uint64_t>();
  }
  if (json.contains("changes")) {
    const Json& changes = json.at("changes");
    checkpoint.changes = ArticleChanges{
        changes.at("unchanged").get<std::uint64_t>(), changes.at("added").get<std::uint64_t>(),
        changes.at("changed").get<std::uint64_t>(), changes.at("gone").get<std::uint64_t>(), 0};
  }
  return checkpoint;
}

[[noreturn]] void refuse(const store::Atlas& work) {
  throw store::StoreError(work.directory() +
                          ": the checkpoint does not fit the store's articles; start again with "
                          "--overwrite");
}

}  // namespace

void write_checkpoint(store::Atlas& work, const ArticleSet& set, const Assignment& assignment,
                      const Checkpoint& checkpoint) {
  std::size_t next = 0;
  work.put_checkpoint(
      [&]() -> std::optional<store::AssignmentShard> {
        if (next == set.shards.size()) {
          return std::nullopt;
        }
        const ShardRows& rows = set.shards[next++];
        const auto first =
            assignment.begin() + static_cast<std::ptrdiff_t>(rows.first_training_row);
        store::AssignmentShard shard;
        shard.range = rows.range;
        shard.neuron.assign(first, first + rows.training);
        return shard;
      },
      meta_checkpoint, to_text(checkpoint));
}

std::optional<Checkpoint> read_checkpoint(store::Atlas& work) {
  const auto text = work.meta(meta_checkpoint);
  if (!text) {
    return std::nullopt;
  }
  try {
    return from_text(*text);
  } catch (const Json::exception&) {
    throw store::StoreError(work.directory() +
                            ": the checkpoint's description is damaged; start again with "
                            "--overwrite");
  }
}

Assignment read_assignment(store::Atlas& work, const ArticleSet& set) {
  Assignment assignment;
  assignment.reserve(set.training);
  for (const ShardRows& rows : set.shards) {
    const auto shard = work.assignment(rows.range);
    if (!shard || shard->neuron.size() != rows.training) {
      refuse(work);
    }
    assignment.insert(assignment.end(), shard->neuron.begin(), shard->neuron.end());
  }
  return assignment;
}

void write_final_assignment(store::Atlas& work, store::Store& store, const ArticleSet& set,
                            const AtlasMeta& meta) {
  std::size_t next = 0;
  work.put_checkpoint(
      [&]() -> std::optional<store::AssignmentShard> {
        if (next == set.shards.size()) {
          return std::nullopt;
        }
        const ShardRows& rows = set.shards[next++];
        auto shard = work.assignment(rows.range);
        const auto articles = store.shard(rows.range);
        if (!shard || !articles) {
          refuse(work);
        }
        shard->low.clear();
        shard->fingerprint.clear();
        for (std::size_t row = 0; row < articles->rows(); ++row) {
          if (set.selection.takes(*articles, row) &&
              !set.selection.holds_out(articles->pmid(row))) {
            shard->low.push_back(articles->low[row]);
            shard->fingerprint.push_back(fingerprint(articles->row(row)));
          }
        }
        if (shard->low.size() != shard->neuron.size()) {
          refuse(work);
        }
        return shard;
      },
      meta_atlas, to_json(meta));
}

}  // namespace somatlas::pipeline
