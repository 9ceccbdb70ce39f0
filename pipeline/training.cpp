#include "pipeline/training.h"

#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "gpu/backend.h"
#include "pipeline/memory_plan.h"
#include "pipeline/parallel_for.h"
#include "pipeline/size_text.h"
#include "pipeline/trainer.h"
#include "store/atlas.h"
#include "store/publish.h"
#include "store/store.h"
#include "store/store_error.h"

namespace somatlas::pipeline {
namespace {

namespace fs = std::filesystem;

std::string partial_directory(const std::string& atlas) {
  std::string name = atlas;
  while (name.size() > 1 && name.back() == '/') {
    name.pop_back();
  }
  return name + ".partial";
}

/// What is needed and what there is; in bytes where they would read the same.
std::string memory_text(std::size_t needed, const std::string& where, std::size_t available) {
  const bool alike = size_text(needed) == size_text(available);
  const auto text = [alike](std::size_t bytes) {
    return alike ? std::to_string(bytes) + " bytes" : size_text(bytes);
  };
  return text(needed) + where + " (available: " + text(available) + ")";
}

/// A cap on TBB's threads for as long as it lives.
std::optional<tbb::global_control> limit_threads(unsigned threads) {
  if (threads == 0) {
    return std::nullopt;
  }
  return std::optional<tbb::global_control>(std::in_place,
                                            tbb::global_control::max_allowed_parallelism, threads);
}

void require_fit(const MemoryPlan& plan, std::uint32_t side) {
  if (plan.fits()) {
    return;
  }
  std::string text = "a map of side " + std::to_string(side) + " with " +
                     std::to_string(plan.descriptors) + " descriptors needs " +
                     memory_text(plan.host_bytes, " of host memory", plan.host_available);
  if (plan.device_bytes != 0) {
    text += " and " + memory_text(plan.device_bytes, " on " + plan.device, plan.device_available);
  }
  throw TrainingError(
      text + (plan.largest_side == 0
                  ? std::string(": no map fits; free some memory or allow more")
                  : ": the largest side that fits is " + std::to_string(plan.largest_side)));
}

/// Whether inner is outer or lies in it; both are resolved as far as they exist.
bool lies_in(const fs::path& inner, const fs::path& outer) {
  const auto resolved = [](const fs::path& path) {
    std::error_code error;
    fs::path result = fs::weakly_canonical(path, error);
    if (error) {
      throw TrainingError(path.string() + " cannot be looked at (" + error.message() +
                          "): check the path, and who may read the folders on it");
    }
    return result;
  };
  const fs::path in = resolved(inner);
  const fs::path out = resolved(outer);
  return std::mismatch(out.begin(), out.end(), in.begin(), in.end()).first == out.end();
}

/// Only an atlas is ever replaced: anything else under that name is somebody's, and stays.
void require_atlas(const std::string& directory) {
  try {
    (void)store::Atlas::open(directory, store::Atlas::Access::read);
  } catch (const store::StoreError& error) {
    throw TrainingError(directory +
                        " cannot be read as an atlas, so --overwrite leaves it as it is (" +
                        error.what() + "): name another atlas, or remove it yourself");
  }
}

/// An atlas has a name of its own, away from the store: neither holds the other.
void check_place(const TrainingOptions& options) {
  const fs::path name = fs::path(options.atlas_directory).lexically_normal();
  const fs::path last = name.has_filename() ? name.filename() : name.parent_path().filename();
  if (last.empty() || last == "." || last == "..") {
    throw TrainingError("\"" + options.atlas_directory +
                        "\" cannot be the name of an atlas: name a directory of its own");
  }
  const auto refuse_overlap = [&](const std::string& other) {
    throw TrainingError(options.atlas_directory + " and " + other +
                        " lie one in the other: name another place for the atlas");
  };
  const auto inside = [&](const std::string& other) {
    return lies_in(options.atlas_directory, other);
  };
  const auto around = [&](const std::string& other) {
    return lies_in(other, options.atlas_directory);
  };
  if (inside(options.store_directory) || around(options.store_directory)) {
    refuse_overlap(options.store_directory);
  }
  // The earlier atlas may be replaced by the one that goes on from it.
  if (!options.from.empty() && inside(options.from) != around(options.from)) {
    refuse_overlap(options.from);
  }
}

/// Whether anything stands there, a link included.
bool is_present(const std::string& path) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type == fs::file_type::none) {
    throw TrainingError(path + ": cannot be looked at (" + error.message() +
                        "): check its path, and who may read the folders on it");
  }
  return type != fs::file_type::not_found;
}

