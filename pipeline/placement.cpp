#include "pipeline/placement.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "store/atlas_codec.h"

namespace somatlas::pipeline {
namespace {

/// Tiles searched between two looks at what is ready to be written: bounds the shards that wait.
constexpr std::size_t tiles_per_round = 16;

class Placer {
 public:
  Placer(TilePass& pass, const PlacementContext& context) : pass_(pass), context_(context) {
    const std::size_t neurons = context.cells.norm.size();
    result_.hits.assign(neurons, 0);
    result_.year_count.assign(neurons, 0);
    result_.year_sum.assign(neurons, 0);
  }

  /// The next complete shard of places; nothing at the end, or where it was asked to stop.
  std::optional<store::EncodedShard> next() {
    while (ready_.empty() && next_tile_ < context_.plan.tiles.size() && !stopped_) {
      search_round();
    }
    if (stopped_ || ready_.empty()) {
      return std::nullopt;
    }
    store::EncodedShard shard = std::move(ready_.front());
    ready_.pop_front();
    return shard;
  }

  [[nodiscard]] bool stopped() const { return stopped_; }

  Placement take() {
    tbb::parallel_sort(result_.cell_articles.begin(), result_.cell_articles.end());
    return std::move(result_);
  }

 private:
  void search_round() {
    TilePass::Body body;
    body.work = gpu::Work::search;
    body.order = [](const PassRow&) {
      return RowOrder{true, gpu::row_use::second, gpu::no_neuron};
    };
    body.consume = [this](const PassTile& tile) { add_tile(tile); };
    body.in_order = true;
    body.stop = context_.stop;
    body.first_tile = next_tile_;
    body.last_tile = std::min(next_tile_ + tiles_per_round, context_.plan.tiles.size());
    if (context_.progress) {
      body.progress = [this, before = rows_done_](std::uint64_t rows) {
        rows_done_ = before + rows;
        context_.progress(rows_done_);
      };
    }
    stopped_ = !pass_.run(body);
    next_tile_ = body.last_tile;
    if (next_tile_ == context_.plan.tiles.size() && !open_.low.empty()) {
      closed_.push_back(std::exchange(open_, {}));
    }
    const std::size_t before = ready_.size();
    ready_.resize(before + closed_.size());
    tbb::parallel_for(std::size_t{0}, closed_.size(),
                      [&](std::size_t i) { ready_[before + i] = store::encoded(closed_[i]); });
    closed_.clear();
  }

  void add_tile(const PassTile& tile) {
    for (std::size_t row = 0; row < tile.pmid.size(); ++row) {
      const std::uint32_t range = tile.pmid[row] / store::pmids_per_shard;
      if (range != open_.range && !open_.low.empty()) {
        closed_.push_back(std::exchange(open_, {}));
      }
      open_.range = range;
      add_article(tile, row);
    }
  }

  void add_article(const PassTile& tile, std::size_t row) {
    const std::uint32_t pmid = tile.pmid[row];
    const gpu::Neuron neuron = tile.tile->bmu()[row];
    const bool has_place = !tile.tile->row(row).empty() && neuron != gpu::no_neuron;
    open_.low.push_back(static_cast<std::uint16_t>(pmid % store::pmids_per_shard));
    open_.neuron.push_back(has_place ? neuron : gpu::no_neuron);
    open_.second.push_back(has_place ? tile.tile->second()[row] : gpu::no_neuron);
    open_.distance.push_back(has_place ? distance_of(tile.tile->score()[row], tile.rows->total[row])
                                       : 0);
    if (has_place) {
      ++result_.placed;
      result_.cell_articles.push_back(std::uint64_t{neuron} << 32 | pmid);
      if (tile.year[row] != 0) {
        ++result_.year_count[neuron];
        result_.year_sum[neuron] += tile.year[row];
      }
    }
    if (tile.rows->total[row] < context_.training.min_descriptors) {
      return;
    }
    if (context_.training.holds_out(pmid)) {
      add_row(result_.heldout, *tile.tile, row, tile.rows->total[row], context_.cells,
              context_.side);
      return;
    }
    add_row(result_.training, *tile.tile, row, tile.rows->total[row], context_.cells,
            context_.side);
    ++result_.hits[neuron];
    count_moved(pmid, neuron);
    ++training_row_;
  }

  void count_moved(std::uint32_t pmid, gpu::Neuron neuron) {
    if (context_.earlier == nullptr || !context_.inheritance->unchanged[training_row_]) {
      return;
    }
    const std::uint32_t range = pmid / store::pmids_per_shard;
    if (!earlier_places_ || earlier_places_->range != range) {
      earlier_places_ = context_.earlier->places(range).value_or(store::PlaceShard{});
      earlier_places_->range = range;
    }
    const auto& low = earlier_places_->low;
    const auto found = std::lower_bound(low.begin(), low.end(), pmid % store::pmids_per_shard);
    if (found == low.end() || *found != pmid % store::pmids_per_shard ||
        earlier_places_->neuron[static_cast<std::size_t>(found - low.begin())] != neuron) {
      ++result_.moved;
    }
  }

  TilePass& pass_;
  const PlacementContext& context_;
  Placement result_;
  std::size_t next_tile_ = 0;
  std::uint64_t rows_done_ = 0;
  std::uint64_t training_row_ = 0;  // tiles come in order, so training articles do
  bool stopped_ = false;
  store::PlaceShard open_;
  std::vector<store::PlaceShard> closed_;  // of this round
  std::deque<store::EncodedShard> ready_;
  std::optional<store::PlaceShard> earlier_places_;
};

}  // namespace

std::optional<Placement> place_all(TilePass& pass, const PlacementContext& context,
                                   store::Atlas& work) {
  Placer placer(pass, context);
  work.put_places([&] { return placer.next(); });
  return placer.stopped() ? std::nullopt : std::optional(placer.take());
}

void add_row(QualitySums& sums, const gpu::Tile& tile, std::size_t row, std::uint32_t total,
             const gpu::Cells& cells, std::uint32_t side) {
  const gpu::Neuron bmu = tile.bmu()[row];
  const std::int32_t score = tile.score()[row];
  ++sums.articles;
  sums.distance += distance_of(score, total);
  if ((tile.use()[row] & gpu::row_use::second) == 0) {
    return;
  }
  sums.cosine += cosine_distance(score, cells.norm[bmu], cells.square_sum[bmu], total);
  if (tile.second()[row] != gpu::no_neuron) {
    ++sums.with_second;
    sums.not_adjacent += adjacent(bmu, tile.second()[row], side) ? 0 : 1;
  }
}

}  // namespace somatlas::pipeline
