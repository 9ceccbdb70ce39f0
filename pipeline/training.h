// Trains a map on a store and leaves an atlas; resumes, and goes on from an earlier atlas.
// Always holds: the result is a pure function of (store, settings); the atlas appears under its
// name when complete; until then NAME.partial holds the checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "gpu/backend.h"
#include "pipeline/atlas_meta.h"
#include "pipeline/imported_map.h"

namespace somatlas::pipeline {

enum class Device : std::uint8_t { automatic, cpu, cuda };

struct TrainingOptions {
  std::string store_directory;
  std::string atlas_directory;
  TrainingSettings settings;
  Device device = Device::automatic;
  bool resume = false;
  bool overwrite = false;
  std::string from;      // an atlas to go on from; its settings count, but for epoch_limit
  ImportedMap imported;  // a map to make the atlas of, without an epoch; excludes from, resume
  std::size_t host_memory = 0;  // caps in bytes; 0: what the machine has
  std::size_t device_memory = 0;
  // Most bytes of tiles that stay on the device; nothing: what is left of its memory.
  std::optional<std::size_t> device_cache;
  // Training articles, spread over all of them, that each epoch searches by brute force too.
  std::uint64_t check_rows = 0;
  std::size_t tile_rows = 0;  // articles that are on the device at once; 0: what suits it
  // Tiles in flight; 0: one a thread that decodes, one being copied, one on the device.
  std::size_t tiles = 0;
  unsigned threads = 0;
  std::stop_token stop;
};

/// What became of the articles that an epoch searched a second time, by brute force.
struct SearchCheck {
  std::uint64_t rows = 0;
  std::uint64_t mismatches = 0;  // whose BMU was another; anything but 0 is a fault
};

struct EpochFigures {
  std::uint32_t epoch = 0;
  std::uint32_t radius = 0;  // that the codebook was made with
  Quality quality;           // cosine QE and topographic error over the held-out articles
  double moved_share = 0;    // training articles whose BMU is not their last one
  double search_seconds = 0;
  double update_seconds = 0;      // of the update that made this codebook
  double waiting_seconds = 0;     // that the device stood idle during the search
  std::uint64_t descriptors = 0;  // of all articles that were searched
  SearchCheck check;
  double checkpoint_seconds = 0;  // that the last checkpoint took; 0 after resuming
  [[nodiscard]] double waiting_share() const {
    return search_seconds > 0 ? waiting_seconds / search_seconds : 0;
  }
};

struct MemoryPlan {
  std::uint32_t side = 0;
  std::string device;  // backend's name
  std::vector<gpu::MemoryPart> parts;
  std::size_t host_bytes = 0;  // of all parts
  std::size_t device_bytes = 0;
  std::size_t host_available = 0;
  std::size_t device_available = 0;
  std::uint32_t largest_side = 0;    // that would fit
  std::uint32_t largest_radius = 0;  // that sums over so many articles allow
  std::uint64_t articles = 0;
  std::uint64_t descriptors = 0;
  std::size_t tiles = 0;         // of an epoch
  std::size_t kept_tiles = 0;    // of them, that stay on the device
  std::size_t kept_bytes = 0;    // that these take there; part of the bytes above
  std::size_t kept_on_host = 0;  // of the others, that a GPU is sent from host memory
  [[nodiscard]] bool fits() const {
    return host_bytes <= host_available && device_bytes <= device_available;
  }
};

/// How the articles of a store differ from those of the atlas a run goes on from.
struct ArticleChanges {
  std::uint64_t unchanged = 0;
  std::uint64_t added = 0;
  std::uint64_t changed = 0;
  std::uint64_t gone = 0;
  std::uint64_t moved = 0;  // unchanged ones whose final place is not their old one
};

class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void plan(const MemoryPlan& plan) = 0;
  virtual void epoch(const EpochFigures& figures) = 0;
  virtual void checkpoint(std::uint32_t next_epoch) = 0;
  virtual void changes(const ArticleChanges& changes) = 0;
  virtual void note(const std::string& text) = 0;
  /// rows searched of all in this pass.
  virtual void progress(std::uint64_t rows, std::uint64_t of) = 0;
};

/// What cannot be done as asked, found before anything was touched (exit code 2 is for the parser;
/// this is 1).
class TrainingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct TrainingResult {
  bool stopped = false;  // asked to stop: a checkpoint is there, no atlas
  AtlasMeta meta;
};

/// Where the options import a map, the atlas is that map and the settings' side is its. Throws
/// TrainingError (does not fit, exists, nothing to train on, wrong store state),
/// store::StoreError.
TrainingResult train(const TrainingOptions& options, TrainingObserver& observer);

/// The memory that train() would need. Reads the store, writes nothing.
[[nodiscard]] MemoryPlan plan_training(const TrainingOptions& options);

}  // namespace somatlas::pipeline
