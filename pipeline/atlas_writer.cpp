#include "pipeline/atlas_writer.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "gpu/contract.h"
#include "pipeline/made_ahead.h"
#include "store/atlas_codec.h"

namespace somatlas::pipeline {
namespace {

/// round-half-up(16383 * articles / all).
std::uint32_t share_of(std::uint64_t articles, std::uint64_t all) {
  return static_cast<std::uint32_t>((2 * std::uint64_t{gpu::weight_one} * articles + all) /
                                    (2 * all));
}

/// The articles of the cells [begin, end): those of one cell lie together in each ascending run,
/// and runs are of rising PMIDs.
std::vector<store::EncodedArticles> articles_of(const Placement& placement, std::size_t begin,
                                                std::size_t end) {
  struct Run {
    const std::uint64_t* next;
    const std::uint64_t* end;
  };
  std::vector<Run> runs;
  const std::uint64_t* const articles = placement.cell_articles.get();
  for (std::size_t i = 0; i + 1 < placement.ascending.size(); ++i) {
    const std::uint64_t* const last = articles + placement.ascending[i + 1];
    runs.push_back(
        {std::lower_bound(articles + placement.ascending[i], last, std::uint64_t{begin} << 32),
         last});
  }
  std::vector<store::EncodedArticles> cells;
  std::vector<std::uint32_t> pmids;
  for (std::size_t neuron = begin; neuron < end; ++neuron) {
    pmids.clear();
    for (Run& run : runs) {
      for (; run.next != run.end && *run.next >> 32 == neuron; ++run.next) {
        pmids.push_back(static_cast<std::uint32_t>(*run.next));
      }
    }
    if (!pmids.empty()) {
      cells.push_back(store::encoded(static_cast<std::uint32_t>(neuron), pmids));
    }
  }
  return cells;
}

}  // namespace

PlaneWriter::PlaneWriter(store::Store& store, gpu::Backend& backend, const DescriptorIndex& index,
                         const std::vector<std::uint64_t>& frequencies, std::uint64_t articles,
                         std::span<const std::uint8_t> vacant)
    : backend_(backend),
      index_(index),
      frequencies_(frequencies),
      articles_(articles),
      cells_(backend.shape().side, vacant) {
  for (store::DescriptorEntry& entry : store.descriptors()) {
    const store::DescriptorCode code = entry.code;
    named_.emplace(code, std::move(entry));
  }
  for (gpu::DescriptorId id = 0; id < index.size(); ++id) {
    if (frequencies[id] != 0) {
      in_ui_order_.push_back(id);
    }
  }
  std::sort(in_ui_order_.begin(), in_ui_order_.end(),
            [&](auto a, auto b) { return store::ui_less(index.codes()[a], index.codes()[b]); });
}

void PlaneWriter::write(store::Atlas& work) {
  const std::size_t at_once = planes_a_batch(backend_.shape().neurons());
  MadeAhead<std::vector<std::string>> batches(
      (in_ui_order_.size() + at_once - 1) / at_once,
      [&](std::size_t i) {
        const std::size_t first = i * at_once;
        return encode(
            std::span(in_ui_order_).subspan(first, std::min(at_once, in_ui_order_.size() - first)));
      },
      1);
  std::size_t next = 0;
  std::vector<std::string> values;  // of the descriptors from next - next % at_once on
  work.put_planes([&](store::AtlasDescriptor& descriptor, std::string& value) {
    if (next == in_ui_order_.size()) {
      return false;
    }
    if (next % at_once == 0) {
      values = std::move(batches.next().value());
    }
    value = std::move(values[next % at_once]);
    const gpu::DescriptorId id = in_ui_order_[next++];
    const store::DescriptorCode code = index_.codes()[id];
    const auto named = named_.find(code);
    descriptor.code = code;
    descriptor.name = named != named_.end() ? named->second.name : store::descriptor_ui(code);
    descriptor.tree_numbers =
        named != named_.end() ? named->second.tree_numbers : std::vector<std::string>{};
    descriptor.articles = frequencies_[id];
    return true;
  });
}

/// Reads a batch of planes, and over all threads encodes them plane by plane and gathers what cells
/// need of them row by row.
std::vector<std::string> PlaneWriter::encode(std::span<const gpu::DescriptorId> ids) {
  const std::size_t neurons = backend_.shape().neurons();
  batch_.resize(ids.size() * neurons);
  backend_.read_planes(ids, batch_);
  const auto plane = [this, neurons](std::size_t i) {
    return std::span<const std::uint16_t>(batch_).subspan(i * neurons, neurons);
  };
  std::vector<std::string> values(ids.size());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, ids.size()), [&](const auto& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      values[i] = store::encode_plane(index_.codes()[ids[i]], plane(i));
    }
  });
  const tbb::blocked_range<std::size_t> rows(0, backend_.shape().side);
  tbb::parallel_for(rows, [&](const auto& range) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      cells_.add_rows(index_.codes()[ids[i]], share_of(frequencies_[ids[i]], articles_), plane(i),
                      range.begin(), range.end());
    }
  });
  return values;
}

void write_cells(store::Atlas& work, const gpu::Cells& cells, const CellCollector& collector,
                 const Placement& placement) {
  store::AtlasCells result;
  result.norm = cells.norm;
  result.square_sum = cells.square_sum;
  result.vacant = cells.vacant;
  result.hits = placement.hits;
  result.year_count = placement.year_count;
  result.year_sum = placement.year_sum;
  result.height = collector.heights();
  result.leading = collector.leading();
  work.put_cells(result);
}

void write_cell_articles(store::Atlas& work, const Placement& placement) {
  constexpr std::size_t most_at_once = 64;
  const std::size_t neurons = placement.hits.size();
  const std::size_t at_once = std::clamp<std::size_t>(neurons / 1024, 1, most_at_once);
  MadeAhead<std::vector<store::EncodedArticles>> ranges(
      (neurons + at_once - 1) / at_once, [&](std::size_t i) {
        return articles_of(placement, i * at_once, std::min(neurons, (i + 1) * at_once));
      });
  std::vector<store::EncodedArticles> cells;  // the first is next
  std::size_t next = 0;
  work.put_articles([&]() -> std::optional<store::EncodedArticles> {
    while (next == cells.size()) {
      auto range = ranges.next();
      if (!range) {
        return std::nullopt;
      }
      cells = std::move(*range);
      next = 0;
    }
    return std::move(cells[next++]);
  });
}

}  // namespace somatlas::pipeline