/// Whether a work directory holds no checkpoint, but what an import that was interrupted left.
/// Throws store::StoreError where it is no atlas, or in use.
bool is_left_by_import(const std::string& partial) {
  return !store::Atlas::open(partial, store::Atlas::Access::write)->meta(meta_checkpoint);
}

/// What stands where the atlas or its work directory would go. Ends a removal that was interrupted.
void check_targets(const TrainingOptions& options, const std::string& partial) {
  check_place(options);
  if (store::is_discarded(partial)) {
    store::remove_directory(partial);  // of a training that was killed meanwhile
  }
  const bool finished = is_present(options.atlas_directory);
  const bool begun = is_present(partial);
  if (options.overwrite && finished) {
    require_atlas(options.atlas_directory);
  }
  if (options.overwrite && begun) {
    require_atlas(partial);
  }
  if (options.resume) {
    if (!begun) {
      throw TrainingError(partial + ": there is no unfinished training to resume" +
                          (finished ? "; " + options.atlas_directory + " is complete"
                                    : "; begin it without --resume"));
    }
    return;
  }
  if (finished && !options.overwrite) {
    throw TrainingError(options.atlas_directory +
                        " exists: name another atlas, or replace it with --overwrite");
  }
  if (begun && !options.overwrite && !(options.imported && is_left_by_import(partial))) {
    throw TrainingError(partial +
                        " holds an unfinished training: go on with train --resume, or start anew "
                        "with --overwrite");
  }
}

/// The atlas named by --from, with its settings put into options.
std::unique_ptr<store::Atlas> open_earlier(TrainingOptions& options, const std::string& store_id) {
  auto earlier = store::Atlas::open(options.from, store::Atlas::Access::read);
  const AtlasMeta meta = read_atlas_meta(*earlier);
  if (meta.store_id != store_id) {
    throw TrainingError(options.from + " was made from another store than " +
                        options.store_directory +
                        ": give that store, or train anew without --from");
  }
  const std::uint32_t epoch_limit = options.settings.epoch_limit;
  options.settings = meta.settings;
  options.settings.epoch_limit = epoch_limit;
  return earlier;
}

/// Settings decide the bits, so a resumed training must have those it was begun with; only the
/// epoch limit may differ.
void require_same_run(const Checkpoint& checkpoint, const TrainingOptions& options,
                      store::Store& store, const std::string& partial) {
  TrainingSettings begun = checkpoint.settings;
  begun.epoch_limit = options.settings.epoch_limit;
  if (checkpoint.store_id != store.id() || checkpoint.store_state != store.state_id()) {
    throw TrainingError(
        partial + " was begun on another state of the store than " + options.store_directory +
        " is in now: start anew with --overwrite, or train --from a finished atlas");
  }
  if (begun != options.settings) {
    throw TrainingError(partial +
                        " was begun with other settings: resume with the options that it was "
                        "begun with (side " +
                        std::to_string(begun.side) + ", seed " + std::to_string(begun.seed) +
                        ", radius-end " + std::to_string(begun.radius_end) + ", min-descriptors " +
                        std::to_string(begun.min_descriptors) + ", init " +
                        start_name(begun.start) + ")");
  }
}

void check_settings(const TrainingOptions& options) {
  if (options.settings.side == 0 || options.settings.side > 32'768) {
    throw TrainingError("a side of " + std::to_string(options.settings.side) +
                        " makes no map: it is between 1 and 32768");
  }
  if (options.settings.min_descriptors == 0 || options.settings.epoch_limit == 0) {
    throw TrainingError("the epochs and the descriptors an article must have are both at least 1");
  }
}

std::unique_ptr<gpu::Backend> make_backend(const TrainingOptions& options,
                                           const TrainingInput& input) {
  const gpu::MapShape shape{options.settings.side, input.index.size()};
  return input.device == Device::cuda
             ? gpu::make_cuda_backend(shape, {0, options.device_memory, input.training.descriptors})
             : gpu::make_cpu_backend(shape, tbb_parallel_for());
}

/// Tiles in flight: enough that every thread can decode while one is copied and one is on the
/// device.
std::size_t tiles_for(const TrainingOptions& options) {
  constexpr std::size_t most = 16;
  const std::size_t threads =
      options.threads != 0 ? options.threads : std::thread::hardware_concurrency();
  return options.tiles != 0 ? options.tiles : std::min(threads + 2, most);
}

MemoryPlan plan_for(const TrainingOptions& options, const TrainingInput& input) {
  return plan_memory(options, input.device, input.training, input.placement, input.training_tiles,
                     input.capacity(), input.index.size());
}

}  // namespace

