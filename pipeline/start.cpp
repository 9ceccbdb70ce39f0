#include "pipeline/start.h"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "pipeline/article_hash.h"
#include "store/store_error.h"

namespace somatlas::pipeline {
namespace {

/// (hash, PMID): the order in which articles enter the sample.
using Ticket = std::pair<std::uint64_t, std::uint32_t>;

/// Calls visit(shard, row) for every training row of a shard.
template <typename Visit>
void for_training_rows(store::Store& store, const ArticleSet& set, std::size_t shard_index,
                       Visit&& visit) {
  const auto shard = store.shard(set.shards[shard_index].range);
  if (!shard) {
    throw store::StoreError(store.directory() + ": the store changed while it was read");
  }
  for (std::size_t row = 0; row < shard->rows(); ++row) {
    if (set.selection.takes(*shard, row) && !set.selection.holds_out(shard->pmid(row))) {
      visit(*shard, row);
    }
  }
}

/// PMIDs of the sample, ascending.
std::vector<std::uint32_t> draw_sample(store::Store& store, const ArticleSet& set,
                                       std::uint64_t seed, std::size_t size) {
  // A heap a thread, the highest hash on top: no thread keeps more than the sample.
  tbb::enumerable_thread_specific<std::vector<Ticket>> heaps;
  tbb::parallel_for(std::size_t{0}, set.shards.size(), [&](std::size_t i) {
    std::vector<Ticket>& heap = heaps.local();
    for_training_rows(store, set, i, [&](const store::Shard& shard, std::size_t row) {
      const std::uint32_t pmid = shard.pmid(row);
      const Ticket ticket{article_hash(Salt::sample, pmid, seed), pmid};
      if (heap.size() < size) {
        heap.push_back(ticket);
        std::push_heap(heap.begin(), heap.end());
      } else if (ticket < heap.front()) {
        std::pop_heap(heap.begin(), heap.end());
        heap.back() = ticket;
        std::push_heap(heap.begin(), heap.end());
      }
    });
  });
  std::vector<Ticket> tickets;
  for (const auto& heap : heaps) {
    tickets.insert(tickets.end(), heap.begin(), heap.end());
  }
  std::sort(tickets.begin(), tickets.end());
  tickets.resize(std::min(tickets.size(), size));
  std::vector<std::uint32_t> pmids;
  pmids.reserve(tickets.size());
  for (const Ticket& ticket : tickets) {
    pmids.push_back(ticket.second);
  }
  std::sort(pmids.begin(), pmids.end());
  return pmids;
}

}  // namespace

SampleRows read_sample(store::Store& store, const ArticleSet& set, const DescriptorIndex& index,
                       std::uint64_t seed, std::size_t size) {
  const std::vector<std::uint32_t> pmids = draw_sample(store, set, seed, size);
  std::vector<SampleRows> parts(set.shards.size());
  tbb::parallel_for(std::size_t{0}, set.shards.size(), [&](std::size_t i) {
    SampleRows& part = parts[i];
    const std::uint64_t first = std::uint64_t{set.shards[i].range} * store::pmids_per_shard;
    const auto begin = std::lower_bound(pmids.begin(), pmids.end(), first);
    if (begin == pmids.end() || *begin >= first + store::pmids_per_shard) {
      return;
    }
    for_training_rows(store, set, i, [&](const store::Shard& shard, std::size_t row) {
      if (!std::binary_search(begin, pmids.end(), shard.pmid(row))) {
        return;
      }
      part.pmid.push_back(shard.pmid(row));
      for (const store::DescriptorCode code : shard.row(row)) {
        part.descriptors.push_back(index.id(code));
      }
      part.offsets.push_back(part.descriptors.size());
    });
  });
  SampleRows sample;
  sample.offsets.push_back(0);
  for (const SampleRows& part : parts) {
    const std::uint64_t base = sample.descriptors.size();
    sample.pmid.insert(sample.pmid.end(), part.pmid.begin(), part.pmid.end());
    sample.descriptors.insert(sample.descriptors.end(), part.descriptors.begin(),
                              part.descriptors.end());
    for (const std::uint64_t end : part.offsets) {
      sample.offsets.push_back(base + end);
    }
  }
  return sample;
}

StartRule make_start(store::Store& store, const ArticleSet& set, const DescriptorIndex& index,
                     const TrainingSettings& settings) {
  if (settings.start == Start::random) {
    const std::uint64_t neurons = std::uint64_t{settings.side} * settings.side;
    return [seed = settings.seed, neurons](const PassRow& row) {
      return random_neuron(row.pmid, seed, neurons);
    };
  }
  const auto pca = std::make_shared<const PcaStart>(read_sample(store, set, index, settings.seed),
                                                    index.size(), settings.side);
  return [pca](const PassRow& row) { return pca->neuron(row.known, row.pmid); };
}

}  // namespace somatlas::pipeline
