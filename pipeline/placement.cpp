#include "pipeline/placement.h"

#include <oneapi/tbb/parallel_invoke.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "pipeline/checkpoint.h"
#include "store/atlas_codec.h"

namespace somatlas::pipeline {
namespace {

/// A number that several threads add to.
template <typename Number>
void add_shared(Number& sum, Number value) {
  std::atomic_ref(sum).fetch_add(value, std::memory_order_relaxed);
}

/// What is known of the articles of one shard, or of a part of it.
struct ShardPart {
  store::PlaceShard places;
  store::AssignmentShard assignment;  // no neurons: the work directory has them
};

void append(ShardPart& whole, const ShardPart& part) {
  const auto add = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  whole.places.range = whole.assignment.range = part.places.range;
  add(whole.places.low, part.places.low);
  add(whole.places.neuron, part.places.neuron);
  add(whole.places.second, part.places.second);
  add(whole.places.distance, part.places.distance);
  add(whole.assignment.low, part.assignment.low);
  add(whole.assignment.fingerprint, part.assignment.fingerprint);
}

struct EncodedPart {
  store::EncodedShard places;
  std::optional<store::EncodedShard> assignment;
};

class Placer {
 public:
  Placer(TilePass& pass, const PlacementContext& context, store::Atlas& work)
      : pass_(pass), context_(context), work_(work), tiles_(context.plan.tiles.size()) {
    const std::size_t neurons = context.cells.norm.size();
    result_.hits.assign(neurons, 0);
    result_.year_count.assign(neurons, 0);
    result_.year_sum.assign(neurons, 0);
    result_.recent_count.assign(neurons, 0);
    result_.recent_from = context.recent_from;
    result_.cell_articles = std::make_unique_for_overwrite<std::uint64_t[]>(context.placed.rows);
    for (const PlannedTile& tile : context.plan.tiles) {
      result_.ascending.push_back(tile.first_row);
    }
    result_.ascending.push_back(context.placed.rows);
  }

  /// False where it was asked to stop.
  bool run(const store::PlacementSink& put) {
    TilePass::Body body;
    body.work = gpu::Work::search;
    body.order = [](const PassRow&) {
      return RowOrder{true, gpu::row_use::second, gpu::no_neuron};
    };
    body.fingerprints = true;
    body.consume = [this](const PassTile& tile) { add_tile(tile); };
    body.in_order = [&](const PassTile& tile) { put_tile(tile.index, put); };
    body.progress = context_.progress;
    body.stop = context_.stop;
    return pass_.run(body);
  }

  Placement take() { return std::move(result_); }

 private:
  /// Of a tile between its search and its turn to be written: shards as they are written where it
  /// has whole ones, else a part of one.
  struct SearchedTile {
    std::vector<EncodedPart> whole;
    ShardPart part;
  };

  [[nodiscard]] bool has_whole_shards(const PlannedTile& tile) const {
    return tile.shards > 1 || tile.rows == context_.placed.shards[tile.first_shard].rows;
  }

  void add_tile(const PassTile& tile) {
    const PlannedTile& planned = context_.plan.tiles[tile.index];
    SearchedTile& searched = tiles_[tile.index];
    Sums sums;
    ShardPart part;
    const auto end_part = [&] {
      if (has_whole_shards(planned)) {
        searched.whole.push_back(complete(part));
        part = {};
      } else {
        searched.part = std::move(part);
      }
    };
    std::uint64_t* const cells = result_.cell_articles.get() + planned.first_row;
    for (std::size_t row = 0; row < tile.pmid.size(); ++row) {
      const std::uint32_t range = tile.pmid[row] / store::pmids_per_shard;
      if (range != part.places.range && !part.places.low.empty()) {
        end_part();
      }
      part.places.range = part.assignment.range = range;
      cells[row] = add_article(tile, row, part, sums);
    }
    end_part();
    std::sort(cells, cells + tile.pmid.size());
    const std::lock_guard lock(mutex_);
    result_.placed += sums.placed;
    result_.training += sums.training;
    result_.heldout += sums.heldout;
  }

  struct Sums {
    std::uint64_t placed = 0;
    QualitySums training;
    QualitySums heldout;
  };