MemoryPlan plan_training(const TrainingOptions& asked) {
  TrainingOptions options = asked;
  options.tiles = tiles_for(asked);
  const auto limit = limit_threads(options.threads);
  const auto store = store::Store::open(options.store_directory, store::Store::Access::read);
  std::unique_ptr<store::Atlas> earlier;
  if (!options.from.empty()) {
    earlier = open_earlier(options, store->id());
  }
  check_settings(options);
  return plan_for(options, read_training_input(*store, options, earlier.get()));
}

namespace {

/// Does what writes the work directory. Where the cause of a failure can pass, it says that the
/// training goes on from its last checkpoint.
template <typename Work>
auto with_way_to_go_on(const TrainingOptions& options, Work&& work) {
  try {
    return work();
  } catch (const store::StoreError& error) {
    const std::string what = error.what();
    const bool passes = what.ends_with(store::try_again) && !options.imported;
    throw store::StoreError(passes ? what + ", with --resume" : what);
  }
}

}  // namespace

TrainingResult train(const TrainingOptions& asked, TrainingObserver& observer) {
  TrainingOptions options = asked;
  options.tiles = tiles_for(asked);
  if (options.imported) {
    options.settings.side = options.imported.side();
    options.settings.start = Start::imported;
  }
  const auto limit = limit_threads(options.threads);
  const std::string partial = partial_directory(options.atlas_directory);
  check_targets(options, partial);
  const auto store = store::Store::open(options.store_directory, store::Store::Access::read);

  std::unique_ptr<store::Atlas> work;
  std::optional<Checkpoint> checkpoint;
  if (options.resume) {
    work = store::Atlas::open(partial, store::Atlas::Access::write);
    checkpoint = read_checkpoint(*work);
    if (checkpoint) {
      if (!options.from.empty() && options.from != checkpoint->from) {
        throw TrainingError(partial + " goes on from " +
                            (checkpoint->from.empty() ? "no earlier atlas" : checkpoint->from) +
                            ", not from " + options.from);
      }
      options.from = checkpoint->from;
    }
  }
  std::unique_ptr<store::Atlas> earlier;
  if (!options.from.empty()) {
    earlier = open_earlier(options, store->id());
  }
  if (checkpoint && earlier && to_json(read_atlas_meta(*earlier)) != checkpoint->from_meta) {
    throw TrainingError(options.from + " is another atlas than the one of that name that " +
                        partial +
                        " goes on from: put that one back, or start anew with "
                        "--overwrite");
  }
  check_settings(options);
  if (checkpoint) {
    require_same_run(*checkpoint, options, *store, partial);
  }
  if (work && work->meta(meta_atlas)) {
    // Complete, and stopped before it got its name.
    const AtlasMeta meta = read_atlas_meta(*work);
    work.reset();
    store::publish_directory(partial, options.atlas_directory, options.overwrite);
    return {false, meta};
  }

  const TrainingInput input = read_training_input(*store, options, earlier.get());
  const MemoryPlan plan = plan_for(options, input);
  observer.plan(plan);
  require_fit(plan, options.settings.side);
  const std::uint32_t cap = plan.largest_radius;
  if (options.settings.radius_end > cap) {
    throw TrainingError("an end radius of " + std::to_string(options.settings.radius_end) +
                        " is too large: sums over " + std::to_string(input.training.training) +
                        " training articles allow at most " + std::to_string(cap));
  }
  if (options.settings.radius_start.value_or(0) > cap) {
    observer.note("the starting radius is capped at " + std::to_string(cap) + ", the largest for " +
                  std::to_string(input.training.training) + " training articles");
  }

  const auto backend = make_backend(options, input);
  if (!work) {
    if (is_present(partial)) {
      store::remove_directory(partial);
    }
    work = with_way_to_go_on(
        options, [&] { return store::Atlas::open(partial, store::Atlas::Access::create); });
  }
  Trainer trainer(*store, *work, earlier.get(), input, options,
                  {plan.kept_tiles, plan.kept_on_host}, *backend, observer);
  const auto meta = with_way_to_go_on(options, [&] {
    return options.imported ? trainer.adopt() : trainer.run(std::move(checkpoint));
  });
  if (!meta && options.imported) {
    work.reset();
    store::remove_directory(partial);
  }
  if (!meta) {
    return {true, {}};
  }
  work.reset();
  earlier.reset();
  store::publish_directory(partial, options.atlas_directory, options.overwrite);
  return {false, *meta};
}

}  // namespace somatlas::pipeline
