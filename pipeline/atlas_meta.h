// What an atlas says of itself: the settings it was trained with, its quality, and the state of its
// store. Kept as JSON under the meta names below; read by all that reads an atlas.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/atlas.h"
#include "store/store.h"

namespace somatlas::pipeline {

enum class Start : std::uint8_t { pca, random, imported };

/// "pca", "random" or "imported": from a codebook or places that another program made.
[[nodiscard]] const char* start_name(Start start);

/// What decides a training's bits, beside the store.
struct TrainingSettings {
  std::uint32_t side = 64;
  std::uint64_t seed = 1;
  double holdout = 0.01;  // share of articles kept out of the statistics
  std::uint32_t min_descriptors = 5;
  Start start = Start::pca;
  std::optional<std::uint32_t> radius_start;  // none: the contract's default
  std::uint32_t radius_end = 1;
  std::uint32_t epoch_limit = 60;
  friend bool operator==(const TrainingSettings&, const TrainingSettings&) = default;
};

/// Figures of one codebook; distances are means in the map's units (1 = one descriptor).
struct Quality {
  double qe = 0;                     // training articles
  std::optional<double> heldout_qe;  // none: no held-out article
  std::optional<double> cosine_qe;   // held-out articles; after training, all
  std::optional<double>
      topographic_error;  // none: fewer than two usable neurons, or no such article
  double vacant_share = 0;
  double unhit_share = 0;
};

struct AtlasMeta {
  TrainingSettings settings;
  std::string store_id;
  std::string store_state;
  std::uint32_t radius = 0;  // of the final codebook
  // Searches made by this run, not by those it goes on from; 0: the map was imported.
  std::uint32_t epochs = 0;
  std::uint64_t training_articles = 0;
  std::uint64_t heldout_articles = 0;
  std::uint64_t placed_articles = 0;  // every article with a place
  std::uint64_t descriptors = 0;      // planes
  Quality quality;  // of the final codebook; cosine QE and topographic error over all
  std::string
      incremental_from;  // state id of the store the starting atlas was made from; empty: none
  std::uint32_t earlier_epochs = 0;  // of the starting atlas and all that it went on from itself
};

inline constexpr const char* meta_atlas = "atlas";  // AtlasMeta; present once training is complete
inline constexpr const char* meta_checkpoint =
    "checkpoint";  // the state that --resume goes on from

[[nodiscard]] std::string to_json(const AtlasMeta& meta);
/// Throws store::StoreError where the text is not what to_json writes.
[[nodiscard]] AtlasMeta atlas_meta_from_json(const std::string& text);

/// The meta of a complete atlas. Throws store::StoreError where training did not end.
[[nodiscard]] AtlasMeta read_atlas_meta(store::Atlas& atlas);

/// Throws store::StoreError where the atlas of that description, in that directory, was made from
/// another store.
void require_store_of(const AtlasMeta& meta, const std::string& atlas_directory,
                      store::Store& store);

}  // namespace somatlas::pipeline
