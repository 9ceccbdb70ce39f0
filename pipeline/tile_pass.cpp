#include "pipeline/tile_pass.h"

#include <oneapi/tbb/concurrent_queue.h>
#include <oneapi/tbb/flow_graph.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "pipeline/graph_at_rest.h"
#include "store/store_error.h"

namespace somatlas::pipeline {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// What travels along the edges: a token and, behind the backend, the failure it met.
struct InFlight {
  PassTile* token = nullptr;
  std::exception_ptr failure;
};

}  // namespace

PassTiles make_pass_tiles(gpu::Backend& backend, gpu::TileCapacity capacity, std::size_t count) {
  PassTiles tiles;
  for (std::size_t i = 0; i < count; ++i) {
    tiles.push_back(std::make_unique<PassTile>());
    tiles.back()->tile = backend.make_tile(capacity);
  }
  return tiles;
}

TilePass::TilePass(store::Store& store, const ArticleSet& set, const DescriptorIndex& index,
                   const TilePlan& plan, gpu::Backend& backend, PassTiles& tiles, KeptTiles kept)
    : store_(store), set_(set), index_(index), plan_(plan), backend_(backend), tokens_(tiles) {
  keep_tiles(kept.on_device, &gpu::Backend::make_row_cache);
  keep_tiles(kept.on_host, &gpu::Backend::make_host_row_cache);
}

/// Has so many of the tiles that do not stay yet stay in a cache.
void TilePass::keep_tiles(std::size_t count, std::unique_ptr<gpu::RowCache> (gpu::Backend::*make)(
                                                 std::span<const gpu::TileCapacity>)) {
  count = std::min(count, plan_.tiles.size() - kept_.size());
  if (count == 0) {
    return;
  }
  std::vector<gpu::TileCapacity> slots;
  for (std::size_t i = 0; i < count; ++i) {
    slots.push_back(plan_.tiles[kept_.size() + i].capacity());
  }
  caches_.push_back((backend_.*make)(slots));
  for (std::size_t slot = 0; slot < count; ++slot) {
    kept_.push_back({caches_.back().get(), slot, false, {}});
  }
}

TilePass::~TilePass() {
  for (const auto& token : tokens_) {
    token->tile->clear();  // it may show rows that go with the cache
    token->rows = nullptr;
  }
}

/// Has the token stand for a tile of the plan, ready to be submitted.
void TilePass::make_ready(PassTile& token, std::size_t tile, const Body& body) {
  token.pmid.clear();
  token.year.clear();
  token.fingerprint.clear();
  const bool stays = body.same_rows && tile < kept_.size();
  if (stays && kept_[tile].there) {
    kept_[tile].cache->lend(kept_[tile].slot, *token.tile);
    token.rows = &kept_[tile].rows;
    return;
  }
  fill(token, plan_.tiles[tile], body);
  token.rows = &token.read_rows;
  if (stays) {
    kept_[tile].cache->keep(kept_[tile].slot, *token.tile);
  }
}

/// Of a tile whose work is done: remembers it where it stays.
void TilePass::settle(PassTile& token, std::size_t tile, const Body& body) {
  if (body.same_rows && tile < kept_.size() && !kept_[tile].there) {
    kept_[tile].rows = token.read_rows;
    kept_[tile].there = true;
  }
}

void TilePass::fill(PassTile& target, const PlannedTile& planned, const Body& body) const {
  target.tile->clear();
  target.read_rows.total.clear();
  std::vector<gpu::DescriptorId> known;
  std::uint64_t next_row = planned.first_row;
  const std::uint64_t end_row = planned.first_row + planned.rows;
  std::uint32_t skip = planned.skip_rows;
  std::uint64_t next_training_row = set_.shards[planned.first_shard].first_training_row;
  for (std::size_t s = planned.first_shard; s < planned.first_shard + planned.shards; ++s) {
    const auto shard = store_.shard(set_.shards[s].range);
    if (!shard) {
      throw store::StoreError(
          store_.directory() + ": the shard of PMIDs from " +
          std::to_string(std::uint64_t{set_.shards[s].range} * store::pmids_per_shard) +
          " is gone: the store changed while it was read");
    }
    for (std::size_t r = 0; r < shard->rows() && next_row < end_row; ++r) {
      if (!set_.selection.takes(*shard, r)) {
        continue;
      }
      const std::uint32_t pmid = shard->pmid(r);
      const bool heldout = set_.selection.holds_out(pmid);
      if (skip > 0) {
        --skip;
        next_training_row += heldout ? 0 : 1;
        continue;
      }
      if (next_row == planned.first_row) {
        target.read_rows.first_training_row = next_training_row;
      }
      const std::uint64_t training_row = heldout ? no_row : next_training_row++;
      const auto codes = shard->row(r);
      known.clear();
      for (const store::DescriptorCode code : codes) {
        if (const gpu::DescriptorId id = index_.id(code); id != DescriptorIndex::unknown) {
          known.push_back(id);
        }
      }
      const RowOrder order = body.order({training_row, pmid, codes, known});
      if (order.take) {
        target.tile->add_row(known, order.use, order.bmu);
        target.read_rows.total.push_back(static_cast<std::uint16_t>(codes.size()));
        target.pmid.push_back(pmid);
        target.year.push_back(shard->year[r]);
        if (body.fingerprints) {
          target.fingerprint.push_back(fingerprint(codes));
        }
      }
      ++next_row;
    }
  }
  if (next_row != end_row) {
    throw store::StoreError(store_.directory() + ": the store changed while it was read");
  }
}

