#include "pipeline/trainer.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "pipeline/atlas_writer.h"
#include "pipeline/memory_plan.h"
#include "pipeline/start.h"
#include "pipeline/stopwatch.h"

namespace somatlas::pipeline {
namespace {

double mean(std::uint64_t sum, std::uint64_t count, int unit_bits) {
  return static_cast<double>(sum) / static_cast<double>(count) /
         static_cast<double>(std::uint64_t{1} << unit_bits);
}

template <typename Flags, typename Matches>
double share(const Flags& values, Matches&& matches) {
  const auto count = std::count_if(values.begin(), values.end(), matches);
  return static_cast<double>(count) / static_cast<double>(values.size());
}

}  // namespace

Quality quality_of(const QualitySums& training, const QualitySums& heldout,
                   const QualitySums& detailed, const gpu::Cells& cells,
                   std::span<const std::uint32_t> hits) {
  Quality quality;
  quality.qe = mean(training.distance, training.articles, 20);
  if (heldout.articles != 0) {
    quality.heldout_qe = mean(heldout.distance, heldout.articles, 20);
  }
  if (detailed.articles != 0) {
    quality.cosine_qe = mean(detailed.cosine, detailed.articles, 30);
  }
  if (detailed.with_second != 0) {
    quality.topographic_error =
        static_cast<double>(detailed.not_adjacent) / static_cast<double>(detailed.with_second);
  }
  quality.vacant_share = share(cells.vacant, [](std::uint8_t vacant) { return vacant != 0; });
  // A vacant neuron is never hit and has its own share.
  quality.unhit_share =
      share(hits, [](std::uint32_t count) { return count == 0; }) - quality.vacant_share;
  return quality;
}

namespace {

/// A GPU finds more alike among more rows; but every thread wants tiles to decode.
std::size_t tile_rows_for(const TrainingOptions& options, Device device, std::uint64_t articles) {
  constexpr std::size_t least = 65'536;
  constexpr std::size_t most_on_gpu = 524'288;
  if (options.tile_rows != 0) {
    return options.tile_rows;
  }
  return device != Device::cuda
             ? least
             : std::clamp<std::size_t>(articles / (2 * options.tiles), least, most_on_gpu);
}

/// A given codebook counts whole in the norms, so descriptors that no article has get an id too.
void add_codes(DescriptorFrequencies& frequencies, std::span<const store::DescriptorCode> codes) {
  std::vector<store::DescriptorCode> known = frequencies.codes;
  std::sort(known.begin(), known.end());
  for (const store::DescriptorCode code : codes) {
    if (!std::binary_search(known.begin(), known.end(), code)) {
      frequencies.codes.push_back(code);
      frequencies.articles.push_back(0);
    }
  }
}

/// What an imported codebook lacks has no weight and stays unknown to its atlas.
void keep_codes(DescriptorFrequencies& frequencies, std::vector<store::DescriptorCode> codes) {
  std::sort(codes.begin(), codes.end());
  DescriptorFrequencies kept;
  for (std::size_t i = 0; i < frequencies.codes.size(); ++i) {
    if (std::binary_search(codes.begin(), codes.end(), frequencies.codes[i])) {
      kept.codes.push_back(frequencies.codes[i]);
      kept.articles.push_back(frequencies.articles[i]);
    }
  }
  frequencies = std::move(kept);
}

}  // namespace

TrainingInput read_training_input(store::Store& store, const TrainingOptions& options,
                                  store::Atlas* earlier) {
  const TrainingSettings& settings = options.settings;
  TrainingInput input;
  SampleDraw draw(settings.seed, pca_sample_size);
  const bool starts = earlier == nullptr && !options.imported && settings.start == Start::pca;
  ArticleSets sets;
  // Finding a GPU takes as long as reading a few million articles.
  tbb::parallel_invoke([&] { input.device = choose_device(options.device); },
                       [&] {
                         sets = read_article_sets(
                             store, {settings.min_descriptors, settings.seed, settings.holdout},
                             starts ? &draw : nullptr);
                       });
  input.sample = draw.take();
  DescriptorFrequencies& frequencies = sets.frequencies;
  input.recent_from = sets.recent_from;
  input.training = std::move(sets.training);
  input.placement = std::move(sets.placement);
  if (input.training.training == 0) {
    throw TrainingError(store.directory() + ": no article has " +
                        std::to_string(settings.min_descriptors) +
                        " or more descriptors and is not held out: nothing to train on; ingest "
                        "more files or lower --min-descriptors");
  }
  if (earlier != nullptr) {
    std::vector<store::DescriptorCode> codes;
    for (const store::AtlasDescriptor& descriptor : earlier->descriptors()) {
      codes.push_back(descriptor.code);
    }
    add_codes(frequencies, codes);
  }
  if (options.imported.codebook != nullptr) {
    keep_codes(frequencies, options.imported.codebook->codes);
    add_codes(frequencies, options.imported.codebook->codes);
  }
  input.index = DescriptorIndex(std::move(frequencies.codes));
  input.frequencies = std::move(frequencies.articles);
  const std::size_t rows = tile_rows_for(options, input.device, input.training.rows);
  input.training_tiles = plan_tiles(input.training, rows);
  input.placement_tiles = plan_tiles(input.placement, rows);
  return input;
}

gpu::TileCapacity TrainingInput::capacity() const {
  const gpu::TileCapacity& a = training_tiles.capacity;
  const gpu::TileCapacity& b = placement_tiles.capacity;
  return {std::max(a.rows, b.rows), std::max(a.descriptors, b.descriptors)};
}

Trainer::Trainer(store::Store& store, store::Atlas& work, store::Atlas* earlier,
                 const TrainingInput& input, const TrainingOptions& options, KeptTiles kept,
                 gpu::Backend& backend, TrainingObserver& observer)
    : store_(store),
      work_(work),
      earlier_(earlier),
      input_(input),
      options_(options),
      backend_(backend),
      observer_(observer),
      tiles_(
          make_pass_tiles(backend, input.capacity(),
                          std::min(options.tiles, std::max(input.training_tiles.tiles.size(),
                                                           input.placement_tiles.tiles.size())))) {
  pass_.emplace(store, input.training, input.index, input.training_tiles, backend, tiles_, kept);
}

std::optional<AtlasMeta> Trainer::run(std::optional<Checkpoint> resumed) {
  if (resumed) {
    state_ = std::move(*resumed);
    assignment_ = read_assignment(work_, input_.training);
    if (earlier_ != nullptr) {
      inheritance_ = inherit(store_, input_.training, *earlier_);
    }
    if (!rebuild_statistics()) {
      return std::nullopt;
    }
  } else if (!begin()) {
    return std::nullopt;
  }
  update(radius_at(state_.next_epoch, state_.first_radius, options_.settings.radius_end));
  return epochs() ? finish() : std::nullopt;
}

void Trainer::describe_run() {
  state_.settings = options_.settings;
  state_.store_id = store_.id();
  state_.store_state = store_.state_id();
}

bool Trainer::begin() {
  const TrainingSettings& settings = options_.settings;
  describe_run();
  state_.first_radius = first_radius(settings, input_.training.training);
  if (earlier_ != nullptr) {
    state_.from = earlier_->directory();
    state_.from_meta = to_json(read_atlas_meta(*earlier_));
    state_.first_radius = settings.radius_end;
    if (!inherit_places() || !rebuild_statistics()) {
      return false;
    }
  } else if (!start_places()) {
    return false;
  }
  save();
  return true;
}

/// Gives every training article its first place, and makes the statistics of these.
bool Trainer::start_places() {
  assignment_.assign(input_.training.training, gpu::no_neuron);
  const StartRule start = make_start(input_.sample, input_.index, options_.settings);
  backend_.clear_statistics();
  TilePass::Body body = whole_pass(gpu::Work::accumulate);
  body.order = [&](const PassRow& row) {
    if (row.training_row != no_row) {
      assignment_[row.training_row] = start(row);
    }
    return order_of(row);
  };
  return pass_->run(body);
}

/// A pass of all articles of the set, training and held-out.
TilePass::Body Trainer::whole_pass(gpu::Work work) {
  TilePass::Body body;
  body.work = work;
  body.stop = options_.stop;
  body.same_rows = true;
  body.order = [this](const PassRow& row) { return order_of(row); };
  return body;
}

RowOrder Trainer::order_of(const PassRow& row) const {
  return row.training_row != no_row
             ? RowOrder{true, gpu::row_use::trains, assignment_[row.training_row]}
             : RowOrder{true, gpu::row_use::second, gpu::no_neuron};
}

bool Trainer::inherit_places() {
  inheritance_ = inherit(store_, input_.training, *earlier_);
  assignment_ = std::move(inheritance_->assignment);
  state_.changes = inheritance_->changes;
  const std::size_t neurons = backend_.shape().neurons();
  const store::AtlasCells cells = earlier_->cells();
  backend_.load(
      [&](gpu::DescriptorId first, std::span<std::uint16_t> out) {
        for (std::size_t i = 0; i * neurons < out.size(); ++i) {
          const auto plane = earlier_->plane(input_.index.codes()[first + i]);
          const auto target = out.subspan(i * neurons, neurons);
          if (plane) {
            std::copy(plane->begin(), plane->end(), target.begin());
          } else {
            std::fill(target.begin(), target.end(), std::uint16_t{0});
          }
        }
      },
      cells.vacant);
  return place_others();
}

bool Trainer::rebuild_statistics() {
  backend_.clear_statistics();
  return pass_->run(whole_pass(gpu::Work::accumulate));
}

void Trainer::update(std::uint32_t radius) {
  const Stopwatch watch;
  backend_.update(radius);
  cells_ = backend_.read_cells();
  radius_ = radius;
  update_seconds_ = watch.seconds();
}

/// Adds up what was found for the rows [begin, end) of a tile, the first that trains being the
/// training_row-th of the set, and remembers their BMUs.
Trainer::EpochSums Trainer::take_found(const PassTile& tile, std::size_t begin, std::size_t end,
                                       std::uint64_t training_row) {
  EpochSums sums;
  const gpu::Tile& found = *tile.tile;
  const std::span<const std::uint8_t> use = found.use();
  const std::span<const gpu::Neuron> bmu = found.bmu();
  const std::span<const std::int32_t> score = found.score();
  const std::vector<std::uint16_t>& total = tile.rows->total;
  std::uint64_t distance = 0;
  const std::uint64_t first = training_row;
  for (std::size_t row = begin; row < end; ++row) {
    if (use[row] != gpu::row_use::trains) {
      add_row(sums.heldout, found, row, total[row], cells_, options_.settings.side);
      continue;
    }
    distance += distance_of(score[row], total[row]);
    sums.moved += assignment_[training_row] != bmu[row] ? 1 : 0;
    found_[training_row++] = bmu[row];
  }
  sums.training.articles = training_row - first;
  sums.training.distance = distance;
  return sums;
}

std::optional<Trainer::EpochSums> Trainer::search() {
  EpochSums sums;
  std::mutex mutex;
  // The last BMU tells a backend which rows are alike; it decides nothing.
  TilePass::Body body = whole_pass(gpu::Work::search_and_accumulate);
  body.consume = [&](const PassTile& tile) {
    // A tile of a GPU is large, and the last one keeps everybody waiting: its parts go to all
    // threads.
    constexpr std::size_t rows_at_once = 32'768;
    const std::span<const std::uint8_t> use = std::as_const(*tile.tile).use();
    std::vector<std::uint64_t> training_rows{tile.rows->first_training_row};
    for (std::size_t row = rows_at_once; row < use.size(); row += rows_at_once) {
      training_rows.push_back(
          training_rows.back() +
          std::ranges::count(use.subspan(row - rows_at_once, rows_at_once), gpu::row_use::trains));
    }
    tbb::parallel_for(std::size_t{0}, training_rows.size(), [&](std::size_t part) {
      const std::size_t begin = part * rows_at_once;
      const std::size_t end = std::min(begin + rows_at_once, use.size());
      const EpochSums found = take_found(tile, begin, end, training_rows[part]);
      const std::lock_guard lock(mutex);
      sums.training += found.training;
      sums.heldout += found.heldout;
      sums.moved += found.moved;
    });
  };
  body.progress = progress(input_.training.rows);
  return pass_->run(body) ? std::optional(sums) : std::nullopt;
}

/// Searches some articles again, by brute force, and compares with what the epoch found. Every
/// epoch takes others. Where it is asked to stop it has checked fewer.
SearchCheck Trainer::check_search() {
  const std::uint64_t step =
      std::max<std::uint64_t>(1, input_.training.training / options_.check_rows);
  const std::uint64_t first = state_.next_epoch % step;
  std::atomic<std::uint64_t> rows = 0;
  std::atomic<std::uint64_t> mismatches = 0;
  TilePass::Body body;
  body.work = gpu::Work::search;
  body.stop = options_.stop;
  body.order = [&](const PassRow& row) {
    return RowOrder{row.training_row != no_row && row.training_row % step == first,
                    gpu::row_use::none, gpu::no_neuron};
  };
  body.consume = [&](const PassTile& tile) {
    const std::uint64_t begin = tile.rows->first_training_row;
    std::uint64_t training_row = begin + (first + step - begin % step) % step;
    for (const gpu::Neuron bmu : std::as_const(*tile.tile).bmu()) {
      mismatches += bmu != found_[training_row] ? 1 : 0;
      training_row += step;
    }
    rows += tile.tile->rows();
  };
  backend_.search_by(gpu::SearchMethod::brute_force);
  static_cast<void>(pass_->run(body));
  backend_.search_by(gpu::SearchMethod::automatic);
  return {rows, mismatches};
}

bool Trainer::epochs() {
  constexpr double most_share = 0.1;  // of the time, for checkpoints
  found_.resize(assignment_.size());
  StopRule rule(options_.settings.radius_end, options_.settings.epoch_limit, state_.stop);
  for (;;) {
    backend_.clear_statistics();
    const auto sums = search();
    if (!sums) {
      save_if_new();
      return false;
    }
    report(*sums);
    if (rule.is_last(state_.next_epoch, radius_, sums->training.distance)) {
      save_if_new();  // the atlas keeps what its codebook was made from
      return true;
    }
    assignment_.swap(found_);
    ++state_.next_epoch;
    state_.stop = rule.state();
    saved_ = false;
    if (since_checkpoint_.seconds() > checkpoint_seconds_ / most_share) {
      save();
    }
    update(radius_at(state_.next_epoch, state_.first_radius, options_.settings.radius_end));
  }
}

void Trainer::report(const EpochSums& sums) {
  const std::vector<std::uint32_t> hits = backend_.read_cells().hits;
  if (std::accumulate(hits.begin(), hits.end(), std::uint64_t{0}) != input_.training.training ||
      sums.training.articles != input_.training.training) {
    throw std::logic_error("the hits of an epoch do not sum to the training articles");
  }
  EpochFigures figures;
  figures.epoch = state_.next_epoch;
  figures.radius = radius_;
  figures.quality = quality_of(sums.training, sums.heldout, sums.heldout, cells_, hits);
  figures.moved_share =
      static_cast<double>(sums.moved) / static_cast<double>(input_.training.training);
  figures.search_seconds = pass_->last_times().seconds;
  figures.update_seconds = update_seconds_;
  figures.checkpoint_seconds = checkpoint_seconds_;
  figures.waiting_seconds = pass_->last_times().device_idle_seconds;
  figures.descriptors = input_.training.descriptors;
  if (options_.check_rows != 0) {
    figures.check = check_search();
  }
  observer_.epoch(figures);
}

void Trainer::save_if_new() {
  if (!saved_) {
    save();
  }
}

void Trainer::save() {
  const Stopwatch watch;
  saved_ = true;
  write_checkpoint(work_, input_.training, assignment_, state_);
  checkpoint_seconds_ = watch.seconds();
  since_checkpoint_ = Stopwatch();
  observer_.checkpoint(state_.next_epoch);
}

std::optional<AtlasMeta> Trainer::finish() {
  Assignment().swap(assignment_);
  Assignment().swap(found_);
  pass_.reset();  // its memory is the next one's
  TilePass pass(store_, input_.placement, input_.index, input_.placement_tiles, backend_, tiles_);
  const PlacementContext context{input_.placement,
                                 input_.placement_tiles,
                                 input_.training,
                                 cells_,
                                 options_.settings.side,
                                 input_.recent_from,
                                 earlier_,
                                 inheritance_ ? &*inheritance_ : nullptr,
                                 progress(input_.placement.rows),
                                 options_.stop};
  const auto placement = place_all(pass, context, work_);
  if (!placement) {
    return std::nullopt;
  }
  AtlasMeta meta;
  meta.settings = options_.settings;
  meta.store_id = state_.store_id;
  meta.store_state = state_.store_state;
  meta.radius = radius_;
  meta.epochs = options_.imported ? 0 : state_.next_epoch + 1;
  meta.training_articles = input_.training.training;
  meta.heldout_articles = input_.training.heldout;
  meta.placed_articles = placement->placed;
  if (earlier_ != nullptr) {
    const AtlasMeta before = read_atlas_meta(*earlier_);
    meta.incremental_from = before.store_state;
    meta.earlier_epochs = before.earlier_epochs + before.epochs;
  }
  QualitySums all = placement->training;
  all += placement->heldout;
  meta.quality = quality_of(placement->training, placement->heldout, all, cells_, placement->hits);
  const MeshTopics topics(store_.descriptors());
  PlaneWriter planes(topics, backend_, input_.index, ids_with_planes(), input_.frequencies,
                     input_.training.training, cells_, radius_);
  const PlanePassWatch watch{progress(2 * planes.planes()), options_.stop};
  if (!planes.write(work_, watch) ||
      !planes.write_cells(work_, *placement, options_.imported.heights, watch)) {
    return std::nullopt;
  }
  planes.write_entry_words(work_, store_.entry_words());
  meta.descriptors = planes.planes();
  write_cell_articles(work_, *placement);
  work_.put_meta(meta_atlas, to_json(meta));
  if (state_.changes) {
    ArticleChanges changes = *state_.changes;
    changes.moved = placement->moved;
    observer_.changes(changes);
  }
  return meta;
}

std::function<void(std::uint64_t)> Trainer::progress(std::uint64_t of) {
  return [this, of](std::uint64_t rows) { observer_.progress(rows, of); };
}

}  // namespace somatlas::pipeline
