// A pool of the lowest hashes so far, which is cut down to the sample whenever it holds two of it.
#include "pipeline/sample_draw.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "pipeline/article_hash.h"

namespace somatlas::pipeline {

void SampleDraw::add(const store::Shard& shard, std::span<const std::uint32_t> rows) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> low;  // hash, row
  const std::uint64_t highest = highest_;
  for (const std::uint32_t row : rows) {
    if (const std::uint64_t hash = article_hash(Salt::sample, shard.pmid(row), seed_);
        hash <= highest) {
      low.emplace_back(hash, row);
    }
  }
  if (low.empty()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [hash, row] : low) {
    if (hash > highest_) {
      continue;
    }
    const auto codes = shard.row(row);
    tickets_.push_back(
        {hash, shard.pmid(row), static_cast<std::uint32_t>(codes.size()), codes_.size()});
    codes_.insert(codes_.end(), codes.begin(), codes.end());
  }
  if (tickets_.size() >= 2 * size_) {
    keep_lowest();
  }
}

void SampleDraw::keep_lowest() {
  if (tickets_.size() > size_) {
    const auto end = tickets_.begin() + static_cast<std::ptrdiff_t>(size_);
    std::nth_element(tickets_.begin(), end, tickets_.end(), [](const Ticket& a, const Ticket& b) {
      return std::tie(a.hash, a.pmid) < std::tie(b.hash, b.pmid);
    });
    highest_ = end->hash;
    tickets_.erase(end, tickets_.end());
  }
  std::vector<store::DescriptorCode> kept;
  for (Ticket& ticket : tickets_) {
    const auto first = codes_.begin() + static_cast<std::ptrdiff_t>(ticket.first);
    ticket.first = kept.size();
    kept.insert(kept.end(), first, first + ticket.descriptors);
  }
  codes_ = std::move(kept);
}

Sample SampleDraw::take() {
  keep_lowest();
  std::sort(tickets_.begin(), tickets_.end(),
            [](const Ticket& a, const Ticket& b) { return a.pmid < b.pmid; });
  Sample sample;
  sample.offsets.push_back(0);
  for (const Ticket& ticket : tickets_) {
    const auto first = codes_.begin() + static_cast<std::ptrdiff_t>(ticket.first);
    sample.pmid.push_back(ticket.pmid);
    sample.codes.insert(sample.codes.end(), first, first + ticket.descriptors);
    sample.offsets.push_back(sample.codes.size());
  }
  tickets_ = {};
  codes_ = {};
  return sample;
}

}  // namespace somatlas::pipeline
