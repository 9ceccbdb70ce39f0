// Counting a store, shard by shard.
#include "tools/store_figures.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace somatlas::tools {

namespace {

using Frequencies = std::unordered_map<store::DescriptorCode, DescriptorFrequency>;

void add_shard(const store::Shard& shard, StoreFigures& figures, Frequencies& frequencies) {
  for (std::size_t r = 0; r < shard.rows(); ++r) {
    switch (shard.state[r]) {
      case store::ArticleState::article:
        ++figures.articles;
        ++figures.years[shard.year[r]];
        break;
      case store::ArticleState::bare:
        ++figures.bare;
        break;
      case store::ArticleState::deleted:
        ++figures.tombstones;
        break;
    }
  }
  for (std::size_t d = 0; d < shard.descriptors.size(); ++d) {
    DescriptorFrequency& frequency = frequencies[shard.descriptors[d]];
    ++frequency.articles;
    frequency.major_topics += shard.major[d];
  }
  figures.uses += shard.descriptors.size();
}

void add_effect(const store::MeshView::Effect& more, store::MeshView::Effect& effect) {
  effect.articles += more.articles;
  effect.emptied += more.emptied;
  effect.replaced += more.replaced;
  effect.folded += more.folded;
  effect.removed += more.removed;
}

std::vector<DescriptorFrequency> by_falling_frequency(store::Store& store,
                                                      Frequencies frequencies) {
  for (store::DescriptorEntry& entry : store.descriptors()) {
    if (const auto found = frequencies.find(entry.code); found != frequencies.end()) {
      found->second.name = std::move(entry.name);
    }
  }
  std::vector<DescriptorFrequency> all;
  all.reserve(frequencies.size());
  for (auto& [code, frequency] : frequencies) {
    frequency.code = code;
    all.push_back(std::move(frequency));
  }
  std::ranges::sort(all, [](const DescriptorFrequency& a, const DescriptorFrequency& b) {
    return a.articles != b.articles ? a.articles > b.articles : store::ui_less(a.code, b.code);
  });
  return all;
}

}  // namespace

void FileFigures::add(const store::LedgerEntry& entry) {
  ++files;
  file_bytes += entry.file_bytes;
  xml_bytes += entry.xml_bytes;
  citations += entry.citations;
  deletions += entry.deletions;
  books += entry.books;
  unknown_headings += entry.unknown_headings;
  for (const std::uint64_t count : entry.left_out) {
    left_out += count;
  }
}

std::map<unsigned, std::uint64_t> StoreFigures::decades() const {
  std::map<unsigned, std::uint64_t> sums;
  for (const auto& [year, count] : years) {
    if (year != 0) {
      sums[year / 10U * 10U] += count;
    }
  }
  return sums;
}

std::optional<std::pair<unsigned, unsigned>> StoreFigures::year_range() const {
  const auto first = years.upper_bound(0);
  if (first == years.end()) {
    return std::nullopt;
  }
  return std::pair<unsigned, unsigned>(first->first, years.rbegin()->first);
}

std::uint64_t StoreFigures::without_year() const {
  const auto none = years.find(0);
  return none == years.end() ? 0 : none->second;
}

StoreFigures count_store(store::Store& store) {
  StoreFigures figures;
  Frequencies frequencies;
  const std::shared_ptr<const store::MeshView> view = store.mesh_view();
  for (const std::uint32_t range : store.ranges()) {
    if (auto shard = store.shard_as_filed(range)) {
      add_effect(view->apply(*shard), figures.effect);
      add_shard(*shard, figures, frequencies);
    }
  }
  for (const store::LedgerEntry& entry : store.ledger()) {
    figures.total.add(entry);
    figures.of_year[entry.key.year].add(entry);
  }
  figures.descriptors = by_falling_frequency(store, std::move(frequencies));
  return figures;
}

}  // namespace somatlas::tools
