// The articles of a store that a pass reads, and the dense descriptor ids that training gives them.
// Always holds: rows, and training rows among them, are numbered by ascending PMID over the whole
// set; ids are by falling frequency among the training articles, ties by UI; nothing a user sees
// depends on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/tile.h"
#include "pipeline/atlas_meta.h"
#include "pipeline/code_table.h"
#include "pipeline/sample_draw.h"
#include "store/shard.h"
#include "store/store.h"

namespace somatlas::pipeline {

/// Descriptor codes to dense ids and back.
class DescriptorIndex {
 public:
  /// codes[i] has id i.
  explicit DescriptorIndex(std::vector<store::DescriptorCode> codes = {});

  /// gpu::no_neuron's value where the code has no id.
  [[nodiscard]] gpu::DescriptorId id(store::DescriptorCode code) const { return ids_.get(code); }
  [[nodiscard]] std::span<const store::DescriptorCode> codes() const { return codes_; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(codes_.size()); }
  static constexpr gpu::DescriptorId unknown = 0xFFFF'FFFFU;

 private:
  std::vector<store::DescriptorCode> codes_;
  CodeTable<gpu::DescriptorId> ids_{unknown};
};

/// What one shard gives to a set.
struct ShardRows {
  std::uint32_t range = 0;
  std::uint32_t rows = 0;
  std::uint32_t training = 0;     // of them
  std::uint32_t descriptors = 0;  // over those rows
  std::uint64_t first_row = 0;    // in the set
  std::uint64_t first_training_row = 0;
};

/// Which articles: those with at least so many descriptors, some of them held out of the
/// statistics.
struct Selection {
  std::uint32_t min_descriptors = 1;
  std::uint64_t seed = 1;
  double holdout = 0;
  [[nodiscard]] bool takes(const store::Shard& shard, std::size_t row) const {
    return shard.state[row] == store::ArticleState::article &&
           shard.row(row).size() >= min_descriptors;
  }
  [[nodiscard]] bool holds_out(std::uint32_t pmid) const;
};

struct ArticleSet {
  Selection selection;
  std::vector<ShardRows> shards;  // those with rows, ascending
  std::uint64_t rows = 0;
  std::uint64_t training = 0;
  std::uint64_t heldout = 0;
  std::uint64_t descriptors = 0;  // over all rows
  std::size_t largest_shard = 0;  // bytes of a shard's columns, rows that are not taken included
};

/// Frequencies of the training articles' descriptors, most frequent first, ties by UI.
struct DescriptorFrequencies {
  std::vector<store::DescriptorCode> codes;
  std::vector<std::uint64_t> articles;
};

/// The articles that train, with their descriptors' frequencies, and all that get a place: those
/// with any descriptor, held out by the same rule.
struct ArticleSets {
  ArticleSet training;
  DescriptorFrequencies frequencies;
  ArticleSet placement;
  // The first of the last five years of those that get a place; 0 where none has a year. The last
  // year is that which one of a thousand dated ones is of, or of a later one: some are misprints.
  std::uint32_t recent_from = 0;
};

/// Reads every shard once, in parallel; sample, where there is one, is given the training articles.
[[nodiscard]] ArticleSets read_article_sets(store::Store& store, const Selection& training,
                                            SampleDraw* sample);

/// XXH3-64 of an article's descriptor codes: tells a changed article from an unchanged one.
[[nodiscard]] std::uint64_t fingerprint(std::span<const store::DescriptorCode> codes);

}  // namespace somatlas::pipeline