  /// Returns the entry for cell_articles.
  std::uint64_t add_article(const PassTile& tile, std::size_t row, ShardPart& part, Sums& sums) {
    const std::uint32_t pmid = tile.pmid[row];
    const auto low = static_cast<std::uint16_t>(pmid % store::pmids_per_shard);
    const std::uint16_t total = tile.rows->total[row];
    const gpu::Tile& found = *tile.tile;
    const gpu::Neuron neuron = found.bmu()[row];
    const bool has_place = !found.row(row).empty() && neuron != gpu::no_neuron;
    part.places.low.push_back(low);
    part.places.neuron.push_back(has_place ? neuron : gpu::no_neuron);
    part.places.second.push_back(has_place ? found.second()[row] : gpu::no_neuron);
    part.places.distance.push_back(has_place ? distance_of(found.score()[row], total) : 0);
    if (has_place) {
      ++sums.placed;
      if (tile.year[row] != 0) {
        add_shared(result_.year_count[neuron], 1U);
        add_shared(result_.year_sum[neuron], std::uint64_t{tile.year[row]});
        if (context_.recent_from != 0 && tile.year[row] >= context_.recent_from) {
          add_shared(result_.recent_count[neuron], 1U);
        }
      }
    }
    if (total >= context_.training.selection.min_descriptors) {
      if (context_.training.selection.holds_out(pmid)) {
        add_row(sums.heldout, found, row, total, context_.cells, context_.side);
      } else {
        add_row(sums.training, found, row, total, context_.cells, context_.side);
        add_shared(result_.hits[neuron], 1U);
        part.assignment.low.push_back(low);
        part.assignment.fingerprint.push_back(tile.fingerprint[row]);
      }
    }
    return has_place ? std::uint64_t{neuron} << 32 | pmid : Placement::no_cell;
  }

  /// What is written of a whole shard.
  EncodedPart complete(ShardPart& shard) {
    EncodedPart result{store::encoded(shard.places), std::nullopt};
    const std::vector<ShardRows>& training = context_.training.shards;
    const auto rows = std::lower_bound(
        training.begin(), training.end(), shard.places.range,
        [](const ShardRows& some, std::uint32_t range) { return some.range < range; });
    if (rows != training.end() && rows->range == shard.places.range) {
      count_moved(shard, rows->first_training_row);
      shard.assignment.neuron = read_assignment(work_, *rows);
      if (shard.assignment.neuron.size() != shard.assignment.low.size()) {
        refuse_assignment(work_);
      }
      result.assignment = store::encoded(shard.assignment);
    }
    return result;
  }

  /// Of the articles that are as the earlier atlas had them.
  void count_moved(const ShardPart& shard, std::uint64_t training_row) {
    if (context_.earlier == nullptr) {
      return;
    }
    const store::PlaceShard earlier =
        context_.earlier->places(shard.places.range).value_or(store::PlaceShard{});
    const auto neuron_in = [](const store::PlaceShard& places, std::uint16_t low) {
      const auto found = std::lower_bound(places.low.begin(), places.low.end(), low);
      return found == places.low.end() || *found != low
                 ? std::nullopt
                 : std::optional(
                       places.neuron[static_cast<std::size_t>(found - places.low.begin())]);
    };
    std::uint64_t moved = 0;
    for (const std::uint16_t low : shard.assignment.low) {
      moved += context_.inheritance->unchanged[training_row++] &&
                       neuron_in(earlier, low) != neuron_in(shard.places, low)
                   ? 1
                   : 0;
    }
    add_shared(result_.moved, moved);
  }

  void put_tile(std::size_t number, const store::PlacementSink& put) {
    const PlannedTile& planned = context_.plan.tiles[number];
    SearchedTile tile = std::exchange(tiles_[number], {});
    if (!has_whole_shards(planned)) {
      append(open_, tile.part);
      if (planned.skip_rows + planned.rows == context_.placed.shards[planned.first_shard].rows) {
        tile.whole.push_back(complete(open_));
        open_ = {};
      }
    }
    tbb::parallel_invoke(
        [&] {
          for (const EncodedPart& shard : tile.whole) {
            put.places(shard.places);
          }
        },
        [&] {
          for (const EncodedPart& shard : tile.whole) {
            if (shard.assignment) {
              put.assignment(*shard.assignment);
            }
          }
        });
  }

  TilePass& pass_;
  const PlacementContext& context_;
  store::Atlas& work_;
  std::mutex mutex_;
  Placement result_;
  std::vector<SearchedTile> tiles_;  // of the plan
  ShardPart open_;                   // a shard of which some tiles were written
};

}  // namespace

std::optional<Placement> place_all(TilePass& pass, const PlacementContext& context,
                                   store::Atlas& work) {
  Placer placer(pass, context, work);
  bool done = false;
  work.put_placement([&](const store::PlacementSink& put) { return done = placer.run(put); });
  return done ? std::optional(placer.take()) : std::nullopt;
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
