#include "pipeline/article_set.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <utility>

#include "pipeline/article_hash.h"

namespace somatlas::pipeline {
namespace {

using Counts = CodeTable<std::uint64_t>;

/// What a shard gives to both sets.
struct ShardCounts {
  ShardRows training;
  ShardRows placement;
  std::size_t bytes = 0;  // of the shard's columns
};

/// Adds a shard's training articles to counts, and puts their rows into training_rows.
ShardCounts count_shard(const store::Shard& shard, const Selection& training,
                        const Selection& placement, Counts& counts,
                        std::vector<std::uint32_t>& training_rows) {
  ShardCounts result;
  result.training.range = result.placement.range = shard.range;
  training_rows.clear();
  for (std::size_t row = 0; row < shard.rows(); ++row) {
    if (!placement.takes(shard, row)) {
      continue;
    }
    const auto codes = shard.row(row);
    const bool trains = !training.holds_out(shard.pmid(row));
    const auto add_to = [&](ShardRows& rows) {
      ++rows.rows;
      rows.descriptors += static_cast<std::uint32_t>(codes.size());
      rows.training += trains ? 1 : 0;
    };
    add_to(result.placement);
    if (!training.takes(shard, row)) {
      continue;
    }
    add_to(result.training);
    if (trains) {
      training_rows.push_back(static_cast<std::uint32_t>(row));
      for (const store::DescriptorCode code : codes) {
        ++counts.at(code);
      }
    }
  }
  return result;
}

/// years: counts of dated articles.
void count_years(const store::Shard& shard, const Selection& selection, Counts& years) {
  for (std::size_t row = 0; row < shard.rows(); ++row) {
    if (shard.year[row] != 0 && selection.takes(shard, row)) {
      ++years.at(shard.year[row]);
    }
  }
}

std::uint32_t first_recent_year(const Counts& years) {
  constexpr std::uint32_t recent_years = 5;
  std::map<std::uint32_t, std::uint64_t> by_year;
  std::uint64_t dated = 0;
  years.for_each([&](std::uint32_t year, std::uint64_t articles) {
    by_year[year] = articles;
    dated += articles;
  });
  std::uint64_t later = 0;
  for (auto year = by_year.rbegin(); year != by_year.rend(); ++year) {
    later += year->second;
    if (later * 1000 >= dated) {
      return std::max(recent_years, year->first) - recent_years + 1;
    }
  }
  return 0;
}

/// Of its columns.
std::size_t bytes_of(const store::Shard& shard) {
  const std::size_t row = sizeof(shard.low[0]) + sizeof(shard.version[0]) + sizeof(shard.year[0]) +
                          sizeof(shard.state[0]) + sizeof(shard.key[0]) + sizeof(shard.records[0]) +
                          sizeof(shard.offsets[0]);
  return shard.rows() * row +
         shard.descriptors.size() * (sizeof(shard.descriptors[0]) + sizeof(shard.major[0]));
}

DescriptorFrequencies by_falling_frequency(const Counts& counts) {
  std::vector<std::pair<store::DescriptorCode, std::uint64_t>> pairs;
  counts.for_each([&](store::DescriptorCode code, std::uint64_t articles) {
    pairs.emplace_back(code, articles);
  });
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : store::ui_less(a.first, b.first);
  });
  DescriptorFrequencies result;
  for (const auto& [code, articles] : pairs) {
    result.codes.push_back(code);
    result.articles.push_back(articles);
  }
  return result;
}

ArticleSet set_of(const Selection& selection, const std::vector<ShardCounts>& counted,
                  ShardRows ShardCounts::*of) {
  ArticleSet set;
  set.selection = selection;
  for (const ShardCounts& counts : counted) {
    set.largest_shard = std::max(set.largest_shard, counts.bytes);
    ShardRows shard = counts.*of;
    if (shard.rows == 0) {
      continue;
    }
    shard.first_row = set.rows;
    shard.first_training_row = set.training;
    set.rows += shard.rows;
    set.training += shard.training;
    set.descriptors += shard.descriptors;
    set.shards.push_back(shard);
  }
  set.heldout = set.rows - set.training;
  return set;
}

}  // namespace

DescriptorIndex::DescriptorIndex(std::vector<store::DescriptorCode> codes)
    : codes_(std::move(codes)) {
  for (std::size_t id = 0; id < codes_.size(); ++id) {
    ids_.at(codes_[id]) = static_cast<gpu::DescriptorId>(id);
  }
}

bool Selection::holds_out(std::uint32_t pmid) const {
  return held_out(pmid, seed, holdout);
}

ArticleSets read_article_sets(store::Store& store, const Selection& training, SampleDraw* sample) {
  Selection placement = training;
  placement.min_descriptors = 1;
  const std::vector<std::uint32_t> ranges = store.ranges();
  std::vector<ShardCounts> counted(ranges.size());
  tbb::enumerable_thread_specific<Counts> counts{std::uint64_t{0}};
  tbb::enumerable_thread_specific<Counts> years{std::uint64_t{0}};
  tbb::enumerable_thread_specific<std::vector<std::uint32_t>> rows;
  tbb::parallel_for(std::size_t{0}, ranges.size(), [&](std::size_t i) {
    if (const auto shard = store.shard(ranges[i])) {
      std::vector<std::uint32_t>& training_rows = rows.local();
      counted[i] = count_shard(*shard, training, placement, counts.local(), training_rows);
      counted[i].bytes = bytes_of(*shard);
      count_years(*shard, placement, years.local());
      if (sample != nullptr) {
        sample->add(*shard, training_rows);
      }
    }
  });
  const auto sum_of = [](const tbb::enumerable_thread_specific<Counts>& parts) {
    Counts all{0};
    for (const Counts& part : parts) {
      part.for_each([&](std::uint32_t key, std::uint64_t articles) { all.at(key) += articles; });
    }
    return all;
  };
  return {.training = set_of(training, counted, &ShardCounts::training),
          .frequencies = by_falling_frequency(sum_of(counts)),
          .placement = set_of(placement, counted, &ShardCounts::placement),
          .recent_from = first_recent_year(sum_of(years))};
}

std::uint64_t fingerprint(std::span<const store::DescriptorCode> codes) {
  return XXH3_64bits(codes.data(), codes.size_bytes());
}

}  // namespace somatlas::pipeline
