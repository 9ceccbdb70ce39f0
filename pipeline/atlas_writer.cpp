#include "pipeline/atlas_writer.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "gpu/contract.h"
#include "pipeline/cell_labels.h"

namespace somatlas::pipeline {
namespace {

/// round-half-up(16383 * articles / all).
std::uint32_t share_of(std::uint64_t articles, std::uint64_t all) {
  return static_cast<std::uint32_t>((2 * std::uint64_t{gpu::weight_one} * articles + all) /
                                    (2 * all));
}

}  // namespace

std::uint64_t write_planes(store::Atlas& work, store::Store& store, gpu::Backend& backend,
                           const DescriptorIndex& index,
                           const std::vector<std::uint64_t>& frequencies) {
  std::unordered_map<store::DescriptorCode, store::DescriptorEntry> table;
  for (store::DescriptorEntry& entry : store.descriptors()) {
    const store::DescriptorCode code = entry.code;
    table.emplace(code, std::move(entry));
  }
  std::vector<gpu::DescriptorId> in_ui_order;
  for (gpu::DescriptorId id = 0; id < index.size(); ++id) {
    if (frequencies[id] != 0) {
      in_ui_order.push_back(id);
    }
  }
  std::sort(in_ui_order.begin(), in_ui_order.end(),
            [&](auto a, auto b) { return store::ui_less(index.codes()[a], index.codes()[b]); });
  std::size_t next = 0;
  const std::size_t neurons = backend.shape().neurons();
  work.put_planes([&](store::AtlasDescriptor& descriptor, std::vector<std::uint16_t>& plane) {
    if (next == in_ui_order.size()) {
      return false;
    }
    const gpu::DescriptorId id = in_ui_order[next++];
    const store::DescriptorCode code = index.codes()[id];
    const auto named = table.find(code);
    descriptor.code = code;
    descriptor.name = named != table.end() ? named->second.name : store::descriptor_ui(code);
    descriptor.tree_numbers =
        named != table.end() ? named->second.tree_numbers : std::vector<std::string>{};
    descriptor.articles = frequencies[id];
    plane.resize(neurons);
    backend.read_planes(id, plane);
    return true;
  });
  return in_ui_order.size();
}

void write_cells(store::Atlas& work, gpu::Backend& backend, const DescriptorIndex& index,
                 const std::vector<std::uint64_t>& frequencies, std::uint64_t articles,
                 const gpu::Cells& cells, const Placement& placement) {
  constexpr std::size_t planes_a_batch = 64;
  const gpu::MapShape shape = backend.shape();
  const std::size_t neurons = shape.neurons();
  tbb::enumerable_thread_specific<CellCollector> collectors(
      [&] { return CellCollector(shape.side, cells.vacant); });
  std::vector<std::uint16_t> batch;
  for (std::size_t first = 0; first < index.size(); first += planes_a_batch) {
    const std::size_t count = std::min(planes_a_batch, index.size() - first);
    batch.resize(count * neurons);
    backend.read_planes(static_cast<gpu::DescriptorId>(first), batch);
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count), [&](const auto& range) {
      CellCollector& collector = collectors.local();
      for (std::size_t i = range.begin(); i != range.end(); ++i) {
        collector.add_plane(index.codes()[first + i], share_of(frequencies[first + i], articles),
                            std::span(batch).subspan(i * neurons, neurons));
      }
    });
  }
  CellCollector all(shape.side, cells.vacant);
  for (const CellCollector& part : collectors) {
    all.merge(part);
  }
  store::AtlasCells result;
  result.norm = cells.norm;
  result.square_sum = cells.square_sum;
  result.vacant = cells.vacant;
  result.hits = placement.hits;
  result.year_count = placement.year_count;
  result.year_sum = placement.year_sum;
  result.height = all.heights();
  result.leading = all.leading();
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
