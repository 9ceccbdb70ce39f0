#include "pipeline/article_set.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "pipeline/article_hash.h"

namespace somatlas::pipeline {
namespace {

using Counts = CodeTable<std::uint64_t>;

ShardRows count_shard(const store::Shard& shard, const Selection& selection, Counts* counts) {
  ShardRows result;
  result.range = shard.range;
  for (std::size_t row = 0; row < shard.rows(); ++row) {
    if (!selection.takes(shard, row)) {
      continue;
    }
    const auto codes = shard.row(row);
    ++result.rows;
    result.descriptors += static_cast<std::uint32_t>(codes.size());
    if (selection.holds_out(shard.pmid(row))) {
      continue;
    }
    ++result.training;
    if (counts != nullptr) {
      for (const store::DescriptorCode code : codes) {
        ++counts->at(code);
      }
    }
  }
  return result;
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

ArticleSet set_of(const Selection& selection, std::vector<ShardRows>& counted,
                  std::size_t largest_shard) {
  ArticleSet set;
  set.selection = selection;
  set.largest_shard = largest_shard;
  for (ShardRows& shard : counted) {
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

ArticleSets read_article_sets(store::Store& store, const Selection& training,
                              const Selection& placement) {
  const std::vector<std::uint32_t> ranges = store.ranges();
  std::vector<ShardRows> training_rows(ranges.size());
  std::vector<ShardRows> placement_rows(ranges.size());
  std::vector<std::size_t> bytes(ranges.size());
  tbb::enumerable_thread_specific<Counts> counts{std::uint64_t{0}};
  tbb::parallel_for(std::size_t{0}, ranges.size(), [&](std::size_t i) {
    if (const auto shard = store.shard(ranges[i])) {
      training_rows[i] = count_shard(*shard, training, &counts.local());
      placement_rows[i] = count_shard(*shard, placement, nullptr);
      bytes[i] = bytes_of(*shard);
    }
  });
  const std::size_t largest = bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
  Counts all{0};
  for (const Counts& part : counts) {
    part.for_each(
        [&](store::DescriptorCode code, std::uint64_t articles) { all.at(code) += articles; });
  }
  return {.training = set_of(training, training_rows, largest),
          .frequencies = by_falling_frequency(all),
          .placement = set_of(placement, placement_rows, largest)};
}

std::uint64_t fingerprint(std::span<const store::DescriptorCode> codes) {
  return XXH3_64bits(codes.data(), codes.size_bytes());
}

}  // namespace somatlas::pipeline
