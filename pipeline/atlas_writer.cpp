#include "pipeline/atlas_writer.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <utility>

#include "gpu/contract.h"
#include "store/atlas_codec.h"

namespace somatlas::pipeline {
namespace {

/// round-half-up(16383 * articles / all).
std::uint32_t share_of(std::uint64_t articles, std::uint64_t all) {
  return static_cast<std::uint32_t>((2 * std::uint64_t{gpu::weight_one} * articles + all) /
                                    (2 * all));
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
  std::size_t next = 0;
  std::vector<std::string> values;  // of the descriptors from next - next % planes_a_batch on
  work.put_planes([&](store::AtlasDescriptor& descriptor, std::string& value) {
    if (next == in_ui_order_.size()) {
      return false;
    }
    if (next % planes_a_batch == 0) {
      values = encode(std::span(in_ui_order_)
                          .subspan(next, std::min(planes_a_batch, in_ui_order_.size() - next)));
    }
    value = std::move(values[next % planes_a_batch]);
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
  std::size_t next = 0;
  const auto& pairs = placement.cell_articles;
  work.put_articles([&](std::uint32_t& neuron, std::vector<std::uint32_t>& pmids) {
    if (next == pairs.size()) {
      return false;
    }
    neuron = static_cast<std::uint32_t>(pairs[next] >> 32);
    pmids.clear();
    while (next < pairs.size() && static_cast<std::uint32_t>(pairs[next] >> 32) == neuron) {
      pmids.push_back(static_cast<std::uint32_t>(pairs[next++]));
    }
    return true;
  });
}

}  // namespace somatlas::pipeline
