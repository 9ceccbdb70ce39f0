// The sample that a PCA start is made from: the training articles of lowest hash, drawn in the pass
// over the store that counts them. Always holds: what is drawn depends on the articles and the seed
// alone, not on the order in which shards come; no more than twice the sample and a shard is kept.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "store/shard.h"

namespace somatlas::pipeline {

/// Articles of a sample with their descriptors.
struct Sample {
  std::vector<std::uint32_t> pmid;     // ascending
  std::vector<std::uint64_t> offsets;  // pmid.size() + 1
  std::vector<store::DescriptorCode> codes;
};

class SampleDraw {
 public:
  /// size: articles of the sample at most.
  SampleDraw(std::uint64_t seed, std::size_t size) : seed_(seed), size_(size) {}

  /// rows: those of the shard that are training articles. Safe from several threads.
  void add(const store::Shard& shard, std::span<const std::uint32_t> rows);

  /// The articles of lowest hash (ties by PMID). Ends the drawing.
  [[nodiscard]] Sample take();

 private:
  struct Ticket {
    std::uint64_t hash;
    std::uint32_t pmid;
    std::uint32_t descriptors;
    std::size_t first;  // of them, in codes_
  };
  void keep_lowest();

  std::uint64_t seed_;
  std::size_t size_;
  std::atomic<std::uint64_t> highest_ = UINT64_MAX;  // hash that can still enter the sample
  std::mutex mutex_;
  std::vector<Ticket> tickets_;
  std::vector<store::DescriptorCode> codes_;
};

}  // namespace somatlas::pipeline
