// AtlasMeta as JSON and back. Always holds: what to_json writes comes back equal, doubles to the
// last bit; anything else is refused with a sentence that says what is wrong.
#include "pipeline/atlas_meta.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "store/store_error.h"

namespace somatlas::pipeline {

namespace {

using Json = nlohmann::ordered_json;

constexpr int most_nested = 4;

[[noreturn]] void refuse(const std::string& why) {
  throw store::StoreError("the description of the atlas is damaged (" + why +
                          "); train the atlas again");
}

const Json& member(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) {
    refuse(std::string(key) + " is missing");
  }
  return object.at(key);
}

template <typename T>
void read(const Json& object, const char* key, T& out) {
  const Json& value = member(object, key);
  if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string()) {
      refuse(std::string(key) + " is no text");
    }
    out = value.get<std::string>();
  } else if constexpr (std::is_same_v<T, double>) {
    if (!value.is_number()) {
      refuse(std::string(key) + " is no number");
    }
    out = value.get<double>();
  } else {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<T>::max()) {
      refuse(std::string(key) + " is no whole number in its range");
    }
    out = static_cast<T>(value.get<std::uint64_t>());
  }
}

template <typename T>
void read(const Json& object, const char* key, std::optional<T>& out) {
  out.reset();
  if (!member(object, key).is_null()) {
    read(object, key, out.emplace());
  }
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json as_json(const AtlasMeta& meta) {
  const TrainingSettings& settings = meta.settings;
  const Quality& quality = meta.quality;
  return {{"settings",
           {{"side", settings.side},
            {"seed", settings.seed},
            {"holdout", settings.holdout},
            {"min_descriptors", settings.min_descriptors},
            {"start", start_name(settings.start)},
            {"radius_start", or_null(settings.radius_start)},
            {"radius_end", settings.radius_end},
            {"epoch_limit", settings.epoch_limit}}},
          {"store_id", meta.store_id},
          {"store_state", meta.store_state},
          {"radius", meta.radius},
          {"epochs", meta.epochs},
          {"training_articles", meta.training_articles},
          {"heldout_articles", meta.heldout_articles},
          {"placed_articles", meta.placed_articles},
          {"descriptors", meta.descriptors},
          {"quality",
           {{"qe", quality.qe},
            {"heldout_qe", or_null(quality.heldout_qe)},
            {"cosine_qe", or_null(quality.cosine_qe)},
            {"topographic_error", or_null(quality.topographic_error)},
            {"vacant_share", quality.vacant_share},
            {"unhit_share", quality.unhit_share}}},
          {"incremental_from", meta.incremental_from},
          {"earlier_epochs", meta.earlier_epochs}};
}

void read_settings(const Json& json, TrainingSettings& settings) {
  read(json, "side", settings.side);
  read(json, "seed", settings.seed);
  read(json, "holdout", settings.holdout);
  read(json, "min_descriptors", settings.min_descriptors);
  std::string start;
  read(json, "start", start);
  settings.start = start == "pca"      ? Start::pca
                   : start == "random" ? Start::random
                                       : Start::imported;
  if (start != start_name(settings.start)) {
    refuse("start is neither pca nor random nor imported");
  }
  read(json, "radius_start", settings.radius_start);
  read(json, "radius_end", settings.radius_end);
  read(json, "epoch_limit", settings.epoch_limit);
}

void read_quality(const Json& json, Quality& quality) {
  read(json, "qe", quality.qe);
  read(json, "heldout_qe", quality.heldout_qe);
  read(json, "cosine_qe", quality.cosine_qe);
  read(json, "topographic_error", quality.topographic_error);
  read(json, "vacant_share", quality.vacant_share);
  read(json, "unhit_share", quality.unhit_share);
}

}  // namespace

const char* start_name(Start start) {
  return start == Start::pca ? "pca" : start == Start::random ? "random" : "imported";
}

std::string to_json(const AtlasMeta& meta) {
  return as_json(meta).dump(2);
}

AtlasMeta atlas_meta_from_json(const std::string& text) {
  // Deeper values are taken again and again by functions that call themselves.
  const auto flat = [](int depth, Json::parse_event_t, const Json&) {
    if (depth > most_nested) {
      refuse("it is nested too deep");
    }
    return true;
  };
  Json json = Json::parse(text, flat, false);
  if (json.is_discarded()) {
    refuse("it is not JSON");
  }
  if (json.is_object() && !json.contains("earlier_epochs")) {
    json["earlier_epochs"] = 0U;  // atlases of before it was kept
  }
  AtlasMeta meta;
  read_settings(member(json, "settings"), meta.settings);
  read(json, "store_id", meta.store_id);
  read(json, "store_state", meta.store_state);
  read(json, "radius", meta.radius);
  read(json, "epochs", meta.epochs);
  read(json, "training_articles", meta.training_articles);
  read(json, "heldout_articles", meta.heldout_articles);
  read(json, "placed_articles", meta.placed_articles);
  read(json, "descriptors", meta.descriptors);
  read_quality(member(json, "quality"), meta.quality);
  read(json, "incremental_from", meta.incremental_from);
  read(json, "earlier_epochs", meta.earlier_epochs);
  if (as_json(meta) != json) {
    refuse("it says more than this version knows");
  }
  return meta;
}

AtlasMeta read_atlas_meta(store::Atlas& atlas) {
  const std::optional<std::string> text = atlas.meta(meta_atlas);
  if (!text) {
    throw store::StoreError(atlas.directory() +
                            " holds no complete atlas: its training did not end; go on with "
                            "train --resume, or name another atlas");
  }
  try {
    return atlas_meta_from_json(*text);
  } catch (const store::StoreError& error) {
    throw store::StoreError(atlas.directory() + ": " + error.what());
  }
}

void require_store_of(const AtlasMeta& meta, const std::string& atlas_directory,
                      store::Store& store) {
  if (store.id() != meta.store_id) {
    throw store::StoreError(store.directory() + ": is not the store that " + atlas_directory +
                            " was trained on; give that one, or none");
  }
}

}  // namespace somatlas::pipeline