bool TilePass::run(const Body& body) {
  const Clock::time_point start = Clock::now();
  const double busy_before = backend_.busy_seconds();
  tbb::concurrent_queue<PassTile*> free_tokens;
  for (const auto& token : tokens_) {
    free_tokens.push(token.get());
  }
  const std::size_t last = plan_.tiles.size();
  std::size_t next_tile = 0;
  std::uint64_t rows_done = 0;
  std::mutex progress_mutex;

  tbb::flow::graph graph;
  tbb::flow::input_node<std::size_t> source(graph, [&](tbb::flow_control& control) -> std::size_t {
    if (next_tile >= last || body.stop.stop_requested()) {
      control.stop();
      return 0;
    }
    return next_tile++;
  });
  tbb::flow::limiter_node<std::size_t> tokens(graph, tokens_.size());
  tbb::flow::function_node<std::size_t, InFlight> decode(
      graph, tbb::flow::unlimited, [&](std::size_t tile) {
        PassTile* token = nullptr;
        if (!free_tokens.try_pop(token)) {
          throw std::logic_error("a tile was let in while no token was free");
        }
        token->index = tile;
        make_ready(*token, tile, body);
        return InFlight{token, nullptr};
      });
  using Submit = tbb::flow::async_node<InFlight, InFlight>;
  Submit submit(graph, tbb::flow::serial, [&](InFlight item, Submit::gateway_type& gateway) {
    // Made first: were there no memory for it, nobody would release the wait.
    gpu::Completion done = [&gateway, token = item.token](std::exception_ptr failure) {
      gateway.try_put(InFlight{token, std::move(failure)});
      gateway.release_wait();
    };
    gateway.reserve_wait();
    backend_.submit(*item.token->tile, body.work, std::move(done));
  });
  tbb::flow::function_node<InFlight, InFlight> consume(graph, tbb::flow::unlimited,
                                                       [&](const InFlight& item) {
                                                         if (item.failure) {
                                                           std::rethrow_exception(item.failure);
                                                         }
                                                         if (body.consume) {
                                                           body.consume(*item.token);
                                                         }
                                                         return item;
                                                       });
  tbb::flow::sequencer_node<InFlight> sequencer(
      graph, [](const InFlight& item) { return item.token->index; });
  tbb::flow::function_node<InFlight, tbb::flow::continue_msg> end(
      graph, body.in_order ? tbb::flow::serial : tbb::flow::unlimited, [&](const InFlight& item) {
        if (body.in_order) {
          body.in_order(*item.token);
        }
        settle(*item.token, item.token->index, body);
        if (body.progress) {
          const std::lock_guard lock(progress_mutex);
          rows_done += plan_.tiles[item.token->index].rows;
          body.progress(rows_done);
        }
        free_tokens.push(item.token);
        return tbb::flow::continue_msg();
      });

  const GraphAtRest at_rest(graph);
  tbb::flow::make_edge(source, tokens);
  tbb::flow::make_edge(tokens, decode);
  tbb::flow::make_edge(decode, submit);
  tbb::flow::make_edge(submit, consume);
  if (body.in_order) {
    tbb::flow::make_edge(consume, sequencer);
    tbb::flow::make_edge(sequencer, end);
  } else {
    tbb::flow::make_edge(consume, end);
  }
  tbb::flow::make_edge(end, tokens.decrementer());
  source.activate();
  graph.wait_for_all();

  times_.seconds = seconds_between(start, Clock::now());
  times_.device_idle_seconds =
      std::max(0.0, times_.seconds - (backend_.busy_seconds() - busy_before));
  return !(body.stop.stop_requested() && next_tile < last);
}

}  // namespace somatlas::pipeline
