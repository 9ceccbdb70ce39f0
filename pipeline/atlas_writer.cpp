#include "pipeline/atlas_writer.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "pipeline/made_ahead.h"
#include "pipeline/map_regions.h"
#include "pipeline/region_labels.h"
#include "pipeline/region_levels.h"
#include "store/atlas_codec.h"

namespace somatlas::pipeline {
namespace {

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

struct Stopped {};

/// Throws Stopped where the watch wants no more.
void show(const PlanePassWatch& watch, std::uint64_t planes) {
  watch.progress(planes);
  if (watch.stop.stop_requested()) {
    throw Stopped();
  }
}

}  // namespace

PlaneWriter::PlaneWriter(const MeshTopics& topics, gpu::Backend& backend,
                         const DescriptorIndex& index, std::vector<gpu::DescriptorId> planes,
                         const std::vector<std::uint64_t>& frequencies, std::uint64_t articles,
                         const gpu::Cells& cells, std::uint32_t radius)
    : topics_(topics),
      backend_(backend),
      index_(index),
      frequencies_(frequencies),
      articles_(articles),
      cells_(cells),
      in_ui_order_(std::move(planes)),
      block_(backend.make_block(
          std::min(planes_a_batch(backend.shape().neurons()), in_ui_order_.size()) *
          backend.shape().neurons() * sizeof(std::uint16_t))) {
  const std::uint32_t side = backend.shape().side;
  collector_.emplace(side, cells.vacant, cell_evidence(cells.hits, side, radius), articles);
  std::sort(in_ui_order_.begin(), in_ui_order_.end(),
            [&](auto a, auto b) { return store::ui_less(index.codes()[a], index.codes()[b]); });
}

LabelDescriptor PlaneWriter::label_descriptor(gpu::DescriptorId id) const {
  const store::DescriptorCode code = index_.codes()[id];
  return {code, frequencies_[id], topics_.is_topic(code)};
}

/// The descriptors of a batch, whose planes are then in batch_.
std::span<const gpu::DescriptorId> PlaneWriter::read_batch(std::size_t number) {
  const std::size_t neurons = backend_.shape().neurons();
  const std::size_t at_once = planes_a_batch(neurons);
  const std::size_t first = number * at_once;
  const auto ids = std::span<const gpu::DescriptorId>(in_ui_order_)
                       .subspan(first, std::min(at_once, in_ui_order_.size() - first));
  batch_ = {reinterpret_cast<std::uint16_t*>(block_.get()), ids.size() * neurons};
  backend_.read_planes(ids, batch_);
  return ids;
}

bool PlaneWriter::write(store::Atlas& work, const PlanePassWatch& watch) try {
  const std::size_t at_once = planes_a_batch(backend_.shape().neurons());
  MadeAhead<std::vector<std::string>> batches((in_ui_order_.size() + at_once - 1) / at_once,
                                              [&](std::size_t i) { return encode(read_batch(i)); },
                                              1);
  std::size_t next = 0;
  std::vector<std::string> values;  // of the descriptors from next - next % at_once on
  work.put_planes([&](store::AtlasDescriptor& descriptor, std::string& value) {
    if (next % at_once == 0 || next == in_ui_order_.size()) {
      show(watch, next);
    }
    if (next == in_ui_order_.size()) {
      return false;
    }
    if (next % at_once == 0) {
      values = std::move(batches.next().value());
    }
    value = std::move(values[next % at_once]);
    const gpu::DescriptorId id = in_ui_order_[next++];
    const store::DescriptorCode code = index_.codes()[id];
    const store::DescriptorEntry* const named = topics_.find(code);
    descriptor.code = code;
    descriptor.name = named != nullptr ? named->name : store::descriptor_ui(code);
    descriptor.tree_numbers = named != nullptr ? named->tree_numbers : std::vector<std::string>{};
    descriptor.articles = frequencies_[id];
    return true;
  });
  return true;
} catch (const Stopped&) {
  return false;  // put_planes() took nothing
}

void PlaneWriter::write_entry_words(store::Atlas& work,
                                    std::vector<store::EntryWords> words) const {
  std::vector<store::DescriptorCode> codes;
  for (const gpu::DescriptorId id : in_ui_order_) {
    codes.push_back(index_.codes()[id]);
  }
  std::ranges::sort(codes);
  std::erase_if(words, [&](const store::EntryWords& entry) {
    return !std::ranges::binary_search(codes, entry.code);
  });
  if (!words.empty()) {
    work.put_entry_words(words);
  }
}

/// Over all threads encodes the planes of the batch, and gathers what cells need of them row by
/// row.
std::vector<std::string> PlaneWriter::encode(std::span<const gpu::DescriptorId> ids) {
  const std::size_t neurons = backend_.shape().neurons();
  const auto plane = [this, neurons](std::size_t i) {
    return std::span<const std::uint16_t>(batch_.subspan(i * neurons, neurons));
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
      collector_->add_rows(label_descriptor(ids[i]), plane(i), range.begin(), range.end());
    }
  });
  return values;
}

bool PlaneWriter::write_cells(store::Atlas& work, const Placement& placement,
                              std::span<const std::uint32_t> heights,
                              const PlanePassWatch& watch) try {
  store::AtlasCells result;
  CellLabels labels = collector_->labels();
  CellBorders borders = collector_->borders();
  collector_.reset();
  const std::uint32_t side = backend_.shape().side;
  const std::size_t at_once = planes_a_batch(backend_.shape().neurons());
  const std::size_t batches = (in_ui_order_.size() + at_once - 1) / at_once;
  MapRegions regions = tile_map(side, cells_.vacant, borders, placement.hits);
  RegionWeights weights(regions, cells_.vacant, placement.hits);
  std::vector<LabelDescriptor> descriptors;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    show(watch, in_ui_order_.size() + descriptors.size());
    for (const gpu::DescriptorId id : read_batch(batch)) {
      descriptors.push_back(label_descriptor(id));
    }
    weights.add_planes(batch_);
  }
  show(watch, 2 * in_ui_order_.size());
  join_regions(regions, side, weights, placement.hits);
  result.norm = cells_.norm;
  result.square_sum = cells_.square_sum;
  result.vacant = cells_.vacant;
  result.hits = placement.hits;
  result.year_count = placement.year_count;
  result.year_sum = placement.year_sum;
  result.height = std::move(borders.height);
  std::copy(heights.begin(), heights.end(), result.height.begin());
  result.leading = std::move(labels.leading);
  result.leading_weight = std::move(labels.weight);
  result.recent_count = placement.recent_count;
  result.recent_from = placement.recent_from;
  result.levels = label_regions(
      {topics_, descriptors, articles_}, side, regions, weights,
      {placement.hits, placement.year_count, placement.year_sum, placement.recent_count});
  result.region = std::move(regions.region);
  work.put_cells(result);
  return true;
} catch (const Stopped&) {
  return false;
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
